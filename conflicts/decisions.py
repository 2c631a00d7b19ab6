"""Decisions: what a person does with a conflict that waits. Each is an act of the gate, recorded in its transaction.

    drop        what was meant is not done
    apply       it is done on the version in force, as it was meant
    edit        the same, with other content
    ask_again   the agent that meant it looks anew (conflicts/review.py), and this record is closed
    hand_over   somebody with the authority for it is responsible, with a deadline of their own
    escalate    time's own: conflicts/escalation.py

Guarantees that a decision is made by whoever holds the conflict (it takes the claim where nobody does), on the revision
that was shown, once per form; that of two who decide the second is told who was first, and nothing is done; and that
what is late, beyond somebody's authority or not possible any more leaves evidence and the conflict as it was.
Next in the flow: `conflicts/gate.py`, `conflicts/settling.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.contrib.auth import get_user_model
from django.db.models import F
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict, Field

from conflicts import claims, gate, jobs, resolving, review, sentences, settling, writing
from conflicts.actions import Action, register
from conflicts.actors import Actor, Kind
from conflicts.claims import Holder
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import RuleBroken
from conflicts.leases import Claim
from conflicts.models import Conflict, Decision, DecisionKind, Job, Why
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.records import DECIDE_WITHIN
from conflicts.review import Need
from conflicts.sentences import Sentence
from conflicts.work import Work

AGAIN = "conflict.ask_again"
"""The kind of job that asks the agent: outside the decision's transaction, and not lost with its process."""

sentences.shown_by("sentence", lambda data: str(Sentence.from_json(data)))

WRITES = frozenset({DecisionKind.APPLY, DecisionKind.EDIT})

sentences.register(
    {
        "settled_meanwhile": _("{who} settled this already ({how}). Nothing was written."),
        "revised_meanwhile": _("This was handed on after the page was shown. Nothing was written; look again."),
        "held_by": _("{who} is deciding about this until {until}."),
        "not_again": _("No agent can be asked about this: a person decides."),
        "cannot_be_done": _("This cannot be done again from here."),
        "to_nobody": _("That person cannot decide this."),
        "to_oneself": _("It is in front of you already: decide it, or hand it to somebody else."),
        "decided.drop": _("Dropped. What was in force stays."),
        "decided.apply": _("Done, as v{version}."),
        "decided.apply_new": _("Done."),
        "decided.needless": _("It had become needless, and is closed: {why}"),
        "decided.ask_again": _("The agent looks at it again."),
        "decided.hand_over": _("Handed to {who}, with a day to decide."),
        "decided.twice": _("This was decided already, by this very form."),
        "waits_for_authority": _("Two values of this wait for a decision. {why} Nothing was written."),
        "conflict_stays": _("It waits as before."),
    },
    whole=("settled_meanwhile", "revised_meanwhile", "waits_for_authority"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A decision as a form sends it."""

    record: int
    kind: DecisionKind
    reason: Why
    by: Actor
    revision: int
    """Of the conflict, as it was shown."""
    version: int | None = None
    """Of the record it is about, as it was shown; None where there is none."""
    note: str = ""
    claim: Claim | None = None
    """What the page said its reader holds."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """With `edit`: the content. Otherwise as it was meant."""
    to: int | None = None
    form: str = ""
    """Random for each form that was shown: the same form sent twice is one decision."""

    @property
    def key(self) -> str:
        return f"conflict:{self.record}:{self.revision}:{self.kind}:{self.by.kind}:{self.by.key}:{self.form}"[:255]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    done: bool
    sentence: Sentence
    outcome: Outcome | None = None
    forbidden: bool = False
    """It would take more authority than they have: 403."""


def decide(wish: Wish) -> Decided:
    """Raises Conflict.DoesNotExist; BadParams for a content that the action does not take."""
    record = Conflict.objects.get(pk=wish.record)
    claim, taken = wish.claim, False
    if claim is None and record.closed_at is None:
        held = claims.holder(record.pk)
        got = claims.take(record.pk, by=wish.by)
        if isinstance(got, Holder):
            return Decided(done=False, sentence=claims.held_by(got))
        # Somebody else's may have ended between our look and our taking it: then it is ours anew, too.
        claim, taken = got, held is None or not held.by.same_as(wish.by)
    told = Decided(done=False, sentence=Sentence("cannot_be_done"))
    try:
        told = _committed(wish, record, claim)
    finally:
        if claim is not None and (taken or told.done):
            claims.release(claim, by=wish.by)
    return told


def _committed(wish: Wish, record: Conflict, claim: Claim | None) -> Decided:
    if wish.kind not in WRITES:
        return _told(wish, record, gate.commit(_act(wish, claim)))
    # On the values that were shown: the gate merges from there, and what was merged twice would be written twice.
    resolution = resolving.of(record, shown=wish.version)
    if not resolution.possible or (resolution.subject is not None and wish.version is None):
        return Decided(done=False, sentence=resolution.why_not or Sentence("cannot_be_done"))
    params = wish.params if wish.kind == DecisionKind.EDIT else resolution.params()
    basis = (Read(subject=resolution.ref, version=wish.version or 0),) if resolution.ref else ()
    proposal = Proposal(
        action=record.action,
        by=wish.by,
        params=params,
        basis=basis,
        key=wish.key,
        reason=wish.reason,
        source=f"review:{record.pk}",
        lease=claim,
        settles=record.pk,
        settles_at=wish.revision,
    )
    return _told(wish, record, gate.commit(proposal, settle=_settler(wish)))


def _act(wish: Wish, claim: Claim | None) -> Proposal:
    """A decision that writes no record but its own."""
    return Proposal(
        action=f"conflict.{wish.kind}",
        by=wish.by,
        params={
            "conflict": wish.record,
            "reason": wish.reason.value,
            "note": wish.note,
            "revision": wish.revision,
            "decided_on": wish.version,
            **({"to": wish.to} if wish.kind == DecisionKind.HAND_OVER else {}),
        },
        key=wish.key,
        reason=wish.reason,
        source=f"review:{wish.record}",
        lease=claim,
        settles=wish.record,
        settles_at=wish.revision,
    )


def _settler(wish: Wish) -> gate.Settle:
    """In the transaction of what it writes: the decision is kept, and the conflict says how it was closed."""

    def settle(pairs: Sequence[tuple[Proposal, Outcome]]) -> None:
        [(_proposal, outcome)] = pairs
        needless = outcome.result is Result.SUPERSEDED and _code(outcome) != "settled_meanwhile"
        if outcome.result is Result.DUPLICATE:
            return
        if outcome.done:
            how = _how(wish, outcome)
            writing.insert([_kept(wish, kind=how)])
            Conflict.objects.filter(pk=wish.record).update(resolution=how.value, revision=F("revision") + 1)
        elif needless:
            _close(wish.record, by=wish.by, resolution="superseded", revision=F("revision") + 1)
        elif outcome.result is Result.CONFLICT:
            # It moved again since the page was shown. One record waits, not two: the older one, read anew.
            _close(outcome.record, by=wish.by, resolution="decided_late", deadline=None)

    return settle


def _close(record: int | None, *, by: Actor, **values: Any) -> None:
    Conflict.objects.filter(pk=record or 0, closed_at=None).update(
        closed_at=ClockTimestamp(), closed_by=str(by)[:200], **values
    )


def _how(wish: Wish, outcome: Outcome) -> DecisionKind:
    """Whoever edits it to what is in force has dropped what was meant, and it is called so."""
    return DecisionKind.DROP if wish.kind == DecisionKind.EDIT and outcome.unchanged else wish.kind


def _kept(wish: Wish, *, kind: DecisionKind) -> Decision:
    return Decision(
        conflict_id=wish.record,
        kind=kind,
        reason=wish.reason,
        note=wish.note,
        revision=wish.revision,
        decided_on=wish.version,
    )


def _told(wish: Wish, record: Conflict, outcome: Outcome) -> Decided:
    answer = outcome.settled
    if outcome.done:
        code = f"decided.{'apply' if wish.kind == DecisionKind.EDIT else wish.kind}"
        facts: dict[str, Any] = {}
        if _how(wish, answer) == DecisionKind.DROP:
            code = "decided.drop"
        elif wish.kind in WRITES:
            code = code if wish.version is not None else "decided.apply_new"
            facts = {"version": answer.version}
        elif wish.kind == DecisionKind.HAND_OVER:
            facts = {"who": str(get_user_model()._default_manager.get(pk=wish.to or 0))}
        return Decided(done=True, sentence=Sentence(code, facts), outcome=outcome)
    sentence = answer.sentence or Sentence("conflict_stays")
    if answer.result is Result.SUPERSEDED and _code(answer) != "settled_meanwhile":
        return Decided(
            done=True, sentence=Sentence("decided.needless", {"why": {"sentence": sentence.as_json()}}), outcome=outcome
        )
    forbidden = answer.result is Result.REFUSED and (
        refusal(record, wish.kind, by=wish.by) is not None or _beyond(wish, record, sentence)
    )
    return Decided(done=False, sentence=sentence, outcome=outcome, forbidden=forbidden)


def _beyond(wish: Wish, record: Conflict, sentence: Sentence) -> bool:
    """It was the content that took more authority than they have."""
    action = resolving.of(record).action
    if wish.kind != DecisionKind.EDIT or action is None:
        return False
    subject = resolving.subject_of(record)
    return sentence == settling.refusal_to_write(record, action, subject, wish.params, by=wish.by)


def _code(outcome: Outcome) -> str:
    return outcome.sentence.code if outcome.sentence else ""


# ---- may they?


def refusal(record: Conflict, kind: DecisionKind, *, by: Actor) -> Sentence | None:
    """Why this button is not theirs to press: the gate asks the same. Whether it is still open is the page's matter."""
    if kind in (DecisionKind.HAND_OVER, DecisionKind.ESCALATE):
        return None
    if kind == DecisionKind.ASK_AGAIN:
        return None if review.asked_again(record) else Sentence("not_again")
    return settling.refusal(record, by=by, withdraws=kind == DecisionKind.DROP)


# ---- the acts


class Act(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    conflict: Annotated[int, Field(ge=1)]
    reason: Why
    note: Annotated[str, Field(max_length=300)] = ""
    revision: Annotated[int, Field(ge=1)]
    decided_on: int | None = None


class HandOver(Act):
    to: Annotated[int, Field(ge=1)]


def _permits(by: Actor, subject: object) -> Sentence | None:
    """People decide; what an agent meant is never the agent's to settle."""
    return None if by.kind is Kind.PERSON else Sentence("not_allowed", {"who": "a person"})


def _keep(work: Work) -> None:
    p = work.params
    kind = DecisionKind(work.proposal.action.partition(".")[2])
    record: Conflict = work.record
    moves = kind in (DecisionKind.HAND_OVER, DecisionKind.ESCALATE)
    before = {
        "responsible": record.responsible_id,
        "deadline": record.deadline.isoformat() if record.deadline else None,
        "level": record.level,
    }
    work.new(
        Decision(
            conflict_id=p.conflict,
            kind=kind,
            reason=p.reason,
            note=p.note,
            revision=p.revision,
            decided_on=p.decided_on,
            to_id=getattr(p, "to", None),
            before=before if moves else {},
        )
    )


def _check_act(work: Work) -> None:
    if work.record is None or work.record.pk != work.params.conflict:
        raise RuleBroken("cannot_be_done")  # proposed past `decide`, which names the conflict it settles


def _check_again(work: Work) -> None:
    _check_act(work)
    if review.asked_again(work.record) is None:
        raise RuleBroken("not_again")


def _ask_again(work: Work) -> None:
    _keep(work)
    key = f"conflict:{work.record.pk}:again:{work.record.revision}"
    work.later(AGAIN, {"conflict": work.record.pk}, key=key)


def _check_to(work: Work) -> None:
    _check_act(work)
    if str(work.params.to) == work.by.key:
        raise RuleBroken("to_oneself")  # each time with a day more: it would never be late, and never moved up
    able = review.desk().who_can(Need.from_json(work.record.needs), team=work.record.team_key)
    if work.params.to not in {account.pk for account in able}:
        raise RuleBroken("to_nobody")


def _raise_revision(works: Sequence[Work]) -> None:
    for work in works:
        Conflict.objects.filter(pk=work.record.pk).update(revision=F("revision") + 1)


def _move(works: Sequence[Work]) -> None:
    for work in works:
        up = work.proposal.action == "conflict.escalate"
        Conflict.objects.filter(pk=work.record.pk).update(
            responsible=work.params.to,
            deadline=work.now + DECIDE_WITHIN,
            revision=F("revision") + 1,
            **({"level": F("level") + 1, "escalated_at": work.now} if up else {}),
        )


def _no_person(by: Actor, subject: object) -> Sentence | None:
    return Sentence("not_allowed", {"who": "Vigente"}) if by.kind is not Kind.SYSTEM else None


def _register(name: str, words: Any, **more: Any) -> None:
    settings: dict[str, Any] = {
        "params": Act,
        "check": _check_act,
        "apply": _keep,
        "permits": _permits,
        "also": _raise_revision,
        **more,
    }
    register(Action(name=name, subject=Decision, words=words, creates=True, **settings))


_register("conflict.drop", _("Drop what was meant"), settles_as="drop")
_register(
    "conflict.ask_again",
    _("Ask the agent again"),
    settles_as="ask_again",
    check=_check_again,
    apply=_ask_again,
    takes_authority=False,
)
_register(
    "conflict.hand_over",
    _("Hand it to somebody"),
    params=HandOver,
    check=_check_to,
    also=_move,
    settles_as="",
    takes_authority=False,
)
_register(
    "conflict.escalate",
    _("Move it up"),
    params=HandOver,
    permits=_no_person,
    also=_move,
    settles_as="",
    takes_authority=False,
)


# ---- the agent, asked again


def _answer(job: Job, claim: Claim) -> None:
    """Outside any transaction: an agent may think. What came of it stands on the record as its next step."""
    record = Conflict.objects.get(pk=job.payload["conflict"])
    again = review.asked_again(record)
    if again is not None:
        Conflict.objects.filter(pk=record.pk).update(next_step=again(record).as_json())


jobs.register(AGAIN, _answer, seconds=60.0)
