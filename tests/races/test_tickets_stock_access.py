"""Tickets, stock and access with real threads on real rows: one has it, and the others are told by whom."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import Sum

from conflicts import actions, gate
from conflicts.models import Conflict, LedgerEntry
from conflicts.outcomes import Outcome, Result
from crm import tickets
from crm.actions import stock
from crm.models import AccessRequest, Opportunity, Reservation, StockItem, Ticket, User
from crm.models.ticket import TicketState
from crm.tickets import Taken, take_next
from tests import cast, papers
from tests.conflicts.wishes import wish
from tests.governed import ask, item, reserve, soon, ticket
from tests.races.threads import Meeting, in_a_thread, results, together

pytestmark = pytest.mark.django_db(transaction=True)


# --- tickets ----------------------------------------------------------------------------------------------------------


def test_two_who_press_take_the_next_one_at_once_get_two_different_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ticket("First"), ticket("Second")
    alice, bob = cast.alice(), cast.bob()
    monkeypatch.setattr(tickets, "_first_free", Meeting(2).after(tickets._first_free))  # both have read the first

    taken = together(lambda: take_next(alice), lambda: take_next(bob))

    assert {one.ticket for one in taken} == {first, second}
    assert sorted(len(one.passed) for one in taken) == [0, 1]
    [lost] = [outcome for one in taken for outcome in one.passed]
    assert lost.result is Result.SUPERSEDED
    assert "has taken this ticket first" in str(lost.sentence)
    assert Conflict.objects.get(pk=lost.record).closed_at is not None, "nobody has to decide this"


def test_eight_who_press_at_once_get_the_five_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        ticket(f"Ticket {number}")
    people = [cast.user(f"p{n}", f"Person {n}", "X", of=cast.team()) for n in range(8)]
    monkeypatch.setattr(tickets, "_first_free", Meeting(8).after(tickets._first_free))

    def press(user: User) -> Taken:
        return take_next(user)

    taken = together(*[lambda user=user: press(user) for user in people])

    got = [one.ticket for one in taken if one.ticket]
    assert len(got) == len(set(got)) == 5
    assert Ticket.objects.values("claimed_by").distinct().count() == 5


def test_a_double_click_at_the_same_moment_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ticket("First")
    ticket("Second")
    alice = cast.alice()
    monkeypatch.setattr(tickets, "_first_free", Meeting(2).after(tickets._first_free))

    taken = together(lambda: take_next(alice, key="form"), lambda: take_next(alice, key="form"))

    assert taken[0].ticket == taken[1].ticket
    assert Ticket.objects.filter(claimed_by=alice).count() == LedgerEntry.objects.count() == 1


def test_of_two_who_take_the_same_one_has_it_and_the_other_is_told_by_whom() -> None:
    read, alice, bob = ticket(), cast.alice(), cast.bob()
    outcomes = together(
        lambda: gate.commit(wish("ticket.claim", read, by=alice)),
        lambda: gate.commit(wish("ticket.claim", read, by=bob)),
    )
    assert results(outcomes) == ["applied", "refused"]
    winner = Ticket.objects.get().claimed_by
    lost = next(outcome for outcome in outcomes if not outcome.written)
    assert str(lost.sentence) == f"{winner} has taken this ticket first. Nothing was written."


@pytest.mark.parametrize("params", [{"state": "closed", "resolution": "Solved"}, {"state": "waiting"}])
def test_an_agent_that_closes_while_a_person_takes_never_closes_what_the_person_has(params: dict[str, str]) -> None:
    read, bob = ticket(), cast.bob()
    outcomes = together(
        lambda: gate.commit(wish("ticket.claim", read, by=bob)),
        lambda: gate.commit(wish("ticket.move", read, by=cast.AGENT, **params)),
    )
    claimed, moved = outcomes
    now = Ticket.objects.get()
    if claimed.written and not moved.written:
        assert (moved.state, now.claimed_by, now.state) == ("manual_action_detected", bob, TicketState.IN_PROGRESS)
        assert "Bob Borges has taken this ticket" in str(moved.sentence)
    elif params["state"] == "closed":
        assert moved.written
        assert not claimed.written, "closed before it was taken"
        assert now.claimed_by is None
    else:
        assert moved.written
        assert now.claimed_by == bob, "it waited when he took it"


def test_an_agent_that_reassigns_a_task_while_a_person_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have read it free; the person's claim is in force before the agent's turn comes."""
    deal, alice, bob = cast.deal(), cast.alice(), cast.bob()
    cast.propose("opportunity.plan_task", deal, by=alice, title="Call")
    read = Opportunity.objects.get(pk=deal.pk)
    task = read.tasks.get()
    outcomes = together(
        lambda: gate.commit(wish("opportunity.claim_task", read, by=bob, task=task.pk)),
        lambda: gate.commit(wish("opportunity.reassign_task", read, by=cast.AGENT, task=task.pk, owner=bob.pk)),
    )
    claimed, given = outcomes
    task.refresh_from_db()
    assert claimed.written
    assert task.claimed_by == bob
    if not given.written:
        assert (given.result, given.state) == (Result.REFUSED, "manual_action_detected")
        assert "Bob Borges has taken this task" in str(given.sentence)
        assert task.owner == alice


# --- stock ------------------------------------------------------------------------------------------------------------


def promise(read: StockItem, deal: Opportunity, by: User) -> Outcome:
    return gate.commit(wish("stock.reserve", read, by=by, quantity=1, opportunity=deal.pk, until=soon()))


def test_of_ten_who_want_the_last_three_exactly_three_have_one() -> None:
    read, deal, alice = item(on_hand=3), cast.deal(), cast.alice()

    outcomes = together(*[lambda: promise(read, deal, alice)] * 10)

    assert results(outcomes) == ["applied", "rebased", "rebased", *["refused"] * 7]
    now = StockItem.objects.get()
    assert (now.held, now.free) == (3, 0)
    assert Reservation.objects.filter(state="held").aggregate(n=Sum("quantity"))["n"] == 3
    assert all(outcome.record for outcome in outcomes if not outcome.written)
    assert now.version == read.version + 3


def test_without_the_rule_the_database_still_promises_no_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: the action's own check taken out. An error is left instead of a sentence, and never a promise."""
    honest = actions.get("stock.reserve")
    monkeypatch.setitem(actions._ACTIONS, "stock.reserve", replace(honest, check=lambda work: None))
    read, deal, alice = item(on_hand=1), cast.deal(), cast.alice()

    def caught() -> str:
        try:
            return promise(read, deal, alice).result.value
        except IntegrityError as error:
            return "too many" if "promised_is_on_hand" in str(error) else str(error)

    assert sorted(together(*[caught] * 4)) == ["applied", "too many", "too many", "too many"]
    assert StockItem.objects.get().held == Reservation.objects.count() == 1


def nobody_else_can_write(table: str, pk: int) -> bool:
    """From another connection: somebody holds the row until they commit."""

    def tried() -> bool:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SELECT id FROM {table} WHERE id = %s FOR NO KEY UPDATE NOWAIT", [pk])
        except OperationalError:
            return True
        return False

    return in_a_thread(tried)


def test_a_contract_and_a_deal_stand_still_while_units_are_promised_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or one who cancels could commit between the look at them and the promise."""
    read, deal, contract, held = item(on_hand=3), cast.deal("Sensors"), papers.contract(), []
    honest = stock.check_until

    def looked(*args: Any) -> None:
        held.extend([
            nobody_else_can_write("crm_contract", contract.pk), nobody_else_can_write("crm_opportunity", deal.pk)
        ])  # fmt: skip
        honest(*args)

    monkeypatch.setattr(stock, "check_until", looked)
    wanted = {"quantity": 1, "contract": contract.pk, "opportunity": deal.pk, "until": soon()}
    assert gate.commit(wish("stock.reserve", read, by=cast.alice(), **wanted)).written
    assert held == [True, True]


def test_of_a_cancelling_and_a_promise_at_once_no_promise_comes_after_the_end() -> None:
    read, contract = item(on_hand=3), papers.contract()
    alice, bob = cast.alice(), cast.bob()
    promised, cancelled = together(
        lambda: gate.commit(wish("stock.reserve", read, by=bob, quantity=1, contract=contract.pk, until=soon())),
        lambda: gate.commit(wish("contract.cancel", contract, by=alice, reason="They chose another")),
    )
    assert cancelled.written
    assert promised.written or "nothing is kept for it" in str(promised.sentence)
    late = gate.commit(
        wish("stock.reserve", StockItem.objects.get(), by=bob, quantity=1, contract=contract.pk, until=soon())
    )
    assert late.result is Result.REFUSED
    assert StockItem.objects.get().held == int(promised.written) == Reservation.objects.count()


def test_giving_back_and_handing_out_at_once_has_one_end() -> None:
    sensors = item(on_hand=3)
    made = reserve(sensors, 2)
    alice, bob = cast.alice(), cast.bob()

    outcomes = together(
        lambda: gate.commit(wish("stock.release", sensors, by=alice, reservation=made.pk)),
        lambda: gate.commit(wish("stock.consume", sensors, by=bob, reservation=made.pk)),
    )

    assert results(outcomes) == ["applied", "refused"]
    now, end = StockItem.objects.get(), Reservation.objects.get().state
    assert (now.held, now.on_hand, end) in [(0, 3, "released"), (0, 1, "consumed")]


def test_counts_at_the_same_moment_are_added_up() -> None:
    read, alice = item(on_hand=10), cast.alice()
    counts = [11, 12, 7, 10, 9]
    together(*[lambda n=n: gate.commit(wish("stock.count", read, by=alice, on_hand=n)) for n in counts])
    assert StockItem.objects.get().on_hand == 10 + 1 + 2 - 3 + 0 - 1


# --- access -----------------------------------------------------------------------------------------------------------


def test_of_two_examiners_at_once_one_decides_and_the_other_is_told_who() -> None:
    read, manager, administrator = ask(), cast.manager(), cast.administrator()
    shown = read.fingerprint

    outcomes = together(
        lambda: gate.commit(wish("access.grant", read, by=manager, fingerprint=shown, expires_at=soon())),
        lambda: gate.commit(wish("access.decline", read, by=administrator, fingerprint=shown, note="Not in July")),
    )

    assert results(outcomes) == ["applied", "refused"]
    now = AccessRequest.objects.get()
    lost = next(outcome for outcome in outcomes if not outcome.written)
    assert str(lost.sentence) == f"{now.decided_by} was first: this is {now.get_state_display()}. Nothing was written."


def test_a_change_of_the_asker_and_a_grant_at_once_never_grant_what_nobody_examined() -> None:
    read, charlie, manager = ask(), cast.charlie(), cast.manager()
    shown = read.fingerprint

    edited, granted = together(
        lambda: gate.commit(wish("access.edit", read, by=charlie, may_change=True)),
        lambda: gate.commit(wish("access.grant", read, by=manager, fingerprint=shown, expires_at=soon())),
    )

    now = AccessRequest.objects.get()
    if granted.written:
        assert edited.result is Result.REFUSED
        assert not now.may_change
    else:
        assert granted.state == "changed_during_approval"
        assert (now.state, now.may_change) == ("asked", True)
