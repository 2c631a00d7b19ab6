"""The keyboard alone is enough: palette, keys, rows, an edit and back; focus is seen and comes back."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from crm.models import Opportunity
from tests import cast

Visit = Callable[..., Page]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('aria-label') || ''"))


def test_the_palette_finds_a_deal_and_goes_there(visit: Visit) -> None:
    cast.deal("Cold rooms")
    other = cast.deal("Sensors for trucks")
    page = visit(cast.alice(), "/preferences/")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.type("trucks")
    expect(page.locator("#found")).to_contain_text("Sensors for trucks")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/deals/{other.pk}/")


def test_the_palette_goes_to_pages_by_name_and_escape_brings_the_focus_back(visit: Visit) -> None:
    page = visit(cast.alice(), "/preferences/")
    page.focus("#time_zone")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    assert focused(page) == "time_zone"
    page.keyboard.press("Control+k")
    page.keyboard.type("board")
    page.keyboard.press("Enter")
    page.wait_for_url("**/board/")


def test_what_is_typed_while_the_palette_opens_is_kept(visit: Visit) -> None:
    """The browser tells that it is open a moment after it is: whoever types fast has begun by then."""
    page = visit(cast.alice(), "/preferences/")
    page.evaluate(
        """() => {
            const press = (key, options) => document.dispatchEvent(new KeyboardEvent("keydown", {key, ...options}));
            press("k", {ctrlKey: true, bubbles: true});
            document.execCommand("insertText", false, "bo");
        }"""
    )
    page.keyboard.type("ard")
    assert page.input_value("#palette-q") == "board"


def test_keys_rest_while_one_is_typing(visit: Visit) -> None:
    deal = cast.deal()
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.focus("#quick [name=title]")
    page.keyboard.type("ge?zjk")
    assert page.input_value("#quick [name=title]") == "ge?zjk"
    expect(page.locator("#keys")).to_be_hidden()
    page.wait_for_url(f"**/deals/{deal.pk}/")


def test_the_list_of_keys_and_the_way_by_two_letters(visit: Visit) -> None:
    deal = cast.deal()
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("b")
    page.wait_for_url("**/board/")


def test_an_edit_by_keys_ends_with_the_focus_where_it_began(visit: Visit) -> None:
    deal = cast.deal(amount="1", currency="BRL")
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.focus("#edit-amount")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#f-amount")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#edit-amount")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#f-amount")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(page.locator("#fact-amount .value")).to_contain_text("R$ 2")
    expect(page.locator("#edit-amount")).to_be_focused()


def test_e_opens_the_form_and_j_k_walk_the_tasks(visit: Visit) -> None:
    deal = cast.deal()
    for title in ("First", "Second"):
        cast.propose(
            "opportunity.plan_task",
            Opportunity.objects.get(pk=deal.pk),
            by=cast.alice(),
            title=title,
            due_on=cast.MONDAY,
        )
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    for key, there in (("j", "First"), ("j", "Second"), ("j", "Second"), ("k", "First")):
        page.keyboard.press(key)
        expect(page.locator(f"button[aria-label='Complete: {there}']")).to_be_focused()
    page.keyboard.press("e")
    page.wait_for_url("**?edit=all")
    expect(page.locator("#f-name")).to_be_visible()
