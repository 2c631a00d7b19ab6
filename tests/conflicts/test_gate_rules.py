"""Question 5: do the rules hold now? The action's own check, on the locked state in force. And who may ask at all."""

import pytest

from conflicts import gate
from conflicts.actors import integration
from conflicts.models import Conflict
from conflicts.outcomes import Result
from conflicts.proposals import Read
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db


def lose(deal: object) -> None:
    outcome = cast.propose(
        "opportunity.move",
        deal,  # type: ignore[arg-type]
        by=cast.alice(),
        stage=cast.stage("Lost").pk,
        reason="price",
    )
    assert outcome.written, outcome


def test_a_deal_that_was_closed_meanwhile_gets_no_task() -> None:
    deal = cast.deal()
    lose(deal)

    outcome = gate.commit(
        wish("opportunity.follow_up", deal, "status", by=cast.AGENT, title="Call", due_on=cast.TUESDAY)
    )

    assert outcome.result is Result.REFUSED
    assert outcome.state == "terminal_state_found"
    assert now(deal).tasks.count() == 0


def test_a_goal_that_is_met_already_is_superseded_with_who_met_it() -> None:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Visit", due_on=cast.MONDAY)

    outcome = gate.commit(
        wish("opportunity.follow_up", deal, "tasks", by=cast.AGENT, title="Call", due_on=cast.TUESDAY)
    )

    assert outcome.result is Result.SUPERSEDED
    assert "Alice Amaral" in str(outcome.sentence)
    assert "Visit" in str(outcome.sentence)
    record = Conflict.objects.get(pk=outcome.record)
    assert record.closed_at is not None
    assert record.not_done is not None
    assert "nobody was contacted" in str(record.not_done)


def test_a_stage_that_forbids_contact_forbids_it_to_the_agent() -> None:
    deal = cast.deal()
    cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Negotiation").pk)
    outcome = gate.commit(
        wish("opportunity.follow_up", now(deal), by=cast.AGENT, title="Call", kind="call", due_on=cast.TUESDAY)
    )
    assert outcome.result is Result.REFUSED
    assert outcome.sentence is not None
    assert outcome.sentence.code == "stage_forbids_contact"


@pytest.mark.parametrize(("channel", "kind"), [("phone", "call"), ("email", "mail")])
def test_a_refused_channel_is_not_used_and_the_other_may_be(channel: str, kind: str) -> None:
    deal, rui = cast.deal(), cast.contact()
    cast.propose("contact.state_consent", rui, by=cast.alice(), channel=channel, status="refused", source="by mail")
    rui.refresh_from_db()
    outcomes = {}
    for wanted in ("call", "mail"):
        outcomes[wanted] = gate.commit(
            wish(
                "opportunity.follow_up",
                now(deal),
                by=cast.AGENT,
                also=(Read.of(rui, "consents"),),
                title="Reach Rui",
                kind=wanted,
                due_on=cast.TUESDAY,
            )
        )
        if outcomes[wanted].written:
            task = outcomes[wanted].created["crm.task"]
            cast.propose("opportunity.cancel_task", now(deal), by=cast.alice(), task=task)
    assert {wanted for wanted, outcome in outcomes.items() if outcome.written} == {"call", "mail"} - {kind}
    refused = outcomes[kind].sentence
    assert refused is not None
    assert refused.code == "consent_refused"


def test_a_blocked_contact_is_not_reached_at_all() -> None:
    deal, rui = cast.deal(), cast.contact(blocked=True)
    outcome = gate.commit(
        wish(
            "opportunity.follow_up",
            deal,
            by=cast.AGENT,
            also=(Read.of(rui, "blocked"),),
            title="Call",
            kind="call",
            due_on=cast.TUESDAY,
        )
    )
    assert outcome.result is Result.REFUSED
    assert "must not be contacted" in str(outcome.sentence)


def test_an_agent_never_closes_a_deal() -> None:
    deal = cast.deal()
    outcome = gate.commit(wish("opportunity.move", deal, by=cast.AGENT, stage=cast.stage("Won").pk))
    assert outcome.result is Result.REFUSED
    assert now(deal).is_open


def test_a_lost_deal_needs_a_reason() -> None:
    deal = cast.deal()
    outcome = gate.commit(wish("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Lost").pk))
    assert outcome.result is Result.REFUSED
    assert now(deal).is_open


@pytest.mark.parametrize(
    ("action", "more"),
    [
        ("complete_task", {}),
        ("cancel_task", {}),
        ("reschedule_task", {"due_on": "2031-06-12"}),
        ("reassign_task", {"owner": "alice"}),
    ],
)
def test_a_task_that_a_person_took_is_ended_moved_or_given_on_by_no_agent(action: str, more: dict[str, str]) -> None:
    deal = cast.deal()
    made = cast.propose("opportunity.plan_task", deal, by=cast.AGENT, title="Call", due_on=cast.MONDAY)
    task = made.created["crm.task"]
    cast.propose("opportunity.claim_task", now(deal), by=cast.bob(), task=task)
    params = {**more, "owner": cast.alice().pk} if "owner" in more else more

    outcome = gate.commit(wish(f"opportunity.{action}", now(deal), by=cast.AGENT, task=task, **params))

    assert outcome.result is Result.REFUSED
    assert outcome.state == "manual_action_detected"


def test_what_a_person_took_and_ended_no_agent_opens_again_and_no_agent_takes_a_task() -> None:
    deal = cast.deal()
    made = cast.propose("opportunity.plan_task", deal, by=cast.AGENT, title="Call", due_on=cast.MONDAY)
    task = made.created["crm.task"]
    outcome = gate.commit(wish("opportunity.claim_task", now(deal), by=cast.AGENT, task=task))
    assert (outcome.result, outcome.sentence and outcome.sentence.code) == (Result.REFUSED, "task_for_people")

    for action in ("claim_task", "complete_task"):
        assert cast.propose(f"opportunity.{action}", now(deal), by=cast.bob(), task=task).written
    outcome = gate.commit(wish("opportunity.reopen_task", now(deal), by=cast.AGENT, task=task))
    assert (outcome.result, outcome.state) == (Result.REFUSED, "manual_action_detected")


def test_a_task_that_somebody_completed_meanwhile_is_superseded() -> None:
    deal = cast.deal()
    made = cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.MONDAY)
    seen, task = now(deal), made.created["crm.task"]
    cast.propose("opportunity.complete_task", seen, by=cast.bob(), task=task)

    outcome = gate.commit(wish("opportunity.complete_task", seen, by=cast.alice(), task=task))

    assert outcome.result is Result.SUPERSEDED
    assert "Bob Borges" in str(outcome.sentence)


def test_a_task_of_another_deal_is_not_touched() -> None:
    deal, other = cast.deal("One"), cast.deal("Other")
    made = cast.propose("opportunity.plan_task", other, by=cast.alice(), title="Call", due_on=cast.MONDAY)

    outcome = gate.commit(wish("opportunity.complete_task", deal, by=cast.alice(), task=made.created["crm.task"]))

    assert outcome.result is Result.REFUSED
    assert now(other).tasks.get().state == "open"


# --- who may ask -----------------------------------------------------------------------------------------------------


def test_charlie_of_another_team_changes_nothing_of_alices_deal() -> None:
    deal = cast.deal(amount="100")
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.charlie(), amount="1"))
    assert outcome.result is Result.REFUSED
    assert outcome.sentence is not None
    assert outcome.sentence.code == "other_team"
    assert str(now(deal).amount) == "100.00"


def test_a_closed_account_changes_nothing() -> None:
    deal, alice = cast.deal(), cast.alice()
    alice.is_active = False
    outcome = gate.commit(wish("opportunity.edit", deal, by=alice, amount="1"))
    assert outcome.result is Result.REFUSED
    assert outcome.sentence is not None
    assert outcome.sentence.code == "not_active"


def test_the_catalogue_belongs_to_managers() -> None:
    make = {"name": "PT-1000", "currency": "BRL"}
    assert gate.commit(wish("product.create", by=cast.alice(), **make)).result is Result.REFUSED
    assert gate.commit(wish("product.create", by=cast.manager(), **make)).result is Result.APPLIED


def test_an_integration_acts_for_the_whole_workspace() -> None:
    deal = cast.deal()
    outcome = gate.commit(wish("opportunity.edit", deal, by=integration("import", "Import"), amount="1"))
    assert outcome.result is Result.APPLIED


def test_permission_is_asked_before_anything_of_the_deal_is_told() -> None:
    """What moved, and who moved it, is not for somebody who may see nothing."""
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.charlie(), amount="120"))
    assert outcome.result is Result.REFUSED
    assert (outcome.moved, outcome.differences) == ((), ())
