"""Deciding about a conflict, as the gate sees it: the record locked, asked whether it still waits, and closed.

Guarantees that of two who decide one conflict the second is told who was first and has written nothing; that nobody
decides what somebody else has reserved, or what takes more authority than they have; and that closing and what the
decision writes are one commit. Records are locked after the subjects, in ascending order, everywhere.
Next in the flow: `conflicts/decisions.py`, which the review queue calls.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Q

from conflicts import actions, claims, resolutions, review  # noqa: F401 - puts how it ended into words
from conflicts.actions import Action
from conflicts.actors import Actor
from conflicts.models.conflict import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal
from conflicts.refs import Ref
from conflicts.review import Need
from conflicts.sentences import Sentence, actor
from conflicts.work import Work

DROP = "conflict.drop"


class TooLate(NamedTuple):
    result: Result
    sentence: Sentence


def lock(proposals: Sequence[Proposal]) -> dict[int, Conflict]:
    wanted = sorted({proposal.settles for proposal in proposals if proposal.settles})
    rows = Conflict.objects.select_for_update().filter(pk__in=wanted).order_by("pk") if wanted else ()
    return {row.pk: row for row in rows}


def too_late(work: Work) -> TooLate | None:
    """Why this conflict is not this author's to decide, now; None if it is."""
    record: Conflict | None = work.record
    if record is None:
        return TooLate(Result.REFUSED, Sentence("gone"))
    if record.closed_at is not None:
        return TooLate(Result.SUPERSEDED, settled_meanwhile(record))
    if work.proposal.settles_at not in (None, record.revision):
        return TooLate(Result.REFUSED, Sentence("revised_meanwhile"))
    holder = claims.holder(record.pk)
    # Whose it is, not what is sent: a claim is no secret, and an equal one proves nothing about who sends it.
    if holder is not None and not holder.by.same_as(work.by):
        return TooLate(Result.REFUSED, claims.held_by(holder))
    return None


def settled_meanwhile(record: Conflict) -> Sentence:
    by = record.closed_by or record.actor
    return Sentence("settled_meanwhile", {"who": actor(by), "how": {"resolution": record.resolution}})


def without_authority(work: Work, action: Action) -> Sentence | None:
    """Asked once it is known what would be written: of what was meant, and of what is to be written instead.

    Whoever leaves everything as it is after a clash of their own takes nothing upon themselves; a reviewer who does so
    has dropped what was meant.
    """
    if not action.takes_authority or work.record is None:
        return None
    if not (work.writes or action.writes_aspects or action.creates):
        reviewed = work.proposal.settles_at is not None
        return refusal(work.record, by=work.by, withdraws=True) if reviewed else None
    if no := refusal(work.record, by=work.by, withdraws=work.proposal.action == DROP):
        return no
    if work.proposal.action == DROP:
        return None
    fields = action.writes(work.params)
    said = work.params.model_dump(exclude_unset=True)
    content = {**{name: value for name, value in said.items() if name not in fields}, **work.writes}
    return refusal_to_write(work.record, action, work.subject, content, by=work.by)


def goes_around(work: Work, locked: Iterable[Ref]) -> Sentence | None:
    """Why this plain write is not its author's to make: a conflict about the field waits for somebody with authority,
    and who may not decide it does not write over it either. None if nothing of the kind waits, or they have it.

    Records of conflicts are written under their subject's lock, which is ours: none can come between.
    """
    names = work.writes.keys() & type(work.subject).policy.authority.keys() if work.subject is not None else ()
    if not names:
        return None
    waiting = work.once("waits_for_authority", lambda: _waiting_for_authority(locked))
    for record in waiting.get(Ref.of(work.subject), ()):
        about = {difference["field"] for difference in record.differences}
        if about & names and (no := refusal(record, by=work.by)):
            return Sentence("waits_for_authority", {"why": {"sentence": no.as_json()}})
    return None


def _waiting_for_authority(locked: Iterable[Ref]) -> dict[Ref, list[Conflict]]:
    """In one query for all that the transaction has locked and could write so."""
    asked = Q(pk__in=())
    for label, refs in groupby(sorted(locked), key=lambda ref: ref.label):
        if Ref(label, 0).model.policy.authority:
            asked |= Q(subject_model=label, subject_id__in=[ref.pk for ref in refs])
    found: dict[Ref, list[Conflict]] = {}
    for record in Conflict.objects.waiting().filter(asked).exclude(needs={}):
        found.setdefault(Ref(record.subject_model, record.subject_id or 0), []).append(record)
    return found


def refusal_to_write(
    record: Conflict, action: Action, subject: Any, content: Mapping[str, Any], *, by: Actor
) -> Sentence | None:
    """Why this content is not theirs to write into `subject` as it is; None if it is."""
    need = review.need_of(subject, content, proposed=content, more=action.authority)
    return review.desk().refuse(by, need, team=record.team_key)


def refusal(record: Conflict, *, by: Actor, withdraws: bool = False) -> Sentence | None:
    """Why `by` has not the authority to decide this conflict; None if they have. Button, tooltip and gate ask here.

    `withdraws`: it would be dropped; whoever meant it may take it back, whatever it is about.
    """
    if withdraws and record.intended_by.same_as(by):
        return None
    return review.desk().refuse(by, Need.from_json(record.needs), team=record.team_key)


def close(proposals: Sequence[Proposal], outcomes: Sequence[Outcome], *, now: dt.datetime) -> None:
    """Compare-and-swap on "still open": of two people who settle one conflict, the second finds it settled."""
    for proposal, outcome in zip(proposals, outcomes, strict=True):
        how = actions.get(proposal.action).settles_as
        if proposal.settles and outcome.done and outcome.result is not Result.DUPLICATE and how:
            Conflict.objects.filter(pk=proposal.settles, closed_at=None).update(
                closed_at=now, closed_by=str(proposal.by)[:200], resolution=how
            )
