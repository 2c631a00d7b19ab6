"""A decision about a conflict that waits: gated, recorded, made once, by whoever holds it and may."""

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from conflicts import actors, claims, decisions, leases
from conflicts.actors import Actor
from conflicts.claims import Holder
from conflicts.decisions import Decided, Wish
from conflicts.leases import Claim
from conflicts.models import Conflict, Decision, DecisionKind, Job, Lease, LeaseEvent, LedgerEntry, Why
from crm.models import Company, Opportunity, User
from tests import cast

pytestmark = pytest.mark.django_db


def clash(amount: str = "120", **more: Any) -> tuple[Opportunity, Conflict]:
    """Alice changes the amount; Bob, who had read the deal before, means another."""
    deal = cast.deal(amount="100", **more)
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount=amount)
    return deal, Conflict.objects.get(pk=outcome.record)


def decide(record: Conflict, kind: DecisionKind, *, by: User | Actor, **more: Any) -> Decided:
    """As its page sends it: what was shown is the record as it is in memory."""
    version = more.pop("version", None) or Opportunity.objects.get(pk=record.subject_id).version
    wish: dict[str, Any] = {"reason": Why.STILL_RIGHT, "version": version, "form": uuid.uuid4().hex, **more}
    actor = by if isinstance(by, Actor) else actors.person(by)
    return decisions.decide(Wish(record=record.pk, kind=kind, by=actor, revision=record.revision, **wish))


def amount(deal: Opportunity) -> str:
    return str(Opportunity.objects.get(pk=deal.pk).amount)


def fresh(record: Conflict) -> Conflict:
    return Conflict.objects.get(pk=record.pk)


def test_dropping_leaves_what_is_in_force_and_keeps_who_decided_and_why() -> None:
    deal, record = clash()
    told = decide(record, DecisionKind.DROP, by=cast.manager(), reason=Why.OVERTAKEN, note="Rui called")

    assert told.done
    assert amount(deal) == "110.00"
    after = fresh(record)
    assert (after.resolution, Actor.parse(after.closed_by).name) == ("drop", "Manuela Moraes")
    assert after.closed_at is not None
    kept = Decision.objects.get()
    assert (kept.conflict, kept.kind, kept.reason, kept.note) == (record, "drop", "overtaken", "Rui called")
    assert (kept.revision, kept.decided_on) == (record.revision, deal.version + 1)
    assert kept.author.name == "Manuela Moraes"
    assert LedgerEntry.objects.filter(key__startswith=f"conflict:{record.pk}:").count() == 1


def test_applying_writes_what_was_meant_on_the_version_in_force() -> None:
    deal, record = clash()
    told = decide(record, DecisionKind.APPLY, by=cast.manager())

    assert told.done, told
    assert amount(deal) == "120.00"
    now = Opportunity.objects.get(pk=deal.pk)
    assert now.author.name == "Manuela Moraes"
    assert fresh(record).resolution == "apply"
    assert Decision.objects.get().kind == "apply"
    assert str(told.sentence) == f"Done, as v{now.version}."


def test_applying_touches_nothing_that_its_author_did_not_touch() -> None:
    deal = cast.deal(amount="100", decision="Ana decides", tags=["cold"])
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110", decision="Rui decides", tags=["cold", "new"])
    outcome = cast.propose(
        "opportunity.edit", deal, by=cast.bob(), amount="120", decision="Ana decides", tags=["cold", "hot"]
    )
    decide(Conflict.objects.get(pk=outcome.record), DecisionKind.APPLY, by=cast.manager())

    now = Opportunity.objects.get(pk=deal.pk)
    assert (str(now.amount), now.decision, sorted(now.tags)) == ("120.00", "Rui decides", ["cold", "hot", "new"])


def test_edited_content_is_applied_and_said_to_be_edited() -> None:
    deal, record = clash()
    told = decide(record, DecisionKind.EDIT, by=cast.manager(), params={"amount": "115"})
    assert told.done
    assert amount(deal) == "115.00"
    assert fresh(record).resolution == "edit"


def test_the_second_of_two_is_told_who_was_first_and_nothing_is_done() -> None:
    deal, record = clash()
    assert decide(record, DecisionKind.DROP, by=cast.manager()).done
    told = decide(record, DecisionKind.APPLY, by=cast.administrator())

    assert not told.done
    assert str(told.sentence) == "Manuela Moraes settled this already (dropped). Nothing was written."
    assert amount(deal) == "110.00"
    assert Decision.objects.count() == 1


def test_the_same_form_sent_twice_is_one_decision() -> None:
    deal, record = clash()
    first = decide(record, DecisionKind.APPLY, by=cast.manager(), form="one")
    version = Opportunity.objects.get(pk=deal.pk).version
    again = decide(record, DecisionKind.APPLY, by=cast.manager(), form="one", version=version - 1)
    assert first.done
    assert again.done
    assert Opportunity.objects.get(pk=deal.pk).version == version
    assert Decision.objects.count() == 1


def test_what_moved_since_the_page_was_shown_is_not_written_over() -> None:
    deal, record = clash()
    seen = Opportunity.objects.get(pk=deal.pk)
    cast.propose("opportunity.edit", seen, by=cast.alice(), amount="130")
    told = decide(record, DecisionKind.APPLY, by=cast.manager(), version=seen.version)

    assert not told.done
    assert "There are two values now for amount" in str(told.sentence)
    assert amount(deal) == "130.00"
    assert list(Conflict.objects.waiting()) == [record], "one record waits, not two"
    assert Conflict.objects.filter(resolution="decided_late").count() == 1


def test_a_rule_that_stands_against_it_is_told_and_the_conflict_waits() -> None:
    follow = cast.deal("Other", amount="1")
    cast.propose("opportunity.edit", follow, by=cast.alice(), amount="2")
    outcome = cast.propose("opportunity.edit", follow, by=cast.AGENT, amount="3")
    record = Conflict.objects.get(pk=outcome.record)
    Conflict.objects.filter(pk=record.pk).update(action="opportunity.move", params={"stage": cast.stage("Lost").pk})
    told = decide(record, DecisionKind.APPLY, by=cast.manager())
    assert not told.done
    assert "needs a reason" in str(told.sentence)
    assert fresh(record).closed_at is None


# ---- holding


def test_a_claim_is_shown_to_others_and_keeps_them_from_deciding() -> None:
    deal, record = clash()
    claims.take(record.pk, by=actors.person(cast.manager()))
    held = claims.holder(record.pk)
    assert held is not None
    assert held.by.name == "Manuela Moraes"
    assert held.until - held.since == dt.timedelta(minutes=10)

    told = decide(record, DecisionKind.APPLY, by=cast.administrator())

    assert not told.done
    assert str(told.sentence).startswith("Manuela Moraes is deciding about this until ")
    assert amount(deal) == "110.00"
    assert isinstance(claims.take(record.pk, by=actors.person(cast.administrator())), Holder)


def test_a_decision_takes_the_claim_that_nobody_holds_and_gives_it_back() -> None:
    _, record = clash()
    decide(record, DecisionKind.DROP, by=cast.manager())
    assert [e.kind for e in LeaseEvent.objects.order_by("id")] == ["granted", "released"]
    assert claims.holder(record.pk) is None


def test_a_claim_is_one_for_all_tabs_of_a_person_and_can_be_made_longer() -> None:
    _, record = clash()
    by = actors.person(cast.manager())
    first = claims.take(record.pk, by=by)
    Lease.objects.update(expires_at=timezone.now() + dt.timedelta(seconds=30))
    assert claims.take(record.pk, by=by) == first
    held = claims.holder(record.pk)
    assert held is not None
    assert held.until > timezone.now() + dt.timedelta(minutes=9)
    assert claims.give_back(record.pk, by=by)
    assert claims.holder(record.pk) is None
    assert not claims.give_back(record.pk, by=by)


def run_out(record: Conflict) -> None:
    Lease.objects.filter(key=f"conflict:{record.pk}").update(expires_at=timezone.now() - dt.timedelta(seconds=1))


@pytest.mark.parametrize("kind", [DecisionKind.APPLY, DecisionKind.DROP, DecisionKind.HAND_OVER])
def test_a_claim_that_ran_out_frees_the_conflict_and_refuses_the_late_decision(kind: DecisionKind) -> None:
    deal, record = clash()
    claim = claims.take(record.pk, by=actors.person(cast.manager()))
    assert isinstance(claim, Claim)
    run_out(record)
    assert claims.holder(record.pk) is None

    told = decide(record, kind, by=cast.manager(), claim=claim, to=cast.administrator().pk)

    assert not told.done
    assert "The time reserved for this work had run out" in str(told.sentence)
    assert amount(deal) == "110.00"
    assert fresh(record).closed_at is None
    assert Decision.objects.count() == 0
    evidence = Conflict.objects.latest("pk")
    assert (evidence.state, evidence.subject_id) == ("lease_expired", deal.pk)
    assert LeaseEvent.objects.filter(kind="lost").exists()


def test_after_a_claim_ran_out_somebody_else_decides() -> None:
    deal, record = clash()
    late = claims.take(record.pk, by=actors.person(cast.manager()))
    run_out(record)
    assert decide(record, DecisionKind.APPLY, by=cast.administrator()).done
    told = decide(record, DecisionKind.DROP, by=cast.manager(), claim=late)
    assert not told.done
    assert amount(deal) == "120.00"


def test_a_broken_claim_is_worth_nothing() -> None:
    _, record = clash()
    claim = claims.take(record.pk, by=actors.person(cast.manager()))
    leases.break_(f"conflict:{record.pk}", by=actors.person(cast.administrator()), why="on holiday")
    assert not decide(record, DecisionKind.DROP, by=cast.manager(), claim=claim).done


# ---- authority


def test_who_has_not_the_authority_is_told_who_has_and_nothing_is_done() -> None:
    deal, record = clash(amount="2000000")
    told = decide(record, DecisionKind.APPLY, by=cast.manager()) if cast.administrator() else None

    assert told is not None
    assert (told.done, told.forbidden) == (False, True)
    assert str(told.sentence) == (
        "R$\u00a02,000,000 is more than you may decide about (R$\u00a01,000,000). Ada Alves can."
    )
    assert amount(deal) == "110.00"
    evidence = Conflict.objects.latest("pk")
    assert (evidence.rule, evidence.subject_id, evidence.resolution) == ("beyond_amount", deal.pk, "refused")
    assert fresh(record).closed_at is None
    assert decide(record, DecisionKind.APPLY, by=cast.administrator()).done


def test_whoever_meant_it_may_take_it_back_whatever_it_is_about() -> None:
    _, record = clash(amount="2000000")
    assert not decide(record, DecisionKind.DROP, by=cast.manager()).done
    assert decide(record, DecisionKind.DROP, by=cast.bob()).done


def test_an_agent_decides_nothing() -> None:
    _, record = clash()
    assert not decide(record, DecisionKind.DROP, by=cast.AGENT).done
    assert fresh(record).closed_at is None


def test_handing_over_moves_responsible_and_deadline_and_is_recorded() -> None:
    _, record = clash(amount="2000000")
    ada = cast.administrator()
    told = decide(record, DecisionKind.HAND_OVER, by=cast.manager(), reason=Why.KNOWS_MORE, to=ada.pk)

    assert told.done, told
    after = fresh(record)
    assert (after.responsible, after.closed_at, after.revision) == (ada, None, record.revision + 1)
    assert after.deadline is not None
    assert record.deadline is not None
    assert after.deadline > record.deadline
    kept = Decision.objects.get()
    assert (kept.to, kept.before["responsible"]) == (ada, cast.alice().pk)


def test_nobody_is_handed_what_they_cannot_decide() -> None:
    _, record = clash(amount="2000000")
    for to in (cast.manager(), cast.charlie(), cast.alice()):
        told = decide(record, DecisionKind.HAND_OVER, by=cast.administrator(), to=to.pk)
        assert str(told.sentence) == "That person cannot decide this."
    assert fresh(record).responsible == cast.alice()


def test_a_decision_on_a_page_from_before_it_was_handed_over_is_refused() -> None:
    _, record = clash()
    assert decide(record, DecisionKind.HAND_OVER, by=cast.manager(), to=cast.administrator().pk) is not None
    told = decide(record, DecisionKind.DROP, by=cast.manager())
    assert str(told.sentence) == "This was handed on after the page was shown. Nothing was written; look again."


def test_an_agent_is_asked_again_by_a_job_of_the_decisions_own_transaction() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.AGENT, amount="120")
    record = Conflict.objects.get(pk=outcome.record)
    assert decide(record, DecisionKind.ASK_AGAIN, by=cast.manager()).done

    job = Job.objects.get(kind=decisions.AGAIN)
    assert fresh(record).resolution == "ask_again"
    decisions._answer(job, Claim(key="", holder="", fence=0))
    assert str(fresh(record).to_do).startswith("The agent has looked again")


def test_no_agent_is_asked_about_what_a_person_meant() -> None:
    _, record = clash()
    told = decide(record, DecisionKind.ASK_AGAIN, by=cast.manager())
    assert str(told.sentence) == "No agent can be asked about this: a person decides."
    assert fresh(record).closed_at is None
    assert not Job.objects.exists()


# ---- a claim is somebody's


def test_a_claim_with_another_persons_numbers_is_not_theirs() -> None:
    deal, record = clash()
    theirs = claims.take(record.pk, by=actors.person(cast.manager()))
    assert isinstance(theirs, Claim)
    told = decide(record, DecisionKind.APPLY, by=cast.administrator(), claim=theirs)

    assert not told.done
    assert str(told.sentence).startswith("Manuela Moraes is deciding about this until ")
    assert amount(deal) == "110.00"
    claims.release(theirs, by=actors.person(cast.administrator()))
    assert claims.holder(record.pk) is not None


# ---- what others add meanwhile


def test_applying_after_somebody_added_more_writes_each_line_once() -> None:
    outcome = cast.propose("company.create", by=cast.alice(), name="Cold Rooms", note="base")
    company = Company.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]
    read = Company.objects.get(pk=company.pk)
    cast.propose("company.edit", company, by=cast.alice(), note="base\nlia", name="Cold Rooms A")
    clashed = cast.propose("company.edit", read, by=cast.bob(), note="base\nana", name="Cold Rooms B")
    record = Conflict.objects.get(pk=clashed.record)
    shown = Company.objects.get(pk=company.pk)
    cast.propose("company.edit", shown, by=cast.alice(), note="base\nlia\nbruno")

    told = decide(record, DecisionKind.APPLY, by=cast.manager(), version=shown.version)

    assert told.done, told
    now = Company.objects.get(pk=company.pk)
    assert (now.note.split("\n"), now.name) == (["base", "lia", "bruno", "ana"], "Cold Rooms B")


# ---- authority, for what is to be written instead


def test_edited_content_beyond_ones_level_is_refused_whatever_was_meant() -> None:
    cast.administrator()
    deal, record = clash()
    told = decide(record, DecisionKind.EDIT, by=cast.manager(), params={"amount": "2000000"})

    assert (told.done, told.forbidden) == (False, True)
    assert "is more than you may decide about" in str(told.sentence)
    assert amount(deal) == "110.00"
    assert fresh(record).closed_at is None
    assert decide(record, DecisionKind.EDIT, by=cast.administrator(), params={"amount": "2000000"}).done


def test_editing_to_what_is_in_force_is_dropping_and_takes_the_same_authority() -> None:
    deal, record = clash(amount="2000000")
    told = decide(record, DecisionKind.EDIT, by=cast.manager(), params={"amount": "110.00"})
    assert (told.done, told.forbidden) == (False, True)
    assert fresh(record).closed_at is None

    told = decide(record, DecisionKind.EDIT, by=cast.administrator(), params={"amount": "110.00"})
    assert told.done
    assert str(told.sentence) == "Dropped. What was in force stays."
    assert fresh(record).resolution == "drop"
    assert Decision.objects.get().kind == "drop"
    assert amount(deal) == "110.00"


def test_nobody_hands_it_to_themselves_and_so_makes_the_deadline_later() -> None:
    _, record = clash()
    told = decide(record, DecisionKind.HAND_OVER, by=cast.manager(), to=cast.manager().pk)
    assert not told.done
    assert str(told.sentence) == "It is in front of you already: decide it, or hand it to somebody else."
    assert fresh(record).deadline == record.deadline
