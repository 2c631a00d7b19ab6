"""Tickets on screen: the list, taking the next one, what may be done with one, and giving a deal's task to somebody."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conflicts.models import Conflict
from crm import lists
from crm.models import Ticket, TicketNote, User
from tests import cast
from tests.crm.deal_pages import signed_in as client
from tests.crm.deal_pages import text, words
from tests.governed import ask, company, grant, ticket

pytestmark = pytest.mark.django_db


def at(name: str, *args: object) -> str:
    return reverse(name, args=args)


def do(who: Client, one: Ticket, verb: str, *, version: int | None = None, **sent: object) -> object:
    return who.post(at("ticket_act", one.pk, verb), {"version": version or one.version, **sent}, follow=True)


def fresh(one: Ticket) -> Ticket:
    return Ticket.objects.get(pk=one.pk)


def test_the_list_shows_what_is_not_closed_the_urgent_first() -> None:
    ticket("Small thing", priority=1)
    ticket("House on fire", priority=4)
    done = ticket("Done long ago")
    cast.propose("ticket.move", done, by=cast.alice(), state="closed", resolution="Gone")
    page = text(client(cast.alice()).get(at("tickets")))
    assert page.index("House on fire") < page.index("Small thing")
    assert "Done long ago" not in page
    assert "Done long ago" in text(client(cast.alice()).get(at("tickets") + "?state=closed"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=fire", {"House on fire"}),
        ("q=cold chain", {"House on fire", "Small thing"}),
        ("priority=4", {"House on fire"}),
        ("assignee=me", {"Small thing"}),
        ("assignee=none", {"House on fire"}),
        ("team=none", set()),
        ("state=moon&priority=x&team=-1&assignee=x", {"House on fire", "Small thing"}),
    ],
)
def test_it_is_searched_and_filtered(query: str, found: set[str]) -> None:
    ticket("House on fire", priority=4)
    ticket("Small thing", assignee=cast.alice().pk)
    page = text(client(cast.alice()).get(f"{at('tickets')}?{query}", headers={"HX-Request": "true"}))
    assert {name for name in ("House on fire", "Small thing") if name in page} == found


def test_the_second_page_begins_where_the_first_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "PAGE", 2)
    for number in range(5):
        ticket(f"Ticket {number}", priority=4 if number == 4 else 2)
    seen: list[str] = []
    address = at("tickets")
    alice = client(cast.alice())
    for _ in range(3):
        answer = alice.get(address)
        page = answer.context["page"]
        seen += [row.name for row in page.rows]
        address = f"{at('tickets')}?after={page.after}"
    assert seen == ["Ticket 4", "Ticket 0", "Ticket 1", "Ticket 2", "Ticket 3"]


def test_pressing_take_the_next_one_leads_to_it_and_twice_is_once() -> None:
    first = ticket("First")
    ticket("Second")
    alice = client(cast.alice())
    for _ in range(2):
        answer = alice.post(at("ticket_next"), {"key": "one-press"})
        assert answer["Location"] == at("ticket", first.pk)
    assert Ticket.objects.filter(claimed_by=cast.alice()).count() == 1


def test_when_everything_has_somebody_the_list_says_so() -> None:
    answer = client(cast.alice()).post(at("ticket_next"), {"key": "k", "team": "x"}, follow=True)
    assert "Nothing is free in this queue." in text(answer)


def test_who_takes_it_second_reads_on_the_page_by_whom_it_was_taken() -> None:
    one = ticket()
    do(client(cast.alice()), one, "take")
    answer = do(client(cast.bob()), one, "take")
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert "Alice Amaral has taken this ticket first." in words(answer)
    assert fresh(one).claimed_by == cast.alice()


def test_an_agents_try_to_close_what_alice_has_is_told_in_its_history() -> None:
    one = ticket()
    do(client(cast.alice()), one, "take")
    cast.propose("ticket.move", fresh(one), by=cast.AGENT, state="closed", resolution="No answer")
    page = text(client(cast.alice()).get(at("ticket", one.pk)))
    assert "An agent cannot move it, close it or give it to somebody else." in page
    assert Conflict.objects.get().state == "manual_action_detected"


def test_closing_wants_a_word_and_keeps_what_was_typed() -> None:
    one = ticket()
    alice = client(cast.alice())
    assert "Say how it ended." in text(do(alice, one, "move", state="closed", resolution=" ", form="close"))
    do(alice, one, "move", state="closed", resolution="New battery", form="close")
    assert fresh(one).resolution == "New battery"


def test_what_the_customer_wrote_after_closing_is_shown_with_a_way_to_open_it_again() -> None:
    one = ticket()
    alice = client(cast.alice())
    do(alice, one, "move", state="closed", resolution="New battery")
    do(alice, fresh(one), "note", text="Silent again", from_customer="1")
    assert fresh(one).state == "closed"
    page = text(alice.get(at("ticket", one.pk)))
    assert "after it was closed" in page
    assert "Open it again" in page
    assert one.name in text(alice.get(at("tickets") + "?state=wrote"))
    do(alice, fresh(one), "reopen", reason="Silent again")
    assert fresh(one).state == "open"


def test_two_who_hand_it_on_to_different_people_settle_it() -> None:
    one = ticket()
    do(client(cast.bob()), one, "assign", assignee=cast.bob().pk, team=cast.team().pk)
    answer = do(client(cast.alice()), one, "assign", assignee=cast.manager().pk, team=cast.team().pk)
    assert answer.status_code == 409  # type: ignore[attr-defined]
    assert "One field to settle" in text(answer)
    assert fresh(one).assignee == cast.bob()


def test_notes_are_written_side_by_side() -> None:
    one = ticket()
    do(client(cast.alice()), one, "note", text="Called them")
    do(client(cast.bob()), one, "note", text="Wrote to them")
    assert set(TicketNote.objects.values_list("text", flat=True)) == {"Called them", "Wrote to them"}


@pytest.mark.parametrize("name", ["ticket", "ticket_parts"])
def test_charlie_finds_no_ticket_of_another_queue(name: str) -> None:
    one = ticket()
    charlie = client(cast.charlie())
    assert charlie.get(at(name, one.pk)).status_code == 404
    assert do(charlie, one, "take").status_code == 404  # type: ignore[attr-defined]
    assert one.name not in text(charlie.get(at("tickets")))


def test_a_new_one_from_a_deal_knows_its_customer_and_its_queue() -> None:
    deal = cast.deal(company=company().pk)
    alice = client(cast.alice())
    page = alice.get(at("ticket_new") + f"?deal={deal.pk}")
    assert company().name in text(page)
    sent = {"name": "Where is it?", "company": company().name, "opportunity": deal.pk, "priority": "3"}
    answer = alice.post(at("ticket_new"), {**sent, "team": cast.team().pk, "key": "k"})
    made = Ticket.objects.get()
    assert answer["Location"] == at("ticket", made.pk)
    assert (made.opportunity, made.company, made.priority) == (deal, company(), 3)
    assert made.name in text(alice.get(at("deal_desk", deal.pk), headers={"HX-Request": "true"}))
    assert made.name in text(alice.get(at("company_desk", company().pk)))


def test_a_new_one_of_nobody_comes_back_with_all_that_was_typed() -> None:
    answer = client(cast.alice()).post(at("ticket_new"), {"name": "Whose?", "priority": "2", "key": "k"})
    assert answer.status_code == 422
    assert "Say whose it is: a company or a contact." in text(answer)
    assert "Whose?" in text(answer)


def test_the_record_page_costs_at_most_fifteen_queries(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    one = ticket()
    for number in range(20):
        cast.propose("ticket.note", fresh(one), by=cast.alice(), text=f"Note {number}")
    alice = client(cast.alice())
    alice.get(at("ticket", one.pk))
    for address in (at("ticket", one.pk), at("tickets")):
        with django_assert_max_num_queries(15):
            assert alice.get(address).status_code == 200


# --- lists that leave the house ---------------------------------------------------------------------------------------


def test_the_list_leaves_the_house_with_whom_it_was_granted_to() -> None:
    ticket("=1+1 is a formula")
    bob = client(cast.bob())
    refused = bob.get(at("tickets") + "?export=csv")
    assert refused.status_code == 403
    assert "Ask for it under Access." in text(refused)
    request = ask(by=cast.bob(), kind="export", team=None)
    assert grant(request, by=cast.administrator()).written
    rows = list(csv.reader(io.StringIO(text(bob.get(at("tickets") + "?export=csv")).removeprefix("\ufeff"))))
    assert len(rows) == 2
    assert rows[1][0] == "'=1+1 is a formula", "a spreadsheet would have run it"


# --- a task of a deal -------------------------------------------------------------------------------------------------


def planned() -> tuple[object, int]:
    deal = cast.deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call Rui")
    deal.refresh_from_db()
    return deal, deal.tasks.get().pk


def give(who: User, deal: object, task: int, **sent: object) -> object:
    address = at("deal_task", deal.pk, task, "give")  # type: ignore[attr-defined]
    return client(who).post(address, {"version": deal.version, **sent}, follow=True)  # type: ignore[attr-defined]


def test_a_task_is_given_to_somebody_from_its_menu_and_that_is_undone() -> None:
    deal, task = planned()
    page = text(client(cast.alice()).get(at("deal", deal.pk) + f"?give={task}", headers={"HX-Request": "true"}))  # type: ignore[attr-defined]
    assert "Give it to" in page
    alice, bob = client(cast.alice()), cast.bob()
    address = at("deal_task", deal.pk, task, "give")  # type: ignore[attr-defined]
    alice.post(address, {"version": deal.version, "owner": bob.pk})  # type: ignore[attr-defined]
    deal.refresh_from_db()  # type: ignore[attr-defined]
    assert deal.tasks.get().owner == bob  # type: ignore[attr-defined]
    undo = {"subject": f"crm.opportunity:{deal.pk}", "version": deal.version}  # type: ignore[attr-defined]
    alice.post(at("undo"), undo)
    assert deal.tasks.get().owner == cast.alice()  # type: ignore[attr-defined]


def test_a_task_is_given_to_nobody_by_mistake() -> None:
    deal, task = planned()
    for owner in ("", "x", "²", "999999"):
        assert give(cast.alice(), deal, task, owner=owner).status_code == 422 or owner == "999999"  # type: ignore[attr-defined]
    assert deal.tasks.get().owner == cast.alice()  # type: ignore[attr-defined]


def test_no_agent_gives_away_a_task_that_a_person_took() -> None:
    deal, task = planned()
    cast.propose("opportunity.claim_task", deal, by=cast.bob(), task=task)  # type: ignore[arg-type]
    for action, params in (
        ("opportunity.reassign_task", {"owner": cast.alice().pk}),
        ("opportunity.complete_task", {}),
        ("opportunity.cancel_task", {}),
        ("opportunity.reschedule_task", {"due_on": timezone.now().date()}),
    ):
        outcome = cast.propose(action, deal, by=cast.AGENT, task=task, **params)  # type: ignore[arg-type]
        assert (outcome.result.value, outcome.state) == ("refused", "manual_action_detected")
        assert str(outcome.sentence).startswith("Bob Borges has taken this task.")
