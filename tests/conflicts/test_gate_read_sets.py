"""The read set: what a decision rested on. A change of anything else does not void it; a change of that does."""

import pytest

from conflicts import gate, judging
from conflicts.outcomes import Result
from conflicts.proposals import Read
from crm.models import Contact
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db


def test_a_logged_call_does_not_void_a_corrected_amount() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="They like it")

    outcome = gate.commit(wish("opportunity.edit", deal, "amount", "stage", by=cast.bob(), amount="120"))

    assert outcome.result is Result.REBASED
    assert str(now(deal).amount) == "120.00"


def test_a_logged_call_voids_a_decision_that_rested_on_there_being_none() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", text="They like it")

    outcome = gate.commit(
        wish("opportunity.plan_task", deal, "activities", by=cast.AGENT, title="Call, nobody has yet")
    )

    assert outcome.result is Result.CONFLICT
    assert outcome.state == "manual_action_detected"
    assert now(deal).tasks.count() == 0


def test_a_planned_task_voids_no_next_step() -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Visit", due_on=cast.MONDAY)

    outcome = gate.commit(
        wish("opportunity.plan_task", deal, "next_step_on", by=cast.AGENT, title="Call", due_on=cast.TUESDAY)
    )

    assert outcome.result is Result.CONFLICT
    assert [t.title for t in now(deal).tasks.all()] == ["Visit"]
    assert "Alice Amaral" in str(outcome.sentence)


def test_an_edit_rests_on_a_field_it_does_not_write() -> None:
    """A discount decided for one amount is not written under another."""
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="900")

    outcome = gate.commit(wish("opportunity.edit", deal, "amount", by=cast.bob(), decision="10 % off is fine"))

    assert outcome.result is Result.CONFLICT
    assert now(deal).decision == ""


def test_a_field_that_moved_and_came_back_voids_nothing() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="900")
    cast.propose("opportunity.edit", now(deal), by=cast.alice(), amount="100")

    outcome = gate.commit(wish("opportunity.edit", deal, "amount", by=cast.bob(), decision="10 % off is fine"))

    assert outcome.result is Result.REBASED


def test_an_aspect_that_moved_and_came_back_does_void() -> None:
    """Of fields the value counts; of a timeline, that something happened."""
    deal = cast.deal()
    made = cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Visit", due_on=cast.MONDAY)
    cast.propose("opportunity.cancel_task", now(deal), by=cast.alice(), task=made.created["crm.task"])

    outcome = gate.commit(wish("opportunity.plan_task", deal, "tasks", by=cast.AGENT, title="Call"))

    assert outcome.result is Result.CONFLICT


def test_another_subject_of_the_basis_counts_as_much_as_the_one_written() -> None:
    """The deal stood still; the contact withdrew. The decision rested on both."""
    deal, rui = cast.deal(), cast.contact()
    asked = wish(
        "opportunity.plan_task",
        deal,
        by=cast.AGENT,
        also=(Read.of(rui, "blocked", "consents"),),
        title="Call Rui",
        kind="call",
    )
    cast.propose("contact.state_consent", rui, by=cast.alice(), channel="phone", status="refused", source="by mail")

    outcome = gate.commit(asked)

    assert outcome.result is Result.CONFLICT
    assert now(deal).version == deal.version


def test_another_subject_that_moved_elsewhere_voids_nothing_and_is_told() -> None:
    deal, rui = cast.deal(), cast.contact()
    asked = wish(
        "opportunity.plan_task", deal, by=cast.AGENT, also=(Read.of(rui, "blocked", "consents"),), title="Call Rui"
    )
    cast.propose("contact.edit", rui, by=cast.alice(), job_title="Buyer")

    outcome = gate.commit(asked)

    assert outcome.result is Result.REBASED
    assert [(str(c.subject), c.aspect) for c in outcome.moved] == [(f"crm.contact:{rui.pk}", "job_title")]


def test_the_contacts_owner_is_not_the_deals_owner() -> None:
    """Two subjects of one basis have fields of one name."""
    deal, rui = cast.deal(), cast.contact()
    asked = wish(
        "opportunity.follow_up",
        deal,
        "owner",
        by=cast.AGENT,
        also=(Read.of(rui, "blocked"),),
        title="Call Rui",
        due_on=cast.TUESDAY,
    )
    cast.propose("contact.edit", rui, by=cast.alice(), owner=cast.bob().pk)

    assert gate.commit(asked).result is Result.REBASED


def test_a_basis_that_names_a_row_which_never_was_is_refused() -> None:
    deal, rui = cast.deal(), cast.contact()
    ghost = Read.of(rui, "blocked")
    gone = type(ghost)(subject=ghost.subject._replace(pk=10**9), version=1)

    outcome = gate.commit(wish("opportunity.plan_task", deal, by=cast.AGENT, also=(gone,), title="Call"))

    assert outcome.result is Result.REFUSED
    assert outcome.sentence is not None
    assert outcome.sentence.code == "gone"
    assert outcome.record is not None
    assert Contact.objects.count() == 1


def test_without_the_read_set_the_second_follow_up_would_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: read-set comparison removed."""
    honest = judging.look

    def blind(work: object) -> set[str]:
        honest(work)  # type: ignore[arg-type]
        return set()

    monkeypatch.setattr(judging, "look", blind)
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Visit", due_on=cast.MONDAY)

    gate.commit(wish("opportunity.plan_task", deal, "tasks", by=cast.AGENT, title="Call", due_on=cast.TUESDAY))

    assert now(deal).tasks.count() == 2
