"""Mutation checks: each protection is taken out in turn, and the race that it wins is then lost.

If one of these fails, the protection is not needed, or the race test beside it proves nothing.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection

from conflicts import gate, judging, reading, writing
from conflicts.models import Conflict
from conflicts.outcomes import Outcome
from crm.models import Opportunity, Task, User
from tests import cast
from tests.conflicts.samples import execute
from tests.conflicts.wishes import now, wish, without_ledger
from tests.races.threads import Meeting, results, together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are read without a lock, and both threads have read before either writes."""
    honest = reading.Rows.__init__

    def without_lock(self: Any, *args: Any, lock: bool = False, **kwargs: Any) -> None:
        honest(self, *args, **kwargs)

    monkeypatch.setattr(reading.Rows, "__init__", without_lock)
    monkeypatch.setattr(gate, "_open", Meeting(2).after(gate._open))


@pytest.fixture
def uncompared(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The UPDATE does not compare the version, and neither does the database's guard (it only stamps)."""
    honest = writing._update_sql

    def blind(model: Any, names: Any, *, versioned: bool) -> str:
        return honest(model, names, versioned=versioned).replace(" AND version = %s", " AND %s > 0")

    monkeypatch.setattr(writing, "_update_sql", blind)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_functiondef(tgfoid) FROM pg_trigger WHERE tgrelid = 'crm_opportunity'::regclass"
            " AND tgname LIKE 'pgtrigger_guard_%'"
        )
        (function,) = cursor.fetchone()
    comparison = "NEW.version IS DISTINCT FROM OLD.version + 1"
    assert comparison in function
    execute(function.replace(comparison, "false"))
    yield
    execute(function)


def edit(deal: Opportunity, by: User, amount: str) -> Outcome:
    return gate.commit(wish("opportunity.edit", deal, by=by, amount=amount))


def race_of_two_amounts() -> tuple[Opportunity, list[Outcome]]:
    deal, alice, bob = cast.deal(amount="100"), cast.alice(), cast.bob()
    return deal, together(lambda: edit(deal, alice, "110"), lambda: edit(deal, bob, "120"))


def race_of_two_follow_ups() -> list[Outcome]:
    deal = cast.deal()

    def plan(title: str) -> Outcome:
        return gate.commit(
            wish("opportunity.follow_up", deal, "tasks", by=cast.AGENT, title=title, due_on=cast.TUESDAY)
        )

    return together(lambda: plan("Call"), lambda: plan("Write"))


def test_with_everything_in_place_one_amount_is_kept_and_the_other_is_asked_about() -> None:
    deal, outcomes = race_of_two_amounts()
    assert results(outcomes) == ["applied", "conflict"]
    assert now(deal).version == deal.version + 1


@pytest.mark.usefixtures("unlocked", "uncompared")
def test_without_lock_and_comparison_both_are_told_done_and_one_amount_is_lost() -> None:
    """The naive way: read, think, write. Two acknowledged edits, one left, and no record that there was another."""
    deal, outcomes = race_of_two_amounts()

    assert results(outcomes) == ["applied", "applied"]
    assert str(now(deal).amount) in ("110.00", "120.00")
    assert not Conflict.objects.exists()


@pytest.mark.usefixtures("unlocked", "uncompared")
def test_without_lock_and_comparison_two_agents_make_two_follow_ups() -> None:
    outcomes = race_of_two_follow_ups()
    assert results(outcomes) == ["applied", "applied"]
    assert Task.objects.count() == 2


@pytest.mark.usefixtures("unlocked")
def test_without_the_lock_alone_the_comparison_in_the_write_still_holds() -> None:
    """The second line: a compare-and-swap that found another version writes nothing, and says so."""
    deal, outcomes = race_of_two_amounts()
    assert results(outcomes) == ["applied", "conflict"]
    assert now(deal).version == deal.version + 1


@pytest.mark.usefixtures("unlocked")
def test_without_the_lock_alone_two_agents_still_make_one_follow_up() -> None:
    outcomes = race_of_two_follow_ups()
    assert results(outcomes) == ["applied", "conflict"]
    assert Task.objects.count() == 1


@pytest.mark.usefixtures("uncompared")
def test_without_the_comparison_alone_the_lock_still_holds() -> None:
    """The first line: the second finds what the first has written, and asks."""
    _, outcomes = race_of_two_amounts()
    assert results(outcomes) == ["applied", "conflict"]


def test_without_the_ledger_two_workers_do_the_same_work_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    without_ledger(monkeypatch)
    deal = cast.deal()
    note = wish("opportunity.log", deal, by=cast.AGENT, key="turn-1", kind="mail", text="Sent the offer")

    together(lambda: gate.commit(note), lambda: gate.commit(note))

    assert now(deal).activities.count() == 2


def test_without_the_read_set_an_agent_plans_beside_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "look", lambda work: set())
    deal, alice = cast.deal(), cast.alice()
    outcomes = together(
        lambda: gate.commit(wish("opportunity.plan_task", deal, "tasks", by=cast.AGENT, title="Call")),
        lambda: gate.commit(wish("opportunity.plan_task", deal, "tasks", by=alice, title="Visit")),
    )
    assert results(outcomes) == ["applied", "applied"]
    assert Task.objects.count() == 2


def test_with_locks_in_the_order_of_asking_two_batches_wait_in_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ascending order taken out: each batch locks its first row, then wants the other's."""
    one, two, alice, bob = cast.deal("One"), cast.deal("Two"), cast.alice(), cast.bob()
    meeting, honest = Meeting(2), gate._open

    def in_order_of_asking(pairs: Sequence[Any]) -> Any:
        for number, (proposal, _) in enumerate(pairs):
            Opportunity.objects.select_for_update().get(pk=proposal.subject.pk)
            if number == 0:
                meeting.wait()
        return honest(pairs)

    monkeypatch.setattr(gate, "_open", in_order_of_asking)

    def batch(by: User, *deals: Opportunity) -> list[Outcome]:
        execute("SET deadlock_timeout = '20ms'")
        return gate.commit_many([wish("opportunity.edit", deal, by=by, decision=by.username) for deal in deals])

    there, back = together(lambda: batch(alice, one, two), lambda: batch(bob, two, one))

    assert [o.sentence.code for o in [*there, *back] if o.sentence] != []
    assert not all(outcome.written for outcome in [*there, *back])
