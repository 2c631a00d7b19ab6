"""person_and_agent: a salesperson changes the deal while the agent prepares a task. The person's change stays."""

import pytest

from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from crm.models import Task
from tests import cast
from tests.conflicts.wishes import now, wish
from tests.races.threads import in_a_thread, together

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_story_of_the_seed() -> None:
    """Version 31; the agent prepares Tuesday; Alice logs a call and sets Monday; the agent's task is not made."""
    deal = cast.at_version(cast.deal(), 31)
    prepared = wish(
        "opportunity.follow_up",
        deal,
        "status",
        "owner",
        "next_step_on",
        "tasks",
        by=cast.AGENT,
        key="recommendation:1:1",
        title="Call about the offer",
        due_on=cast.TUESDAY,
    )
    alice = cast.alice()

    call = in_a_thread(
        lambda: cast.propose(
            "opportunity.log", deal, by=alice, kind="call", next_title="Send the offer", next_on=cast.MONDAY
        )
    )
    late = gate.commit(prepared)

    assert (call.result, call.version) == (Result.APPLIED, 32)
    assert late.result is Result.SUPERSEDED
    found = now(deal)
    assert (found.version, found.next_step, found.next_step_on) == (32, "Send the offer", cast.MONDAY)
    assert [task.title for task in Task.objects.all()] == ["Send the offer"]
    record = Conflict.objects.get(pk=late.record)
    assert (record.version_read, record.version_found, record.closed_at is not None) == (31, 32, True)
    assert record.overtaken_by is not None
    assert record.overtaken_by.name == "Alice Amaral"
    assert "Alice Amaral" in str(record.told)
    assert "nobody was contacted" in str(record.not_done)
    assert gate.commit(prepared).result is Result.DUPLICATE


@pytest.mark.parametrize("attempt", range(3))
def test_at_the_same_moment_there_is_one_next_step_whoever_comes_first(attempt: int) -> None:
    deal, alice = cast.deal(), cast.alice()

    def agent() -> Outcome:
        return gate.commit(
            wish("opportunity.follow_up", deal, "tasks", by=cast.AGENT, title="Call", due_on=cast.TUESDAY)
        )

    def person() -> Outcome:
        return gate.commit(wish("opportunity.plan_task", deal, by=alice, title="Visit", due_on=cast.MONDAY))

    by_agent, by_person = together(agent, person)

    assert by_person.written  # a person's plan is never refused for an agent's
    titles = sorted(Task.objects.values_list("title", flat=True))
    if by_agent.written:  # the agent was first; the person then planned beside it, and it was told
        assert titles == ["Call", "Visit"]
        assert by_person.result is Result.REBASED
    else:
        assert titles == ["Visit"]
        assert by_agent.result is Result.SUPERSEDED
    assert now(deal).next_step == "Visit"


def test_a_bulk_change_of_owners_meets_an_agent_with_the_older_copy() -> None:
    deals = [cast.deal(f"Deal {number}") for number in range(5)]
    prepared = [
        wish("opportunity.follow_up", deal, "owner", by=cast.AGENT, title="Call", due_on=cast.TUESDAY) for deal in deals
    ]
    gate.commit_many([wish("opportunity.edit", deal, by=cast.alice(), owner=cast.bob().pk) for deal in deals[:3]])

    outcomes = gate.commit_many(prepared)

    assert [outcome.written for outcome in outcomes] == [False] * 3 + [True] * 2
    assert all(now(deal).owner_id == cast.bob().pk for deal in deals[:3])
