"""Carrying a suggestion out, or taking it back, through the gate: its state moves in the gate's own transaction.

Guarantees that the effect and the state "done" are one commit (a crash before it leaves `approved`, which the sweep
takes up again under the same idempotency key), that a yes is used in that commit or is void with its reason, and that
a suggestion which the world has overtaken is closed with the gate's evidence, linked to the change that overtook it.
Next in the flow: `conflicts/gate.py`.
"""

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import batched
from typing import Any

from agents import approving
from agents.exceptions import Overtaken, StillGood
from agents.identity import FOLLOW_UP
from agents.models import Mode, Recommendation
from agents.states import State, Told, lost, move, told_no
from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Change, Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.sentences import Sentence

ATTEMPTS = 3
TRY_AGAIN = frozenset({"busy", "moved"})
"""Nothing was decided: the row was contended. The same wish, under the same key, may be sent again."""
LOOK_AGAIN = frozenset({"rested_on", "read_again", "approval_void"})
"""What it rested on has moved: not the same wish again, but the deal read again and decided again."""
ASK_AGAIN = frozenset({"approval_expired", "approval_of_other_rules", "approval_without_right"})
"""The content stands, the yes does not: it is put to a person again."""
IN_ONE_GO = 200


def carry_out(recommendation: Recommendation, *, now: dt.datetime, last_chance: bool = False) -> Told:
    """Commit an approved suggestion, or one that the policy lets the agent carry out by itself.

    `last_chance`: if the row is still contended, the suggestion ends as failed and its record waits for a person.
    """
    approval = approving.in_force([recommendation]).get(recommendation.pk)
    if approval is None and recommendation.mode != Mode.ACT:
        if recommendation.state == State.APPROVED:
            return _without_a_yes(recommendation)
        if recommendation.is_open:
            # Another worker has just found the yes void: it waits for a person again.
            return told_no(recommendation, Sentence("no.without_a_yes"))
    proposal = recommendation.proposal(approval=approval)
    outcome: Outcome | None = None
    for attempt in range(1, ATTEMPTS + 1):
        last = last_chance and attempt == ATTEMPTS
        try:
            outcome = gate.commit(proposal, settle=settler([recommendation], now=now, last=last))
        except Overtaken:
            return lost(recommendation)
        if last or not _contended(outcome):
            break
        _close(outcome.record, now=now, resolution="tried_again")
    assert outcome is not None
    recommendation.refresh_from_db()
    return told_of(recommendation, outcome)


def _without_a_yes(recommendation: Recommendation) -> Told:
    """Approved, it says, and no yes is kept: then nobody said it, and it is asked again."""
    if not move(recommendation, of=[State.APPROVED], to=State.PROPOSED, decided_by="", decided_at=None):
        return lost(recommendation)
    recommendation.refresh_from_db()
    return told_no(recommendation, Sentence("no.without_a_yes"))


def told_of(recommendation: Recommendation, outcome: Outcome) -> Told:
    """What the person hears; what others changed meanwhile is said, also where it did no harm."""
    answer = outcome.settled
    done = recommendation.state == State.APPLIED
    if done and answer.result is Result.REBASED and answer.sentence:
        facts = {**answer.sentence.facts, "did": str(recommendation.headline)}
        sentence = Sentence("told.applied.rebased", facts)
    elif done:
        sentence = Sentence("told.applied", {"what": str(recommendation.headline)})
    elif recommendation.state == State.APPROVED:
        sentence = Sentence("told.busy")
    else:
        sentence = outcome.settled.sentence or Sentence("told.waits")
    return Told(done=done, sentence=sentence, recommendation=recommendation, outcome=outcome)


def settler(
    recommendations: Sequence[Recommendation], *, now: dt.datetime, last: bool = False, final: bool = False
) -> gate.Settle:
    """For gate.commit: each suggestion takes the state that its outcome means, or the transaction is taken back."""
    end = partial(ending, final=final)
    return _settler(recommendations, of=(State.PROPOSED, State.APPROVED), end=end, now=now, last=last)


def ending(outcome: Outcome, *, final: bool = False) -> State:
    """The state an outcome means.

    A refusal after something moved is an overtaking as well ("the deal was won meanwhile"); without, a rule forbids it.
    `final`: the agent has decided anew often enough, from here on a person decides.
    """
    answer = outcome.settled
    if outcome.done:
        return State.APPLIED
    if answer.result is Result.SUPERSEDED or (answer.result is Result.REFUSED and answer.moved):
        return State.SUPERSEDED
    if _code(answer) in ASK_AGAIN:
        return State.PROPOSED
    return State.SUPERSEDED if _code(answer) in LOOK_AGAIN and not final else State.FAILED


def carry_out_all(
    recommendations: Sequence[Recommendation], *, now: dt.datetime, final: bool = False
) -> list[Recommendation]:
    """As `carry_out` for many, with the yes of each that has one, in batches. Returns them as they are afterwards."""
    for batch in batched(recommendations, IN_ONE_GO):
        settle = settler(batch, now=now, final=final)
        yes = approving.in_force(batch)
        try:
            gate.commit_many([one.proposal(approval=yes.get(one.pk)) for one in batch], settle=settle)
        except Overtaken:
            for recommendation in batch:  # one of them was decided by a person meanwhile; the others lose nothing
                carry_out(recommendation, now=now)
    return list(Recommendation.objects.filter(pk__in=[one.pk for one in recommendations]).order_by("pk"))


def supersede(recommendations: Sequence[Recommendation], *, now: dt.datetime) -> list[Recommendation]:
    """Ask the gate about suggestions that something seems to have overtaken; close those it would not carry out.

    The gate judges under its locks and writes the evidence. What it would have carried out is taken back whole
    (`StillGood`) and stays open: this never does what nobody has said yes to. Returns those that were closed.
    """
    closed: list[Recommendation] = []
    for batch in batched(recommendations, IN_ONE_GO):
        try:
            _judge(batch, now=now)
            closed += batch
        except (StillGood, Overtaken):
            closed += [one for one in batch if _judged_alone(one, now=now)]
    return closed


def _judged_alone(recommendation: Recommendation, *, now: dt.datetime) -> bool:
    try:
        _judge([recommendation], now=now)
    except (StillGood, Overtaken):
        return False
    return True


def _judge(recommendations: Sequence[Recommendation], *, now: dt.datetime) -> None:
    def end(outcome: Outcome) -> State:
        if outcome.done or _contended(outcome):
            raise StillGood
        return State.SUPERSEDED

    settle = _settler(recommendations, of=(State.PROPOSED, State.SNOOZED), end=end, now=now, last=True)
    gate.commit_many([recommendation.proposal() for recommendation in recommendations], settle=settle)


def _settler(
    recommendations: Sequence[Recommendation],
    *,
    of: Collection[State],
    end: Callable[[Outcome], State],
    now: dt.datetime,
    last: bool,
) -> gate.Settle:
    by_key = {recommendation.proposal().key: recommendation for recommendation in recommendations}

    def settle(pairs: Sequence[tuple[Proposal, Outcome]]) -> None:
        for proposal, outcome in pairs:
            recommendation = by_key[proposal.key]
            to = end(outcome)
            if _contended(outcome) and not last:
                continue  # nothing is decided yet
            moved = move(
                recommendation,
                of=[State.APPROVED] if to is State.PROPOSED else of,
                to=to,
                **_traces(recommendation, outcome, to, now),
            )
            if not moved and outcome.result is not Result.DUPLICATE:
                # Somebody decided otherwise since we looked: without the state there shall be no effect.
                raise Overtaken
            if not proposal.approval and to is State.APPLIED and recommendation.mode != Mode.ACT:
                if outcome.result is not Result.DUPLICATE:
                    raise Overtaken  # nobody's yes goes with it
            elif proposal.approval:
                _settle_the_yes(recommendation, outcome, used=to is State.APPLIED, now=now)
            if to is State.SUPERSEDED and _code(outcome) in LOOK_AGAIN:
                # The deal has no open suggestion from here on, so the agent looks again: nobody need decide.
                _close(outcome.record, now=now, resolution="looked_again")
            elif to is State.PROPOSED:
                _close(outcome.record, now=now, resolution="asked_again")

    return settle


def _settle_the_yes(recommendation: Recommendation, outcome: Outcome, *, used: bool, now: dt.datetime) -> None:
    if not used:
        approving.void(recommendation, now=now, why=outcome.settled.sentence)
    elif not approving.use(recommendation, now=now) and outcome.result is not Result.DUPLICATE:
        # Used by somebody else, or void since we looked: without the yes there shall be no effect.
        raise Overtaken


def _traces(recommendation: Recommendation, outcome: Outcome, to: State, now: dt.datetime) -> dict[str, Any]:
    answer = outcome.settled
    if to is State.PROPOSED:
        return {"decided_by": "", "decided_at": None}
    values: dict[str, Any] = {"outcome": answer.as_json(), "conflict_id": answer.record}
    if to is not State.APPLIED or not recommendation.decided_at:
        values["decided_at"] = now
    change = decisive(recommendation.reads, answer) if to is State.SUPERSEDED else None
    if change is not None:
        own = change.subject == recommendation.reads[0].subject
        values |= {"overtaken_by": change.by, "overtaken_version": change.version if own else answer.version}
    return values


def decisive(reads: Sequence[Read], outcome: Outcome) -> Change | None:
    """The newest change of something the suggestion rests on, else the newest change."""
    names = {read.subject: read.values.keys() | read.aspects for read in reads}
    if _code(outcome) == "consent_refused":  # a rule of the gate, so no aspect of the read set
        names = {subject: aspects | {"consents"} for subject, aspects in names.items()}
    touching = [change for change in outcome.moved if change.aspect in names.get(change.subject, ())]
    found = touching or list(outcome.moved)
    return found[-1] if found else None


def _close(record: int | None, *, now: dt.datetime, resolution: str) -> None:
    if record is None:
        return
    Conflict.objects.filter(pk=record, closed_at=None).update(
        closed_at=now, closed_by=str(FOLLOW_UP), resolution=resolution
    )


def _code(outcome: Outcome) -> str:
    return outcome.settled.sentence.code if outcome.settled.sentence else ""


def _contended(outcome: Outcome) -> bool:
    return outcome.result is Result.CONFLICT and _code(outcome) in TRY_AGAIN
