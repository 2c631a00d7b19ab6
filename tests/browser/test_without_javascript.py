"""Every form works without JavaScript: pages, links and posts alone."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from crm.models import Opportunity
from tests import cast

Visit = Callable[..., Page]


def plain(visit: Visit, deal: Opportunity, query: str = "") -> Page:
    return visit(cast.alice(), f"/deals/{deal.pk}/{query}", java_script_enabled=False)


def test_a_fact_is_edited_and_a_clash_settled(visit: Visit) -> None:
    deal = cast.deal(amount="48000", currency="BRL")
    page = plain(visit, deal)
    page.click("#edit-amount")
    page.fill("#f-amount", "45500")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="51000")
    page.click("#fact-amount button.primary")
    expect(page.locator("h1")).to_contain_text("Bob saved this while you were editing it")
    page.check("input[value=mine]")
    page.click("[data-settle] button.primary")
    expect(page.locator("#fact-amount")).to_contain_text("R$ 45,500")
    assert Opportunity.objects.get(pk=deal.pk).amount == 45500


def test_the_whole_day_of_a_deal(visit: Visit) -> None:
    deal = cast.deal()
    page = plain(visit, deal)
    page.fill("#quick [name=title]", "Call Rui")
    page.fill("#quick [name=due_on]", "2031-06-09")
    page.click("#quick-set")
    expect(page.locator("#task-list")).to_contain_text("Call Rui")
    page.click("button[aria-label='Complete: Call Rui']")
    expect(page.locator("#task-list [data-done]")).to_contain_text("Call Rui")
    page.click("a:has-text('Log a call')")
    page.fill("#log-text", "He agreed")
    page.click("#log button.primary")
    expect(page.locator("#line")).to_contain_text("He agreed")
    page.click("#path button:has-text('Proposal')")
    expect(page.locator("#path [aria-current]")).to_contain_text("Proposal")
    page.click("#closing a:has-text('Lost')")
    page.fill("#reason", "Price")
    page.click("button:has-text('Mark as lost')")
    expect(page.locator("#head")).to_contain_text("lost")
    page.click("#toasts button:has-text('Undo')")
    expect(page.locator("#path [aria-current]")).to_contain_text("Proposal")


def test_all_facts_search_and_preferences(visit: Visit) -> None:
    deal = cast.deal("Sensors for 14 cold rooms")
    page = plain(visit, deal)
    page.click("text=Edit all")
    page.fill("#f-name", "Sensors for 16 cold rooms")
    page.click(".all-facts button.primary")
    expect(page.locator("h1")).to_contain_text("16 cold rooms")
    page.goto("/search/")
    page.fill("main [name=q]", "16 cold")
    page.press("main [name=q]", "Enter")
    expect(page.locator("main")).to_contain_text("Sensors for 16 cold rooms")
    page.goto("/preferences/")
    page.check("input[value=dark]", force=True)
    page.click("main form.card button.primary")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_signing_in_and_out(visit: Visit) -> None:
    alice = cast.alice()
    alice.set_password("long-enough-7")
    alice.save()
    deal = cast.deal()
    page = visit(None, f"/deals/{deal.pk}/", java_script_enabled=False)
    page.fill("#id_username", "alice")
    page.fill("#id_password", "long-enough-7")
    page.click("button")
    expect(page.locator("h1")).to_contain_text("Sensors")
    page.goto("/preferences/")
    page.click("button:has-text('Sign out')")
    expect(page.locator("#id_username")).to_be_visible()
