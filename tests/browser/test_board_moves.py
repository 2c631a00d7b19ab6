"""Moving cards in a browser: by keys, by mouse, from the menu; back with the reason; and what others moved."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from crm.models import Opportunity
from tests import cast
from tests.browser.conftest import wait_live

Visit = Callable[..., Page]


def at(stage: str, name: str, **params: object) -> Opportunity:
    return cast.deal(name, stage=cast.stage(stage).pk if cast.pipeline() else 0, **params)


def now(deal: Opportunity) -> Opportunity:
    return Opportunity.objects.select_related("stage").get(pk=deal.pk)


def column(page: Page, name: str):
    return page.locator(f".column[data-name='{name}']")


def card(page: Page, deal: Opportunity):
    return page.locator(f"#deal-{deal.pk}")


def take(page: Page, deal: Opportunity) -> None:
    card(page, deal).locator("h3 a").focus()
    page.keyboard.press("m")
    expect(card(page, deal)).to_have_attribute("data-held", "")


def bob_edits(deal: Opportunity, **params: object) -> None:
    assert cast.propose("opportunity.edit", now(deal), by=cast.bob(), **params).written


def test_keys_pick_a_card_up_move_it_and_put_it_down(visit: Visit) -> None:
    deal = at("New", "Ice boxes", amount="100", currency="USD")
    page = visit(cast.alice(), "/board/")

    take(page, deal)
    expect(page.locator("#board-told")).to_contain_text("Ice boxes: picked up.")
    page.keyboard.press("ArrowRight")
    expect(column(page, "Proposal").locator(".drop")).to_have_text("Proposal")
    page.keyboard.press("Enter")

    expect(column(page, "Proposal").locator(f"#deal-{deal.pk}")).to_have_attribute("data-version", "2")
    expect(column(page, "Proposal").locator("header")).to_contain_text("$100")
    expect(column(page, "New").locator("header .n")).to_have_text("0")
    expect(card(page, deal).locator("h3 a")).to_be_focused()
    expect(page.locator("#toasts")).to_contain_text("Ice boxes is now in Proposal.")
    assert now(deal).stage.name == "Proposal"


def test_z_takes_the_move_back(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")
    take(page, deal)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Ice boxes is now in Proposal.")

    page.keyboard.press("z")

    expect(column(page, "New").locator(f"#deal-{deal.pk}")).to_have_attribute("data-version", "3")
    assert now(deal).stage.name == "New"


def test_escape_puts_the_card_back_and_nothing_is_sent(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")
    posts: list[str] = []
    page.on(
        "request",
        lambda request: posts.append(request.url) if request.method == "POST" and "move" in request.url else None,
    )

    take(page, deal)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")

    expect(page.locator(".drop")).to_have_count(0)
    expect(column(page, "New").locator(f"#deal-{deal.pk}")).to_be_visible()
    expect(page.locator("#board-told")).to_have_text("Ice boxes: back in New.")
    assert posts == []


def test_the_arrows_stop_at_the_edge_of_the_board(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")

    take(page, deal)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")

    expect(card(page, deal)).not_to_have_attribute("data-held", "")
    assert now(deal).version == 1


def test_a_card_is_dragged_with_the_mouse(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/", viewport={"width": 1600, "height": 900})

    card(page, deal).drag_to(column(page, "Negotiation"))

    expect(column(page, "Negotiation").locator(f"#deal-{deal.pk}")).to_have_attribute("data-version", "2")
    assert now(deal).stage.name == "Negotiation"


def test_the_menu_moves_a_card(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")

    card(page, deal).hover()
    card(page, deal).locator(".menu").click()
    menu = page.locator("#moves")
    expect(menu.get_by_role("menuitem", name="Proposal")).to_be_focused()
    expect(menu.get_by_role("menuitem", name="New")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(column(page, "Negotiation").locator(f"#deal-{deal.pk}")).to_be_visible()


def test_lost_asks_for_the_reason_and_keeps_the_deal_open_without_one(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")
    card(page, deal).hover()
    card(page, deal).locator(".menu").click()
    page.get_by_role("menuitem", name="Lost").click()
    expect(page.locator("#lost-title")).to_have_text("Mark Ice boxes as lost?")

    page.keyboard.press("Escape")
    expect(column(page, "New").locator(f"#deal-{deal.pk}")).to_be_visible()
    assert now(deal).version == 1

    card(page, deal).hover()
    card(page, deal).locator(".menu").click()
    page.get_by_role("menuitem", name="Lost").click()
    page.fill("#lost-reason", "No budget this year")
    page.keyboard.press("Enter")
    expect(column(page, "Lost").locator(f"#deal-{deal.pk}")).to_contain_text("No budget this year")
    assert (now(deal).status, now(deal).lost_reason) == ("lost", "No budget this year")


def test_a_card_whose_amount_changed_in_the_hand_goes_back_with_the_reason_and_moves_on_a_second_yes(
    visit: Visit,
) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    page = visit(cast.alice(), "/board/")
    wait_live(page)
    take(page, deal)
    bob_edits(deal, amount="86000")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    back = column(page, "New").locator(f"#deal-{deal.pk}")
    expect(back.locator(".note")).to_contain_text("Not moved. Bob changed the amount while you held the card:")
    expect(back.locator(".note .was")).to_have_text("R$\u00a092,000")
    expect(back.locator(".amount")).to_have_text("R$\u00a086,000")
    assert now(deal).version == 2

    back.get_by_role("button", name="Move it now").click()
    expect(column(page, "Proposal").locator(f"#deal-{deal.pk}")).to_have_attribute("data-version", "3")
    expect(page.locator(".note")).to_have_count(0)


def test_leave_it_takes_the_note_away_and_the_card_stays(visit: Visit) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    page = visit(cast.alice(), "/board/")
    take(page, deal)
    bob_edits(deal, amount="86000")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    page.get_by_role("button", name="Leave it").click()

    expect(page.locator(".note")).to_have_count(0)
    expect(column(page, "New").locator(f"#deal-{deal.pk}")).to_be_visible()
    assert now(deal).version == 2


def test_what_a_colleague_moves_moves_here_within_moments(visit: Visit) -> None:
    deal = at("New", "Ice boxes", amount="100", currency="USD")
    alice, bob = visit(cast.alice(), "/board/"), visit(cast.bob(), "/board/")
    wait_live(alice)
    wait_live(bob)

    take(bob, deal)
    bob.keyboard.press("ArrowRight")
    bob.keyboard.press("Enter")

    moved = column(alice, "Proposal").locator(f"#deal-{deal.pk}")
    expect(moved.locator(".just")).to_contain_text("Bob moved this")
    expect(moved).to_have_attribute("data-fresh", "")
    expect(column(alice, "Proposal").locator("header")).to_contain_text("$100")
    expect(column(alice, "New").locator("header .n")).to_have_text("0")
    expect(alice.locator("#board-told")).to_contain_text("Bob moved this")


def test_a_new_deal_of_a_colleague_comes_to_the_board(visit: Visit) -> None:
    at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")
    wait_live(page)

    at("Proposal", "Milk tank sensors", owner=cast.bob())

    expect(column(page, "Proposal").locator(".card")).to_contain_text("Milk tank sensors")


def test_a_deal_that_goes_to_another_team_leaves_the_board(visit: Visit) -> None:
    deal, stays = at("New", "Ice boxes"), at("New", "Milk tank sensors")
    page = visit(cast.alice(), "/board/")
    wait_live(page)

    bob_edits(deal, owner=cast.charlie().pk)
    bob_edits(stays, amount="5", currency="USD")

    expect(card(page, stays)).to_contain_text("$5")
    page.reload()
    expect(card(page, deal)).to_have_count(0)


def test_a_held_card_does_not_change_in_the_hand(visit: Visit) -> None:
    held, other = at("New", "Ice boxes", amount="10", currency="USD"), at("New", "Milk tank sensors")
    page = visit(cast.alice(), "/board/")
    wait_live(page)
    take(page, held)

    bob_edits(held, amount="20")
    bob_edits(other, amount="30", currency="USD")
    expect(card(page, other)).to_contain_text("$30")  # the news has come
    expect(card(page, held)).to_contain_text("$10")
    expect(card(page, held)).to_have_attribute("data-version", "1")

    page.keyboard.press("Escape")
    expect(card(page, held)).to_contain_text("$20")


def test_enter_twice_in_a_row_is_one_move(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")
    take(page, deal)
    page.keyboard.press("ArrowRight")
    page.evaluate(
        """() => { for (const n of [1, 2]) document.activeElement.dispatchEvent(
             new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })) }"""
    )

    expect(column(page, "Proposal").locator(f"#deal-{deal.pk}")).to_have_attribute("data-version", "2")
    assert now(deal).version == 2


def test_a_server_that_does_not_answer_leaves_the_card_where_it_was(visit: Visit, said: list[str]) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), "/board/")
    page.route("**/board/move/**", lambda route: route.abort())

    take(page, deal)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    expect(column(page, "New").locator(f"#deal-{deal.pk}")).to_be_visible()
    expect(page.locator("#toasts")).to_contain_text("the server did not answer")
    assert now(deal).version == 1
