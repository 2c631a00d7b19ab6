from conflicts.models.conflict import Conflict, State
from conflicts.models.ledger import LedgerEntry
from conflicts.models.versioned import ChildModel, VersionedModel

__all__ = ["ChildModel", "Conflict", "LedgerEntry", "State", "VersionedModel"]
