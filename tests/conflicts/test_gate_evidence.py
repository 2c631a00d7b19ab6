"""Every refusal leaves a record that a person can read: what was read, found, meant, and what did not happen."""

import datetime as dt
from typing import Any

import pytest
from django.utils import translation

from conflicts import gate, sentences
from conflicts.models import Conflict, State
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Approval
from conflicts.sentences import Sentence
from crm.models import Opportunity, User
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db


def clash(*, by: Any = None, amount: str = "120") -> tuple[Opportunity, Outcome]:
    """Alice changed the amount after the other had read it."""
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    return deal, gate.commit(wish("opportunity.edit", deal, by=by or cast.bob(), key="k-1", amount=amount))


def test_a_conflict_record_holds_all_that_a_person_needs_to_decide() -> None:
    deal, outcome = clash()

    record = Conflict.objects.get(pk=outcome.record)
    assert (record.subject_model, record.subject_id, record.subject_label) == ("crm.opportunity", deal.pk, deal.name)
    assert (record.state, record.result) == (State.VERSION_CONFLICT, "conflict")
    assert (record.version_read, record.version_found) == (deal.version, deal.version + 1)
    [change] = record.moved
    assert (change["aspect"], change["old"], change["new"]) == ("amount", "100.00", "110.00")
    assert change["by"].endswith("Alice Amaral")
    assert dt.datetime.fromisoformat(change["at"]).tzinfo is not None
    assert record.differences == [{"field": "amount", "base": "100.00", "current": "110.00", "proposed": "120.00"}]
    assert (record.action, record.params) == ("opportunity.edit", {"amount": "120"})
    assert record.intended_by.name == "Bob Borges"
    assert record.overtaken_by is not None
    assert record.overtaken_by.name == "Alice Amaral"
    assert record.rule == "not_mergeable"
    assert (record.source, record.key) == ("test", "k-1")
    assert str(record.not_done) == "The deal was not changed."
    assert record.responsible == cast.alice()
    assert record.to_do is not None
    assert record.deadline is not None
    assert record.deadline - record.opened_at > dt.timedelta(hours=23)
    assert (record.closed_at, record.resolution) == (None, "")


def test_the_sentence_is_told_in_the_readers_language_and_stored_in_none() -> None:
    _, outcome = clash()
    record = Conflict.objects.get(pk=outcome.record)
    assert set(record.sentence) == {"code", "facts"}
    assert "amount" not in str(record.sentence["facts"]["who"])
    with translation.override("en"):
        assert "amount" in str(record.told)


@pytest.mark.parametrize(
    ("result", "closed"),
    [("rebased", True), ("merged", True), ("superseded", True), ("refused", True), ("conflict", False)],
)
def test_only_what_needs_a_person_waits(result: str, closed: bool) -> None:
    deal = cast.deal(amount="100", tags=["a"])
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110", tags=["a", "b"])
    cast.propose("opportunity.plan_task", now(deal), by=cast.alice(), title="Visit", due_on=cast.MONDAY)
    bob = cast.bob()
    proposal = {
        "rebased": wish("opportunity.edit", deal, by=bob, decision="Rui"),
        "merged": wish("opportunity.edit", deal, by=bob, tags=["a", "c"]),
        "superseded": wish("opportunity.follow_up", deal, by=cast.AGENT, title="Call", due_on=cast.TUESDAY),
        "refused": wish("opportunity.move", deal, by=bob, stage=cast.stage("Lost").pk),
        "conflict": wish("opportunity.edit", deal, by=bob, amount="120"),
    }[result]

    outcome = gate.commit(proposal)

    record = Conflict.objects.get(pk=outcome.record)
    assert outcome.result.value == record.result == result
    assert (record.closed_at is not None) is closed
    assert (record.deadline is None) is closed
    assert list(Conflict.objects.waiting()) == ([] if closed else [record])
    assert list(Conflict.objects.about(outcome.subject)) == [record]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("who", "state"),
    [("bob", State.VERSION_CONFLICT), ("agent", State.MANUAL_ACTION_DETECTED)],
)
def test_the_state_tells_who_was_overtaken_by_whom(who: str, state: State) -> None:
    _, outcome = clash(by=cast.AGENT if who == "agent" else cast.bob())
    assert outcome.state == state


def test_two_agents_that_cannot_be_merged_have_a_state_of_their_own() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.AGENT, amount="110")
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.AGENT, amount="120"))
    assert outcome.state == State.MERGE_NOT_ALLOWED


def test_a_yes_to_one_content_is_no_yes_to_another() -> None:
    deal = cast.deal(amount="100")
    shown = wish("opportunity.edit", deal, by=cast.AGENT, amount="110")
    approval = Approval(by=cast.AGENT, fingerprint=shown.fingerprint)
    swapped = wish("opportunity.edit", deal, by=cast.AGENT, amount="999")

    outcome = gate.commit(type(swapped)(**{**fields(swapped), "approval": approval}))

    assert (outcome.result, outcome.state) == (Result.CONFLICT, State.CHANGED_DURING_APPROVAL)
    assert str(now(deal).amount) == "100.00"
    assert gate.commit(type(shown)(**{**fields(shown), "approval": approval})).result is Result.APPLIED


def fields(proposal: Any) -> dict[str, Any]:
    return {name: getattr(proposal, name) for name in proposal.__dataclass_fields__}


def test_a_record_survives_names_and_texts_that_no_column_takes_as_typed() -> None:
    """A name of 300 letters, a NUL and half a surrogate: nothing of that may cost the evidence."""
    long = User.objects.create(username="long", first_name="L" * 150, last_name="M" * 150, team=cast.team())
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")

    outcome = gate.commit(wish("opportunity.edit", deal, by=long, amount="120", decision="a\x00b\ud800c"))

    assert outcome.result is Result.CONFLICT
    record = Conflict.objects.get(pk=outcome.record)
    assert record.params["decision"] == "abc"
    assert len(record.actor) == 200
    done = gate.commit(wish("opportunity.log", now(deal), by=long, kind="note", text="<b>bold</b>"))
    assert done.result is Result.APPLIED


def test_a_refusal_without_a_subject_leaves_a_record_too() -> None:
    cast.propose("company.create", by=cast.alice(), name="Cold Chain Ltd")
    outcome = gate.commit(wish("company.create", by=cast.bob(), name="COLD  chain ltd"))
    record = Conflict.objects.get(pk=outcome.record)
    assert outcome.result is Result.REFUSED
    assert (record.subject_model, record.subject_id, record.rule) == ("crm.company", None, "company_exists")


def test_an_old_record_with_facts_that_are_gone_is_still_readable() -> None:
    assert str(Sentence("next_step_exists", {})).startswith("-")
    assert str(Sentence("a code that nobody registers any more")) == "a code that nobody registers any more"


def test_a_code_has_one_meaning() -> None:
    with pytest.raises(ValueError, match="already registered"):
        sentences.register({"moved": "Something else"})
