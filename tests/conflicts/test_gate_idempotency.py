"""Question 1: have I done this already? One effect per idempotency key, and the first answer for every repetition."""

import pytest

from conflicts import gate
from conflicts.models import Conflict, LedgerEntry
from conflicts.outcomes import Result
from crm.models import Company, Task
from tests import cast
from tests.conflicts.wishes import now, wish, without_ledger

pytestmark = pytest.mark.django_db


def test_the_same_key_with_the_same_content_gets_the_first_answer_and_no_second_effect() -> None:
    deal = cast.deal()
    plan = wish("opportunity.plan_task", deal, by=cast.alice(), key="plan-1", title="Call Rui", due_on=cast.TUESDAY)

    first = gate.commit(plan)
    again = gate.commit(plan)

    assert (first.result, again.result) == (Result.APPLIED, Result.DUPLICATE)
    assert again.settled == first
    assert again.created == first.created
    assert again.done
    assert not again.written
    assert Task.objects.count() == 1
    assert now(deal).version == deal.version + 1


def test_a_retry_after_others_moved_the_deal_is_still_a_repetition_and_not_stale() -> None:
    """Asked first: after its own success a harmless retry would look stale."""
    deal = cast.deal()
    edit = wish("opportunity.edit", deal, "amount", by=cast.alice(), key="edit-1", amount="10")
    gate.commit(edit)
    cast.propose("opportunity.edit", now(deal), by=cast.bob(), amount="20")

    again = gate.commit(edit)

    assert again.result is Result.DUPLICATE
    assert str(now(deal).amount) == "20.00"
    assert not Conflict.objects.exists()


def test_the_same_key_with_other_content_is_refused() -> None:
    deal = cast.deal()
    gate.commit(wish("opportunity.edit", deal, by=cast.alice(), key="edit-1", amount="10"))

    other = gate.commit(wish("opportunity.edit", now(deal), by=cast.alice(), key="edit-1", amount="99"))

    assert other.result is Result.REFUSED
    assert other.sentence is not None
    assert other.sentence.code == "key_reused"
    assert str(now(deal).amount) == "10.00"


def test_a_reused_key_does_not_replace_the_first_answer() -> None:
    deal = cast.deal()
    edit = wish("opportunity.edit", deal, by=cast.alice(), key="edit-1", amount="10")
    first = gate.commit(edit)
    gate.commit(wish("opportunity.edit", now(deal), by=cast.alice(), key="edit-1", amount="99"))

    assert gate.commit(edit).settled == first


def test_a_creation_is_done_once_per_key() -> None:
    make = wish("company.create", by=cast.alice(), key="row-17", name="Cold Chain Ltd")

    first, again = gate.commit(make), gate.commit(make)

    assert (first.result, again.result) == (Result.APPLIED, Result.DUPLICATE)
    assert again.subject == first.subject is not None
    assert Company.objects.count() == 1


def test_a_refusal_is_an_answer_too() -> None:
    """The agent that asks twice under one key gets one refusal and leaves one record."""
    deal = cast.deal()
    late = wish("opportunity.edit", deal, "amount", by=cast.AGENT, key="agent-1", amount="10")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="20")

    first, again = gate.commit(late), gate.commit(late)

    assert (first.result, again.result) == (Result.CONFLICT, Result.DUPLICATE)
    assert again.settled.result is Result.CONFLICT
    assert again.record == first.record
    assert not again.done
    assert Conflict.objects.count() == 1


def test_without_a_key_every_wish_is_a_new_one() -> None:
    deal = cast.deal()
    for _ in range(2):
        gate.commit(wish("opportunity.log", now(deal), by=cast.alice(), kind="note", text="Same words"))
    assert now(deal).version == deal.version + 2
    assert not LedgerEntry.objects.exists()


def test_the_ledger_names_who_and_what() -> None:
    deal = cast.deal()
    edit = wish("opportunity.edit", deal, by=cast.alice(), key="edit-1", amount="10")
    outcome = gate.commit(edit)

    entry = LedgerEntry.objects.get(key="edit-1")
    assert entry.fingerprint == edit.fingerprint
    assert entry.actor == str(edit.by)
    assert entry.answer == outcome.as_json()


def test_two_wishes_with_one_key_in_one_batch_are_one_effect() -> None:
    deal = cast.deal()
    plan = wish("opportunity.plan_task", deal, by=cast.alice(), key="plan-1", title="Call Rui")

    outcomes = gate.commit_many([plan, plan])

    assert [o.result for o in outcomes] == [Result.APPLIED, Result.DUPLICATE]
    assert Task.objects.count() == 1


def test_without_the_ledger_a_retry_would_happen_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: ledger lookup removed."""
    without_ledger(monkeypatch)
    deal = cast.deal()
    plan = wish("opportunity.plan_task", deal, by=cast.alice(), key="plan-1", title="Call Rui")

    gate.commit(plan)
    gate.commit(plan)

    assert Task.objects.count() == 2
