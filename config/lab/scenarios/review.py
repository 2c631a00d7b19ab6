"""Reviewers at one conflict: two press at once, and one decides after the time of the claim was over."""

from collections.abc import Callable, Generator
from typing import Any

from django.utils import timezone

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.lease_holders import let_end, take_naively
from config.lab.scenarios.parts import deals, lines, now
from config.lab.world import World, load, person
from conflicts import claims, decisions, gate
from conflicts.actors import Actor
from conflicts.decisions import Wish
from conflicts.leases import Claim
from conflicts.models import Conflict, DecisionKind, Why
from conflicts.proposals import Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence


def _clashes(world: World, count: int) -> list[Round]:
    """Rounds about a deal on which Alice was first, and Bob's other value waits for a person."""
    rounds = deals(world, count)
    for one in rounds:
        theirs = wish("opportunity.edit", Read.of(load(one.deal)), by=person(world.alice), decision="Alice's")
        gate.commit(theirs)
        mine = one.mark("Bob")
        # Written by hand: evidence of the preparation would be counted as the race's own.
        record = Conflict.objects.create(
            subject_model=one.deal.label,
            subject_id=one.deal.pk,
            subject_label=str(one.deal),
            state="version_conflict",
            version_read=1,
            version_found=2,
            differences=[{"field": "decision", "base": "", "current": "Alice's", "proposed": mine}],
            action="opportunity.edit",
            params={"decision": mine},
            actor=str(person(world.bob)),
            sentence=Sentence("not_mergeable").as_json(),
            rule="not_mergeable",
        )
        one.facts["record"] = record.pk
    return rounds


def _record(one: Round) -> Conflict:
    return Conflict.objects.get(pk=one.facts["record"])


def _decide(one: Round, kind: DecisionKind, *, by: Actor, claim: Claim | None = None) -> None:
    record, deal = _record(one), now(one)
    told = decisions.decide(
        Wish(
            record=record.pk,
            kind=kind,
            reason=Why.AGREED,
            by=by,
            revision=record.revision,
            version=deal.version,
            claim=claim,
            form=f"{by.key}:{kind}",
        )
    )
    if told.done:
        one.facts.setdefault("said", []).append(kind)


def _decide_naively(one: Round, kind: DecisionKind, *, by: Actor) -> None:
    """Somebody who has seen that it waits: writes what was meant, and closes it."""
    if kind == DecisionKind.APPLY:
        deal = naive.load(one.deal)
        deal.decision = one.mark("Bob")
        naive.save_only(deal, "decision")
    Conflict.objects.filter(pk=one.facts["record"]).update(
        closed_at=timezone.now(), closed_by=str(by), resolution=kind.value
    )
    one.done(kind.value)


def _said(one: Round) -> list[Any]:
    return one.facts.get("said") or one.told_done()


def _stands(one: Round) -> bool:
    return now(one).decision == one.mark("Bob")


def _one_decision(one: Round) -> Judgement:
    record, stands, said = _record(one), _stands(one), _said(one)
    wrong = lines(
        (len(said) != 1, f"{len(said)} people were told that they had decided"),
        (record.resolution == "drop" and stands, "dropped, and done all the same"),
        (record.resolution == "apply" and not stands, "applied, and not done"),
        (record.resolution not in ("drop", "apply"), f"it ended as {record.resolution or 'nothing'}"),
    )
    return Judgement(effects=int(stands), wrong=wrong)


# --- two reviewers press at once --------------------------------------------------------------------------------------


type Press = Callable[..., None]


def _two_press(one: Round, press: Press) -> None:
    def reviewer(kind: DecisionKind, by: Actor) -> Generator[str]:
        if _record(one).closed_at is None:
            yield "both have the page"
            press(one, kind, by=by)

    manager, alice = person(one.world.manager), person(one.world.alice)
    one.race(lambda: reviewer(DecisionKind.APPLY, manager), lambda: reviewer(DecisionKind.DROP, alice))


register(
    Scenario(
        slug="two_reviewers_press_at_once",
        title="one reviewer applies a conflict while another drops it",
        prepare=_clashes,
        naive=lambda one: _two_press(one, _decide_naively),
        guarded=lambda one: _two_press(one, _decide),
        judge=_one_decision,
    )
)

# --- a decision after the claim ran out -------------------------------------------------------------------------------


def _held(one: Round) -> Ref:
    """What the claim protects, in the form in which leases name it."""
    return Ref(claims.PREFIX.rstrip(":"), one.facts["record"])


def _late(one: Round, hold: Callable[[], Any], press: Callable[[Any], None], other: Callable[[], None]) -> None:
    """The manager takes it, is called away, and presses after the time was over; somebody else has dropped it."""

    def manager() -> Generator[str]:
        held = hold()
        yield "it is held"
        yield "the time is over"
        yield "somebody else has decided"
        press(held)

    def alice() -> Generator[str]:
        yield "it is held"
        let_end(_held(one))
        yield "the time is over"
        other()
        yield "somebody else has decided"

    one.race(manager, alice)


def _late_naively(one: Round) -> None:
    manager, alice = person(one.world.manager), person(one.world.alice)
    # As a lock usually is: a name in a row, looked at when the page is opened and at no other time.
    _late(
        one,
        hold=lambda: take_naively(_held(one), "manager"),
        press=lambda held: _decide_naively(one, DecisionKind.APPLY, by=manager),
        other=lambda: _decide_naively(one, DecisionKind.DROP, by=alice),
    )


def _late_guarded(one: Round) -> None:
    manager, alice = person(one.world.manager), person(one.world.alice)
    _late(
        one,
        hold=lambda: claims.take(one.facts["record"], by=manager),
        press=lambda held: _decide(one, DecisionKind.APPLY, by=manager, claim=held),
        other=lambda: _decide(one, DecisionKind.DROP, by=alice),
    )


register(
    Scenario(
        slug="decision_after_claim_ran_out",
        title="a reviewer decides after the time of the claim was over",
        prepare=_clashes,
        naive=_late_naively,
        guarded=_late_guarded,
        judge=_one_decision,
    )
)
