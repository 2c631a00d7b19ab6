"""What waits no longer once a word was given: earlier tries of a yes or a no to a content, or a state, that has passed.

Guarantees that whoever says yes, or no, to what a record says now leaves no try of the same behind in the review queue,
and that a record which has gone on to another state (withdrawn, declined, cancelled) leaves no yes to the former one
there: nobody could decide about it any more, and its deadline would move it up for nothing. Closed in the transaction
of the word, under the lock of its subject. Called by `conflicts/gate.py`; shown by the review queue.
"""

import datetime as dt
from collections.abc import Sequence

from conflicts import actions
from conflicts.models.conflict import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.refs import Ref
from conflicts.work import Work

RESOLUTION = "superseded"


def close(works: Sequence[Work], outcomes: Sequence[Outcome], *, now: dt.datetime) -> None:
    """The records are locked in ascending order, as everywhere; those that were being settled are closed by now."""
    for work, outcome in zip(works, outcomes, strict=True):
        subject = work.proposal.subject
        if subject is None or not outcome.written or outcome.result is Result.DUPLICATE:
            continue
        if passed := _passed(work):
            _close_tries(work, subject, passed, now=now)


def _passed(work: Work) -> list[str]:
    """Actions whose earlier tries are about what is no more."""
    own = actions.get(work.proposal.action)
    model = own.subject
    if work.proposal.subject in work.states and work.states[work.proposal.subject] != _state(work):
        return sorted(one.name for one in actions.registered().values() if one.subject is model and one.as_shown)
    return [own.name] if own.as_shown else []


def _state(work: Work) -> str:
    return str(getattr(work.subject, type(work.subject).state_field))


def _close_tries(work: Work, subject: Ref, names: Sequence[str], *, now: dt.datetime) -> None:
    tries = Conflict.objects.about(subject).filter(closed_at=None, action__in=names)
    found = [row.pk for row in tries.select_for_update().order_by("pk")]
    if found:
        Conflict.objects.filter(pk__in=found, closed_at=None).update(
            closed_at=now, closed_by=str(work.by)[:200], resolution=RESOLUTION
        )
