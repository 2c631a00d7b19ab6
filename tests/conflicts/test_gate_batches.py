"""commit_many: the same six questions of many subjects in one transaction; one bad subject never stops the others."""

from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal
from crm.models import Company, Opportunity, Task
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db


def deals(count: int) -> list[Opportunity]:
    return [cast.deal(f"Deal {number}", amount="100") for number in range(count)]


def test_outcomes_come_in_the_order_of_the_proposals() -> None:
    found = deals(4)
    asked = [wish("opportunity.edit", deal, by=cast.alice(), decision=deal.name) for deal in reversed(found)]

    outcomes = gate.commit_many(asked)

    assert [outcome.subject for outcome in outcomes] == [proposal.subject for proposal in asked]
    assert {now(deal).decision for deal in found} == {deal.name for deal in found}


def test_one_that_moved_one_that_is_gone_and_one_forbidden_stop_nobody() -> None:
    fine, moved, foreign, also_fine = deals(4)
    cast.propose("opportunity.edit", moved, by=cast.bob(), amount="110")
    cast.propose("opportunity.edit", foreign, by=cast.administrator(), owner=cast.charlie().pk)
    ghost = Opportunity(pk=10**9, version=1)

    outcomes = gate.commit_many(
        [
            wish("opportunity.edit", deal, by=cast.alice(), amount="120")
            for deal in (fine, moved, ghost, now(foreign), also_fine)
        ]
    )

    assert [outcome.result for outcome in outcomes] == [
        Result.APPLIED,
        Result.CONFLICT,
        Result.REFUSED,
        Result.REFUSED,
        Result.APPLIED,
    ]
    assert [str(now(deal).amount) for deal in (fine, moved, also_fine)] == ["120.00", "110.00", "120.00"]


def test_one_that_only_the_database_refuses_stops_nobody() -> None:
    """Found by halving: the amount breaks a constraint that no check of ours foresees."""
    names = [f"Company {number}" for number in range(7)]
    asked = [wish("company.create", by=cast.alice(), name=name) for name in names]
    asked.insert(3, wish("company.create", by=cast.alice(), name="company  2"))

    outcomes = gate.commit_many(asked)

    assert [outcome.written for outcome in outcomes] == [True] * 3 + [False] + [True] * 4
    assert outcomes[3].result in (Result.CONFLICT, Result.REFUSED)
    assert outcomes[3].record is not None
    assert Company.objects.count() == 7


def test_two_wishes_for_one_subject_are_taken_one_after_the_other() -> None:
    [deal] = deals(1)
    outcomes = gate.commit_many(
        [
            wish("opportunity.edit", deal, by=cast.alice(), amount="110"),
            wish("opportunity.edit", deal, by=cast.alice(), decision="Rui"),
            wish("opportunity.edit", deal, by=cast.alice(), amount="120"),
        ]
    )
    assert [outcome.result for outcome in outcomes] == [Result.APPLIED, Result.REBASED, Result.CONFLICT]
    assert now(deal).version == deal.version + 2


def test_each_author_signs_for_what_is_theirs() -> None:
    one, two, three = deals(3)
    gate.commit_many(
        [
            wish("opportunity.edit", one, by=cast.alice(), decision="a"),
            wish("opportunity.edit", two, by=cast.bob(), decision="b"),
            wish("opportunity.edit", three, by=cast.AGENT, decision="c"),
        ]
    )
    assert [now(deal).author.name for deal in (one, two, three)] == ["Alice Amaral", "Bob Borges", "Follow-up agent"]


def test_settle_is_told_of_every_one() -> None:
    found, told = deals(3), []

    def settle(done: Sequence[tuple[Proposal, Outcome]]) -> None:
        told.extend(done)

    asked = [wish("opportunity.edit", deal, by=cast.alice(), decision="x") for deal in found]
    outcomes = gate.commit_many(asked, settle=settle)
    assert told == list(zip(asked, outcomes, strict=True))


def test_no_proposal_is_no_work() -> None:
    assert gate.commit_many([]) == []


def test_a_batch_asks_the_database_no_more_often_than_a_single_one() -> None:
    """What makes a sweep fast: the statements do not grow with the subjects."""

    def statements(count: int) -> int:
        found = deals(count)
        asked = [
            wish("opportunity.follow_up", deal, "tasks", by=cast.AGENT, title="Call", due_on=cast.TUESDAY)
            for deal in found
        ]
        with CaptureQueriesContext(
            connection,
        ) as captured:
            outcomes = gate.commit_many(asked)
        assert all(outcome.written for outcome in outcomes)
        return len(captured)

    assert statements(20) <= statements(2)
    assert Task.objects.count() == 22
    assert not Conflict.objects.exists()
