"""Question 6: all of it in one transaction. What one part refuses, no other part keeps."""

from collections.abc import Sequence

import pytest
from django.db import DataError, connection, transaction

from conflicts import gate, writing
from conflicts.models import Conflict, LedgerEntry
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal
from conflicts.signals import committed
from crm.models import Activity, Opportunity, Task, Team
from tests import cast
from tests.conflicts.wishes import now, wish
from tests.races.threads import in_a_thread

pytestmark = pytest.mark.django_db(transaction=True)


def test_settle_sees_the_outcome_and_commits_with_it() -> None:
    deal, seen = cast.deal(), []

    def settle(done: Sequence[tuple[Proposal, Outcome]]) -> None:
        seen.extend(outcome for _, outcome in done)
        Team.objects.create(name="made by settle")

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.alice(), decision="Rui"), settle=settle)

    assert seen == [outcome]
    assert Team.objects.filter(name="made by settle").exists()


def test_when_settle_fails_nothing_is_written() -> None:
    deal = cast.deal()

    def settle(done: Sequence[tuple[Proposal, Outcome]]) -> None:
        assert now(deal).decision == "Rui"  # written by now, in this transaction
        raise RuntimeError("the recommendation has moved")

    with pytest.raises(RuntimeError):
        gate.commit(wish("opportunity.edit", deal, by=cast.alice(), key="k", decision="Rui"), settle=settle)

    assert (now(deal).decision, now(deal).version) == ("", deal.version)
    assert not LedgerEntry.objects.exists()


@pytest.mark.parametrize("broken", ["conflicts.ledger.write", "conflicts.gate._announce"])
def test_when_a_later_part_fails_no_earlier_part_stays(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("the power went")

    deal = cast.deal()
    monkeypatch.setattr(broken, fail)

    with pytest.raises(RuntimeError):
        gate.commit(wish("opportunity.plan_task", deal, by=cast.alice(), key="k", title="Call"))

    assert now(deal).version == deal.version
    assert not Task.objects.exists()
    assert not LedgerEntry.objects.exists()


def test_a_check_that_refuses_leaves_the_record_and_nothing_else() -> None:
    deal = cast.deal()
    outcome = gate.commit(wish("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Lost").pk))

    assert outcome.result is Result.REFUSED
    assert now(deal).version == deal.version
    assert not Activity.objects.exists()
    assert Conflict.objects.count() == 1


def test_the_signal_is_sent_after_the_commit_and_never_for_a_refusal() -> None:
    deal, heard = cast.deal(), []

    def listen(sender: object, commits: Sequence[object], **kwargs: object) -> None:
        heard.append((connection.in_atomic_block, [tuple(c.aspects) for c in commits]))  # type: ignore[attr-defined]

    committed.connect(listen)
    try:
        gate.commit(wish("opportunity.edit", deal, by=cast.alice(), amount="10"))
        gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="20"))
    finally:
        committed.disconnect(listen)

    assert heard == [(False, [("amount",)])]


def test_a_listener_that_fails_costs_nobody_the_write() -> None:
    def listen(sender: object, **kwargs: object) -> None:
        raise RuntimeError("a screen went away")

    committed.connect(listen)
    try:
        outcome = gate.commit(wish("opportunity.edit", cast.deal(), by=cast.alice(), amount="10"))
    finally:
        committed.disconnect(listen)
    assert outcome.result is Result.APPLIED


def test_a_row_that_somebody_holds_is_busy_and_says_so() -> None:
    """The lock times out; the caller gets an outcome with its record, not a stack trace."""
    deal = cast.deal()
    with transaction.atomic():
        Opportunity.objects.select_for_update().get(pk=deal.pk)
        outcome = in_a_thread(lambda: hurried(wish("opportunity.edit", deal, by=cast.bob(), amount="10")))

    assert outcome.result is Result.CONFLICT
    assert outcome.sentence is not None
    assert outcome.sentence.code == "busy"
    assert Conflict.objects.get(pk=outcome.record).rule == "busy"
    assert now(deal).version == deal.version


def test_a_busy_answer_is_no_answer_for_ever() -> None:
    """No ledger entry: the same wish under the same key goes through once the row is free."""
    deal = cast.deal()
    edit = wish("opportunity.edit", deal, by=cast.bob(), key="k", amount="10")
    with transaction.atomic():
        Opportunity.objects.select_for_update().get(pk=deal.pk)
        in_a_thread(lambda: hurried(edit))

    assert gate.commit(edit).result is Result.APPLIED


def hurried(proposal: Proposal) -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
    return gate.commit(proposal)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_stricter_isolation_level_is_a_conflict_and_no_error(level: str) -> None:
    """Serialization failure 40001 where an installation has set one."""
    deal = cast.deal(amount="100")

    def strict() -> Outcome:
        with connection.cursor() as cursor:
            cursor.execute(f"SET default_transaction_isolation = '{level.lower()}'")
        return gate.commit(wish("opportunity.edit", deal, by=cast.bob(), decision="Rui"))

    honest = gate._open

    def late(proposals: Sequence[Proposal]) -> object:
        # Between the snapshot of the transaction and its first lock, Alice commits.
        Opportunity.objects.filter(pk=deal.pk).exists()
        patch.undo()
        in_a_thread(lambda: cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110"))
        return honest(proposals)

    patch = pytest.MonkeyPatch()
    patch.setattr(gate, "_open", late)
    try:
        outcome = in_a_thread(strict)
    finally:
        patch.undo()

    assert outcome.result is Result.CONFLICT
    assert outcome.sentence is not None
    assert outcome.sentence.code == "busy"
    assert str(now(deal).amount) == "110.00"


def test_a_row_that_was_not_as_locked_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line: the compare-and-swap in the UPDATE itself, which a correct gate never reaches."""
    deal = cast.deal(amount="100")
    honest = writing.write

    def meddle(works: Sequence[object]) -> None:
        for work in works:
            work.subject.version -= 1  # type: ignore[attr-defined]
        honest(works)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "write", meddle)
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.alice(), amount="120"))

    assert outcome.result is Result.CONFLICT
    assert str(now(deal).amount) == "100.00"


def test_an_error_that_is_no_race_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(works: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")

    asked = wish("opportunity.edit", cast.deal(), by=cast.alice(), amount="120")
    monkeypatch.setattr(writing, "write", fail)
    with pytest.raises(DataError, match="division by zero"):
        gate.commit(asked)
