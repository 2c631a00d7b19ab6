"""Contracts, invoices, tickets, stock and access with two people side by side: the main job of each, and who was first.

A page made deaf (`deaf`) hears nothing of the others, as in a train: what it shows has passed, and the server says so.
"""

from collections.abc import Callable
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from conflicts.models import Conflict
from crm.models import AccessRequest, Contract, Invoice, Reservation, StockItem, Ticket, User
from tests import cast, governed, papers
from tests.browser.conftest import wait_live

Visit = Callable[..., Page]


def deaf(visit: Visit, person: User, path: str) -> Page:
    page = visit(person, "/preferences/")
    page.route("**/live/**", lambda route: route.abort())
    page.goto(path)
    return page


# --- stock ------------------------------------------------------------------------------------------------------------


def reserve(page: Page, name: str) -> None:
    page.fill("#acts [name=what]", name)
    page.click("#acts button.primary")


def test_two_reserve_the_last_unit_one_gets_it_and_the_other_reads_by_whom(visit: Visit) -> None:
    item = governed.item("Door sensor", on_hand=1)
    cast.deal("Hotel Geada"), cast.deal("Hotel Neblina")
    path = f"/stock/{item.pk}/"
    alice, bob = visit(cast.alice(), path), deaf(visit, cast.bob(), path)

    reserve(alice, "Hotel Geada")
    expect(alice.locator("#promises")).to_contain_text("1 × Hotel Geada")
    expect(alice.locator("#acts button.primary")).to_be_disabled()

    expect(bob.locator("#head")).to_contain_text("1 free")  # as he still sees it
    reserve(bob, "Hotel Neblina")
    expect(bob.locator("#toasts")).to_contain_text("Alice Amaral")
    expect(bob.locator("#toasts")).to_contain_text("Nothing was reserved.")
    assert bob.input_value("#acts [name=what]") == "Hotel Neblina", "what he typed stays"

    kept = Reservation.objects.get()
    assert (kept.maker.name, kept.opportunity and kept.opportunity.name) == ("Alice Amaral", "Hotel Geada")
    assert StockItem.objects.get().held == 1


def test_the_last_unit_goes_on_an_open_page_too(visit: Visit) -> None:
    item = governed.item("Door sensor", on_hand=1)
    cast.deal("Hotel Geada")
    path = f"/stock/{item.pk}/"
    alice, bob = visit(cast.alice(), path), visit(cast.bob(), path)
    wait_live(bob)
    reserve(alice, "Hotel Geada")
    expect(bob.locator("#head")).to_contain_text("0 free")
    expect(bob.locator("#acts button.primary")).to_be_disabled()

    bob.click("#promises button:has-text('Give back')")
    expect(bob.locator("#ended")).to_contain_text("Hotel Geada")
    expect(alice.locator("#head")).to_contain_text("1 free")


# --- tickets ----------------------------------------------------------------------------------------------------------


def test_a_ticket_that_somebody_took_is_theirs_and_the_second_reads_whose(visit: Visit) -> None:
    ticket = governed.ticket()
    path = f"/tickets/{ticket.pk}/"
    alice, late = visit(cast.alice(), path), deaf(visit, cast.bob(), path)
    watching = visit(cast.bob(), path)
    wait_live(watching)

    alice.click("#acts button:has-text('Take it')")
    expect(alice.locator("#ac")).to_have_text("Yours")
    expect(watching.locator("#ac")).to_have_text("Alice Amaral has it")
    expect(watching.locator("#acts button.primary").first).to_be_disabled()

    late.click("#acts button:has-text('Take it')")
    expect(late.locator("#toasts")).to_contain_text("Alice Amaral has taken this ticket first.")
    assert Ticket.objects.get().claimed_by == cast.alice()


def test_an_agent_does_not_close_what_a_person_has_and_the_person_does(visit: Visit) -> None:
    ticket = governed.ticket()
    page = visit(cast.alice(), f"/tickets/{ticket.pk}/")
    page.click("#acts button:has-text('Take it')")
    expect(page.locator("#ac")).to_have_text("Yours")
    ticket.refresh_from_db()
    refused = cast.propose("ticket.move", ticket, by=cast.AGENT, state="closed", resolution="Solved")
    assert (refused.state, str(refused.sentence).startswith("Alice Amaral has taken this ticket")) == (
        "manual_action_detected",
        True,
    )
    page.click("#acts summary:has-text('Close it')")
    page.fill("#acts [name=resolution]", "New battery")
    page.click("#acts form:has([name=resolution]) button")
    expect(page.locator("#ac")).to_have_text("Closed")
    assert Ticket.objects.get().author.name == "Alice Amaral"


# --- invoices ---------------------------------------------------------------------------------------------------------


def test_a_paid_invoice_does_not_go_to_collection_from_an_old_page_nor_back_without_authority(visit: Visit) -> None:
    invoice = papers.invoice("600")
    path = f"/invoices/{invoice.pk}/"
    late, alice = deaf(visit, cast.bob(), path), visit(cast.alice(), path)

    alice.click("#pay summary")
    alice.fill("#pay [name=provider]", "Bank")
    alice.fill("#pay [name=payment]", "E2E-7")
    alice.fill("#pay [name=amount]", "600")
    alice.click("#pay button")
    expect(alice.locator("#head")).to_contain_text("paid")

    late.locator("#installments summary").first.click()
    late.click("#installments button:has-text('Start collection')")
    expect(late.locator("#toasts")).to_contain_text("paid")
    assert papers.part(invoice).state == "paid"

    # Whoever may not say that it is owed again is not even asked; a manager is, and says why.
    expect(alice.locator("#installments li details")).to_have_count(0)
    assert papers.part(invoice).state == "paid"
    manager = visit(cast.manager(), path)
    manager.locator("#installments summary").first.click()
    again = manager.locator("#installments form", has=manager.locator("button:has-text('Owed again')"))
    again.locator("[name=reason]").fill("The bank took it back")
    again.locator("button").click()
    expect(manager.locator("#installments")).to_contain_text("The bank took it back")
    assert papers.part(invoice).state == "open"
    assert Invoice.objects.get().owed == Decimal(600)


# --- contracts --------------------------------------------------------------------------------------------------------


def test_a_line_that_was_changed_voids_the_approval_and_the_approved_version_stays_readable(visit: Visit) -> None:
    contract = papers.offered()
    path = f"/contracts/{contract.pk}/"
    manager, late, alice = visit(cast.manager(), path), deaf(visit, cast.manager(), path), visit(cast.alice(), path)
    wait_live(alice)
    wait_live(manager)

    manager.click("#decision button:has-text('Approve version 1')")
    expect(manager.locator("#dc")).to_have_text("Version 1 is approved")
    expect(alice.locator("#dc")).to_have_text("Version 1 is approved")

    alice.locator("#offer li summary").first.click()
    alice.locator("#offer li [name=quantity]").first.fill("5")
    alice.locator("#offer li form button").first.click()
    expect(alice.locator("#dc")).to_have_text("Version 2 waits for an approval")
    expect(manager.locator("#dc")).to_have_text("Version 2 waits for an approval")

    # A yes to version 1, from a page of before, is no yes to version 2.
    late.click("#decision button:has-text('Approve version 1')")
    expect(late.locator("body")).to_contain_text("Alice Amaral")
    now = Contract.objects.get()
    assert (now.state, now.approved, now.document) == ("offered", None, 2)

    manager.goto(f"{path}documents/1/")
    expect(manager.locator("body")).to_contain_text("200")
    expect(manager.locator("body")).to_contain_text("Approved")


# --- access -----------------------------------------------------------------------------------------------------------


def test_access_is_granted_once_on_what_was_examined_and_the_second_reads_who_did(visit: Visit) -> None:
    deal, asked = cast.deal("Hotel Geada"), governed.ask()
    path = f"/access/{asked.pk}/"
    manager, late = visit(cast.manager(), path), deaf(visit, cast.administrator(), path)
    charlie = visit(cast.charlie(), f"/deals/{deal.pk}/")
    expect(charlie.locator("h1")).not_to_contain_text("Hotel Geada")
    wait_live(manager)

    # The asker says more while it is being examined: the open page hears of it, the old one must look again.
    assert cast.propose("access.edit", asked, by=cast.charlie(), reason="Covers for Bob until August").written
    expect(manager.locator("#wish")).to_contain_text("Covers for Bob until August")
    late.click("#acts button:has-text('Grant it')")
    expect(late.locator("body")).to_contain_text("Charlie Castro changed")
    assert AccessRequest.objects.get().state == "asked"
    assert Conflict.objects.waiting().count() == 1

    manager.click("#acts button:has-text('Grant it')")
    expect(manager.locator("#ac")).to_contain_text("In force until")
    late.click("#acts button:has-text('Grant it')")
    expect(late.locator("body")).to_contain_text("Manuela Moraes was first")
    kept = AccessRequest.objects.get()
    assert (kept.state, kept.decided_by, kept.examined_version) == ("granted", cast.manager(), 2)
    assert not Conflict.objects.waiting().exists()

    charlie.reload()
    expect(charlie.locator("#head")).to_contain_text("Hotel Geada")
    wait_live(charlie)
    deal.refresh_from_db()
    assert cast.propose("opportunity.edit", deal, by=cast.alice(), name="Hotel Geada, two floors").written
    expect(charlie.locator("#head")).to_contain_text("two floors")


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("path", ["/contracts/", "/invoices/", "/tickets/", "/stock/", "/access/", "/imports/"])
def test_their_pages_never_scroll_sideways(visit: Visit, path: str, width: int) -> None:
    papers.contract(name="A contract with a name that goes on and on and on for a whole line")
    papers.invoice()
    governed.ticket()
    governed.item("A sensor with a long name, for doors that are a little wider")
    governed.ask()
    page = visit(cast.manager(), path, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
