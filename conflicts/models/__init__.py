"""The rows of the kernel, and the two bases that every guarded table is made from."""

from conflicts.models.authority import AuthorityLevel
from conflicts.models.conflict import Conflict, State
from conflicts.models.decision import Decision, DecisionKind, Why
from conflicts.models.job import Job, JobEvent, JobState
from conflicts.models.lease import Lease, LeaseEvent
from conflicts.models.ledger import LedgerEntry
from conflicts.models.outbox import Delivery, OutboxMessage
from conflicts.models.versioned import ChildModel, VersionedModel

__all__ = [
    "AuthorityLevel",
    "ChildModel",
    "Conflict",
    "Decision",
    "DecisionKind",
    "Delivery",
    "Job",
    "JobEvent",
    "JobState",
    "Lease",
    "LeaseEvent",
    "LedgerEntry",
    "OutboxMessage",
    "State",
    "VersionedModel",
    "Why",
]
