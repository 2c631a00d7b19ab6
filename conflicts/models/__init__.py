from conflicts.models.conflict import Conflict, State
from conflicts.models.lease import Lease, LeaseEvent
from conflicts.models.ledger import LedgerEntry
from conflicts.models.versioned import ChildModel, VersionedModel

__all__ = ["ChildModel", "Conflict", "Lease", "LeaseEvent", "LedgerEntry", "State", "VersionedModel"]
