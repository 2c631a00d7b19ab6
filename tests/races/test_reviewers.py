"""Two reviewers at one conflict, on real threads: one decides, the other is told; a claim has one holder."""

import uuid
from typing import Any

import pytest
from django.utils import timezone

from conflicts import actors, claims, decisions, escalation, gate
from conflicts.claims import Holder
from conflicts.decisions import Decided, Wish
from conflicts.leases import Claim
from conflicts.models import Conflict, Decision, DecisionKind, Lease, Why
from crm.models import Opportunity, User
from tests import cast
from tests.races.threads import Meeting, in_a_thread, together

pytestmark = pytest.mark.django_db(transaction=True)


def clash() -> tuple[Opportunity, Conflict]:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount="120")
    return deal, Conflict.objects.get(pk=outcome.record)


def wish(record: Conflict, kind: DecisionKind, by: User, **more: Any) -> Wish:
    deal = Opportunity.objects.get(pk=record.subject_id)
    return Wish(
        record=record.pk,
        kind=kind,
        reason=Why.AGREED,
        by=actors.person(by),
        revision=record.revision,
        version=deal.version,
        form=uuid.uuid4().hex,
        **more,
    )


def pressed(*wishes: Wish) -> list[Decided]:
    return together(*[lambda one=one: decisions.decide(one) for one in wishes])


@pytest.mark.parametrize(
    "kinds",
    [
        (DecisionKind.APPLY, DecisionKind.DROP),
        (DecisionKind.APPLY, DecisionKind.APPLY),
        (DecisionKind.DROP, DecisionKind.DROP),
    ],
)
@pytest.mark.parametrize("round_", range(3))
def test_of_two_who_press_at_once_one_decides_and_the_other_is_told(
    kinds: tuple[DecisionKind, DecisionKind], round_: int
) -> None:
    deal, record = clash()
    manuela, ada = cast.manager(), cast.administrator()
    told = pressed(wish(record, kinds[0], manuela), wish(record, kinds[1], ada))

    assert sorted(one.done for one in told) == [False, True]
    [loser] = [one for one in told if not one.done]
    assert loser.sentence.code in ("settled_meanwhile", "held_by")
    kept = Decision.objects.get()
    after = Conflict.objects.get(pk=record.pk)
    assert after.resolution == kept.kind
    now = Opportunity.objects.get(pk=deal.pk)
    assert str(now.amount) == ("120.00" if kept.kind == "apply" else "110.00")
    assert now.version == deal.version + (2 if kept.kind == "apply" else 1)
    assert claims.holder(record.pk) is None


def test_past_the_claim_the_lock_on_the_record_still_lets_one_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both believe that they hold it: the claim is a courtesy, the record's row is the law."""
    deal, record = clash()
    monkeypatch.setattr(claims, "holder", lambda record: None)
    monkeypatch.setattr(claims, "take", lambda record, by: None)
    meeting = Meeting()
    monkeypatch.setattr(gate, "_open", meeting.at(gate._open))
    told = pressed(
        wish(record, DecisionKind.APPLY, cast.manager()), wish(record, DecisionKind.DROP, cast.administrator())
    )
    assert sorted(one.done for one in told) == [False, True]
    assert [one.sentence.code for one in told if not one.done] == ["settled_meanwhile"]
    stands = str(Opportunity.objects.get(pk=deal.pk).amount) == "120.00"
    assert stands == (Decision.objects.get().kind == "apply")


def test_without_the_question_whether_it_is_open_both_would_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: the same press with the protection taken out."""
    from conflicts import settling

    _, record = clash()
    monkeypatch.setattr(claims, "holder", lambda record: None)
    monkeypatch.setattr(claims, "take", lambda record, by: None)
    monkeypatch.setattr(settling, "too_late", lambda work: None)
    told = pressed(
        wish(record, DecisionKind.APPLY, cast.manager()), wish(record, DecisionKind.DROP, cast.administrator())
    )
    assert [one.done for one in told] == [True, True]


def test_of_two_who_take_it_at_once_one_has_it() -> None:
    _, record = clash()
    people = [actors.person(cast.manager()), actors.person(cast.administrator())]
    got = together(*[lambda by=by: claims.take(record.pk, by=by) for by in people])
    assert sorted(type(one).__name__ for one in got) == [Claim.__name__, Holder.__name__]


def test_a_late_decision_and_whoever_took_it_over_at_the_same_moment() -> None:
    deal, record = clash()
    manuela, ada = cast.manager(), cast.administrator()
    late = claims.take(record.pk, by=actors.person(manuela))
    assert isinstance(late, Claim)
    Lease.objects.update(expires_at=timezone.now())
    told = pressed(wish(record, DecisionKind.APPLY, manuela, claim=late), wish(record, DecisionKind.DROP, ada))
    assert [one.done for one in told] == [False, True]
    assert told[0].sentence.code in ("lease_expired", "settled_meanwhile")
    assert str(Opportunity.objects.get(pk=deal.pk).amount) == "110.00"


def test_the_owner_settles_on_the_deals_page_while_a_reviewer_drops_it() -> None:
    deal, record = clash()
    bob = cast.bob()

    def settles() -> bool:
        from conflicts.proposals import Proposal, Read

        now = Opportunity.objects.get(pk=deal.pk)
        outcome = gate.commit(
            Proposal(
                action="opportunity.edit",
                by=actors.person(bob),
                params={"amount": "120"},
                basis=(Read.of(now),),
                settles=record.pk,
            )
        )
        return outcome.done

    drop = wish(record, DecisionKind.DROP, cast.manager())
    settled, dropped = together(settles, lambda: decisions.decide(drop).done)
    assert settled != dropped
    stands = str(Opportunity.objects.get(pk=deal.pk).amount) == "120.00"
    assert stands == settled


def test_many_watches_at_once_move_an_overdue_conflict_up_once() -> None:
    cast.manager(), cast.administrator()
    _, record = clash()
    Conflict.objects.filter(pk=record.pk).update(deadline=timezone.now())
    moved = together(*[escalation.escalate_due] * 4)
    after = Conflict.objects.get(pk=record.pk)
    assert sum(moved) == 1
    assert (after.level, Decision.objects.count()) == (1, 1)
    assert in_a_thread(escalation.escalate_due) == 0
