"""Where a clash of an import came from, and which of them still wait for a choice.

Guarantees that what a file meant is told apart from what a person meant by who its author is, and not by what somebody
calls it; and that a person gets only those about records that they may see. Next: `crm/views/imports.py`, and
`crm/views/settle.py`, where the choice is made.
"""

from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q

from conflicts import actors
from conflicts.actors import Kind
from conflicts.models import Conflict
from conflicts.models.conflict import ConflictQuerySet
from crm.imports.changes import ACTOR_KEY
from crm.models import Opportunity, User

PREFIX = "import:"
LONGEST = 150
_DEAL = Opportunity._meta.label_lower


class Origin(NamedTuple):
    file: str
    line: str


def source_of(file: str, line: int) -> str:
    """How evidence says it: `import:deals.csv:12`."""
    return f"{PREFIX}{file[-LONGEST:]}:{line}"


def origin_of(record: Conflict) -> Origin | None:
    """The line of a file that meant it; None for what anybody else meant."""
    by = record.intended_by
    if by.kind is not Kind.INTEGRATION or by.key != ACTOR_KEY or not record.source.startswith(PREFIX):
        return None
    file, _colon, line = record.source.removeprefix(PREFIX).rpartition(":")
    return Origin(file, line)


def waiting_for(user: User) -> ConflictQuerySet:
    """What imports have left to choose, of records that this person may see; the oldest first."""
    author = str(actors.integration(ACTOR_KEY, ""))
    rows = Conflict.objects.waiting().filter(actor__startswith=author, source__startswith=PREFIX)
    if not user.sees_everything:
        mine = Exists(Opportunity.objects.visible_to(user).filter(pk=OuterRef("subject_id")))
        rows = rows.filter(~Q(subject_model=_DEAL) | mine)
    return rows.order_by("deadline", "id")
