"""two_workers_same_version: two workers read one version and both act. One effect; the other knows who was first."""

import pytest

from conflicts import gate
from conflicts.models import Conflict, LedgerEntry
from conflicts.outcomes import Outcome, Result
from crm.models import Company, Task
from tests import cast
from tests.conflicts.wishes import now, wish
from tests.races.threads import Meeting, results, together

pytestmark = pytest.mark.django_db(transaction=True)


def follow_up(deal: object, title: str, key: str = "") -> Outcome:
    return gate.commit(
        wish(
            "opportunity.follow_up",
            deal,  # type: ignore[arg-type]
            "tasks",
            "next_step_on",
            by=cast.AGENT,
            key=key,
            title=title,
            due_on=cast.TUESDAY,
        )
    )


def test_two_agents_that_each_saw_no_follow_up_make_one() -> None:
    deal = cast.deal()
    first, second = now(deal), now(deal)

    outcomes = together(lambda: follow_up(first, "Call"), lambda: follow_up(second, "Write"))

    assert results(outcomes) == ["applied", "superseded"]
    winner = next(outcome for outcome in outcomes if outcome.written)
    loser = next(outcome for outcome in outcomes if not outcome.written)
    assert Task.objects.get().pk == winner.created["crm.task"]
    assert now(deal).version == deal.version + 1 == winner.version
    record = Conflict.objects.get(pk=loser.record)
    assert (record.version_read, record.version_found) == (deal.version, winner.version)
    assert record.overtaken_by is not None
    assert record.overtaken_by.same_as(cast.AGENT)


def test_the_same_work_done_by_two_workers_is_done_once_and_answered_twice() -> None:
    deal = cast.deal()
    outcomes = together(*[lambda: follow_up(deal, "Call", key="sweep-7:deal-1")] * 4)

    assert results(outcomes) == ["applied", "duplicate", "duplicate", "duplicate"]
    assert len({outcome.settled.created["crm.task"] for outcome in outcomes}) == 1
    assert Task.objects.count() == LedgerEntry.objects.count() == 1


def test_a_creation_under_one_key_happens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row to lock: both find the key unused, and the unique key decides. Neither gets an error."""
    make = wish("company.create", by=cast.alice(), key="row-17", name="Cold Chain Ltd")
    monkeypatch.setattr(gate, "_open", Meeting(2).after(gate._open))

    outcomes = together(lambda: gate.commit(make), lambda: gate.commit(make))

    assert results(outcomes) == ["applied", "duplicate"]
    assert outcomes[0].settled.subject == outcomes[1].settled.subject
    assert Company.objects.count() == LedgerEntry.objects.count() == 1
    assert not Conflict.objects.exists()


def test_two_who_make_the_same_company_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key of their own: one is told in words that it is there already."""
    monkeypatch.setattr(gate, "_open", Meeting(2).after(gate._open))
    alice, bob = cast.alice(), cast.bob()

    outcomes = together(
        lambda: gate.commit(wish("company.create", by=alice, name="Cold Chain Ltd")),
        lambda: gate.commit(wish("company.create", by=bob, name="COLD CHAIN LTD")),
    )

    assert results(outcomes) == ["applied", "refused"]
    refused = next(outcome for outcome in outcomes if outcome.result is Result.REFUSED)
    assert refused.sentence is not None
    assert refused.sentence.code == "company_exists"
    assert Company.objects.count() == 1


def test_one_key_with_two_contents_at_the_same_moment_has_one_effect() -> None:
    deal = cast.deal()
    outcomes = together(lambda: follow_up(deal, "Call", key="k"), lambda: follow_up(deal, "Write", key="k"))

    assert results(outcomes) == ["applied", "refused"]
    assert Task.objects.count() == 1
