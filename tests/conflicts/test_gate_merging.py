"""The merge policies as the gate carries them out: what two changed from one base is put together, or to a person."""

import datetime as dt

import pytest

from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Result
from conflicts.policies import MergePolicy, Rule
from crm.models import Company, Opportunity
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db

JUNE, JULY, AUGUST = (dt.date(2031, month, 30) for month in (6, 7, 8))


def test_tags_that_two_added_are_all_kept() -> None:
    deal = cast.deal(tags=["cold"])
    cast.propose("opportunity.edit", deal, by=cast.alice(), tags=["cold", "pharma"])

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), tags=["cold", "urgent"]))

    assert outcome.result is Result.MERGED
    assert now(deal).tags == ["cold", "pharma", "urgent"]
    assert "Alice Amaral" in str(outcome.sentence)
    assert Conflict.objects.get().result == "merged"


def test_a_tag_that_one_removed_stays_removed_when_another_adds() -> None:
    deal = cast.deal(tags=["cold", "old"])
    cast.propose("opportunity.edit", deal, by=cast.alice(), tags=["cold"])

    gate.commit(wish("opportunity.edit", deal, by=cast.bob(), tags=["cold", "old", "urgent"]))

    assert now(deal).tags == ["cold", "urgent"]


def test_notes_that_two_wrote_on_are_both_kept() -> None:
    made = cast.propose("company.create", by=cast.alice(), name="Cold Chain Ltd", note="Family business.")
    assert made.subject is not None
    company = Company.objects.get(pk=made.subject.pk)
    cast.propose("company.edit", company, by=cast.alice(), note="Family business.\nPays late.")

    outcome = gate.commit(wish("company.edit", company, by=cast.bob(), note="Family business.\nLikes Rui."))

    assert outcome.result is Result.MERGED
    assert Company.objects.get().note == "Family business.\nPays late.\nLikes Rui."


def test_a_note_that_one_rewrote_is_put_to_a_person() -> None:
    made = cast.propose("company.create", by=cast.alice(), name="Cold Chain Ltd", note="Family business.")
    assert made.subject is not None
    company = Company.objects.get(pk=made.subject.pk)
    cast.propose("company.edit", company, by=cast.alice(), note="Sold to a fund.")

    outcome = gate.commit(wish("company.edit", company, by=cast.bob(), note="Family business.\nLikes Rui."))

    assert outcome.result is Result.CONFLICT
    assert Company.objects.get().note == "Sold to a fund."


def test_a_persons_date_beats_an_agents_and_the_agent_is_told() -> None:
    deal = cast.deal(expected_close=JUNE)
    cast.propose("opportunity.edit", deal, by=cast.alice(), expected_close=JULY)

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.AGENT, expected_close=AUGUST))

    assert now(deal).expected_close == JULY
    assert now(deal).version == deal.version + 1
    assert outcome.result is Result.SUPERSEDED
    assert not outcome.done
    assert "Alice Amaral" in str(outcome.sentence)
    assert Conflict.objects.get(pk=outcome.record).state == "manual_action_detected"


def test_a_person_overrules_an_agents_date_without_being_asked() -> None:
    deal = cast.deal(expected_close=JUNE)
    cast.propose("opportunity.edit", deal, by=cast.AGENT, expected_close=AUGUST)

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.alice(), expected_close=JULY))

    assert outcome.result is Result.MERGED
    assert now(deal).expected_close == JULY


def test_of_an_agents_two_fields_the_free_one_is_written_and_the_persons_stays() -> None:
    deal = cast.deal(expected_close=JUNE)
    cast.propose("opportunity.edit", deal, by=cast.alice(), expected_close=JULY)

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.AGENT, expected_close=AUGUST, decision="Rui"))

    found = now(deal)
    assert (found.expected_close, found.decision) == (JULY, "Rui")
    assert outcome.result is Result.MERGED  # and not "rebased": it does touch what the person changed


def test_two_people_with_two_dates_are_asked() -> None:
    deal = cast.deal(expected_close=JUNE)
    cast.propose("opportunity.edit", deal, by=cast.alice(), expected_close=JULY)
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), expected_close=AUGUST))
    assert outcome.result is Result.CONFLICT


def test_an_agent_never_forces_money_stage_or_owner() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110", owner=cast.bob().pk)

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.AGENT, amount="120", owner=cast.charlie().pk))

    assert outcome.result is Result.CONFLICT
    assert outcome.state == "manual_action_detected"
    assert {d.field for d in outcome.differences} == {"amount", "owner"}


def test_a_later_contact_stays_when_an_older_call_is_logged_late() -> None:
    deal = cast.deal()
    today, yesterday = (dt.datetime(2026, 11, day, 12, tzinfo=dt.UTC) for day in (30, 29))
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="today", at=today)

    outcome = gate.commit(wish("opportunity.log", deal, by=cast.bob(), kind="call", text="yesterday", at=yesterday))

    found = now(deal)
    assert outcome.result is Result.REBASED
    assert found.last_contact_at == today
    assert found.activities.count() == 2


def test_two_who_counted_one_each_have_counted_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a counter the difference is meant: the same figure from both is no agreement."""
    monkeypatch.setattr(Opportunity, "policy", MergePolicy(rules={"amount": Rule.ADD}))
    deal = cast.deal(amount="5")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="6")

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="6"))

    assert outcome.result is Result.MERGED
    assert str(now(deal).amount) == "7.00"
