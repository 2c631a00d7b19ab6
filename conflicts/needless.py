"""What waits no longer once a word was given: earlier tries of the same on a content that has passed.

Guarantees that whoever says yes, or no, to what a record says now leaves no try of the same behind in the review queue:
nobody could decide about it any more, and its deadline would move it up for nothing. Closed in the transaction of the
word, under the lock of its subject. Called by `conflicts/gate.py`; shown by the review queue.
"""

import datetime as dt
from collections.abc import Sequence

from conflicts import actions
from conflicts.models.conflict import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal
from conflicts.refs import Ref

RESOLUTION = "superseded"


def close(proposals: Sequence[Proposal], outcomes: Sequence[Outcome], *, now: dt.datetime) -> None:
    """The records are locked in ascending order, as everywhere; those that were being settled are closed by now."""
    for proposal, outcome in zip(proposals, outcomes, strict=True):
        if not outcome.written or outcome.result is Result.DUPLICATE or not actions.get(proposal.action).as_shown:
            continue
        if proposal.subject is not None:
            _close_tries(proposal, proposal.subject, now=now)


def _close_tries(proposal: Proposal, subject: Ref, *, now: dt.datetime) -> None:
    tries = Conflict.objects.about(subject).filter(closed_at=None, action=proposal.action)
    found = [row.pk for row in tries.select_for_update().order_by("pk")]
    if found:
        Conflict.objects.filter(pk__in=found, closed_at=None).update(
            closed_at=now, closed_by=str(proposal.by)[:200], resolution=RESOLUTION
        )
