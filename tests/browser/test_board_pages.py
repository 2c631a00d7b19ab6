"""Board, My day and a new deal in a browser: filters in place, a phone, no script, and for everybody."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from crm import board
from crm.models import Opportunity, SavedView, Task
from tests import cast

Visit = Callable[..., Page]
PHONE: Any = {"width": 360, "height": 740}


def at(stage: str, name: str, **params: object) -> Opportunity:
    return cast.deal(name, stage=cast.stage(stage).pk if cast.pipeline() else 0, **params)


def plan(deal: Opportunity, title: str, *, days: int) -> Task:
    deal = Opportunity.objects.get(pk=deal.pk)
    day = timezone.localdate() + dt.timedelta(days=days)
    outcome = cast.propose("opportunity.plan_task", deal, by=cast.alice(), title=title, due_on=day)
    return Task.objects.get(pk=outcome.created["crm.task"])


def titles(page: Page) -> list[str]:
    return page.locator(".card.deal:visible h3").all_inner_texts()


def test_filters_work_in_place_and_their_address_can_be_kept(visit: Visit) -> None:
    at("New", "Ice boxes")
    at("New", "Milk tank sensors", owner=cast.bob())
    plan(at("Proposal", "Ice cream vans"), "Call Rui", days=-1)
    page = visit(cast.alice(), "/board/")

    page.locator("#board-q").press_sequentially("ice")
    expect(page.locator(".card.deal")).to_have_count(2)
    expect(page.locator("#board-q")).to_be_focused()
    page.get_by_role("button", name="Overdue").click()
    expect(page.locator(".card.deal")).to_have_count(1)
    assert page.url.endswith("/board/?next=overdue&q=ice")
    expect(page.locator("#board-total")).to_contain_text("1 open deal")

    page.reload()
    assert titles(page) == ["Ice cream vans"]
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".card.deal")).to_have_count(3)


def test_mine_and_the_list_of_owners_say_the_same(visit: Visit) -> None:
    at("New", "Alice's")
    at("New", "Bob's", owner=cast.bob())
    page = visit(cast.alice(), "/board/")

    page.get_by_role("link", name="Mine").click()
    expect(page.locator(".card.deal")).to_have_count(1)
    expect(page.locator("#board-owner")).to_have_value("me")
    expect(page.get_by_role("link", name="Mine")).to_be_focused()
    page.select_option("#board-owner", label="Bob Borges")
    expect(page.locator(".card.deal h3")).to_have_text(["Bob's"])
    page.go_back()
    expect(page.locator(".card.deal h3")).to_have_text(["Alice's"])


def test_show_more_adds_the_next_cards_below(visit: Visit) -> None:
    for number in range(board.PAGE + 2):
        at("New", f"Deal {number}")
    page = visit(cast.alice(), "/board/")
    expect(page.locator(".card.deal")).to_have_count(board.PAGE)

    page.get_by_role("link", name="Show more").click()

    expect(page.locator(".card.deal")).to_have_count(board.PAGE + 2)
    expect(page.get_by_role("link", name="Show more")).to_have_count(0)


def test_a_phone_shows_one_stage_picked_above(visit: Visit) -> None:
    for number in range(3):
        at("New", f"New {number}")
    at("Negotiation", "Last one")
    page = visit(cast.alice(), "/board/", viewport=PHONE, is_mobile=True, has_touch=True)

    assert sorted(titles(page)) == ["New 0", "New 1", "New 2"]
    page.locator(".stages label", has_text="Negotiation").tap()
    assert titles(page) == ["Last one"]
    page.locator(".card.deal:visible .menu").tap()
    page.get_by_role("menuitem", name="Won").tap()
    expect(page.locator("#toasts")).to_contain_text("Last one is now in Won.")
    expect(page.locator(".stages label", has_text="Won")).to_contain_text("1")


def test_without_a_script_the_board_filters_pages_and_moves(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    at("New", "Milk tank sensors")
    page = visit(cast.alice(), "/board/", java_script_enabled=False)

    page.fill("#board-q", "ice")
    page.get_by_role("button", name="Filter", exact=True).click()
    assert titles(page) == ["Ice boxes"]
    page.locator(".card.deal .menu").click(force=True)
    page.get_by_role("button", name="Proposal").click()
    page.wait_for_url("**/board/?q=ice")
    expect(page.locator("#toasts")).to_contain_text("Ice boxes is now in Proposal.")
    assert Opportunity.objects.get(pk=deal.pk).stage.name == "Proposal"


def test_without_a_script_a_lost_deal_takes_its_reason_along(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    page = visit(cast.alice(), f"/board/move/?deal={deal.pk}", java_script_enabled=False)

    page.fill("#reason", "No budget")
    page.keyboard.press("Enter")
    page.wait_for_url("**/board/")

    assert Opportunity.objects.get(pk=deal.pk).lost_reason == "No budget"


def test_a_task_is_ticked_and_put_off_where_it_stands(visit: Visit) -> None:
    deal = at("New", "Ice boxes")
    done, later = plan(deal, "Call Rui", days=-2), plan(deal, "Send the offer", days=0)
    page = visit(cast.alice(), "/")

    page.get_by_label("Call Rui").first.check()
    expect(page.locator(f"#task-{done.pk}")).to_contain_text("Done")
    page.get_by_role("button", name="Put off: Send the offer").click()
    page.fill(f"#on-{later.pk}", "2031-06-10")
    page.get_by_role("button", name="Move it").click()
    expect(page.locator(f"#task-{later.pk}")).to_contain_text("Moved to Tue 10 Jun 2031.")

    done.refresh_from_db()
    later.refresh_from_db()
    assert (done.state, str(later.due_on)) == ("done", "2031-06-10")
    page.get_by_label("Call Rui").first.uncheck()
    expect(page.locator(f"#task-{done.pk}")).to_contain_text("late")


def test_z_opens_the_task_again_that_was_just_ticked(visit: Visit) -> None:
    task = plan(at("New", "Ice boxes"), "Call Rui", days=-2)
    page = visit(cast.alice(), "/")
    page.get_by_label("Call Rui").first.check()
    expect(page.locator(f"#task-{task.pk}")).to_contain_text("Done")
    page.keyboard.press("z")
    expect(page.locator("#toasts")).to_contain_text("Taken back")
    expect(page.locator(f"#task-{task.pk}")).to_contain_text("late")
    task.refresh_from_db()
    assert task.state == "open"


def test_a_deals_name_takes_the_whole_line_beside_a_badge(visit: Visit) -> None:
    cast.pipeline()
    deal = cast.deal(
        "Sensors for all cold rooms",
        company=cast.propose("company.create", by=cast.alice(), name="Acme").subject.pk,  # type: ignore[union-attr]
    )
    page = visit(cast.alice(), "/board/")
    what = page.locator(f"#deal-{deal.pk} .what")
    alone = what.bounding_box()
    # Only one that stands for long has a badge, and no test waits for that.
    page.evaluate(
        """(id) => { const badge = document.createElement("span");
        badge.className = "badge end"; badge.textContent = "stands for 128 days";
        document.querySelector(`#${id} .amount`).after(badge); }""",
        f"deal-{deal.pk}",
    )
    beside = what.bounding_box()
    assert alone is not None
    assert beside is not None
    assert abs(beside["width"] - alone["width"]) < 1
    badge = page.locator(f"#deal-{deal.pk} .badge").bounding_box()
    menu = page.locator(f"#deal-{deal.pk} .avatar").first.bounding_box()
    assert badge is not None
    assert menu is not None
    assert abs(badge["x"] + badge["width"] - menu["x"] - menu["width"]) < 1
    assert abs(beside["x"] + beside["width"] - badge["x"] - badge["width"]) < 1


def test_a_long_name_of_a_view_is_cut_beside_every_page(visit: Visit) -> None:
    SavedView.objects.create(user=cast.alice(), page="board", name="W" * 80, query="q=x")
    cast.pipeline()
    page = visit(cast.alice(), "/board/", viewport={"width": 1400, "height": 900})
    inner, shown = page.evaluate(
        "() => { const e = document.querySelector('.side .saved .cut'); return [e.scrollWidth, e.clientWidth]; }"
    )
    assert inner > shown, "the name is not cut"
    assert page.evaluate("() => { const e = document.querySelector('.side'); return e.scrollWidth <= e.clientWidth; }")


def test_a_double_click_on_add_makes_one_deal(visit: Visit) -> None:
    cast.pipeline()
    page = visit(cast.alice(), "/deals/new/")
    page.fill("#f-name", "Ice boxes")

    page.get_by_role("button", name="Add the deal").dblclick()

    page.wait_for_url(re.compile(r"/deals/\d+/$"))
    assert Opportunity.objects.filter(name="Ice boxes").count() == 1


def states(page: Page, deal: Opportunity) -> list[tuple[str, Callable[[], object]]]:
    def open_menu() -> None:
        page.goto("/board/")
        page.locator(f"#deal-{deal.pk} .menu").click(force=True)

    def refused() -> None:
        page.goto("/board/")
        page.locator(f"#deal-{deal.pk} h3 a").focus()
        page.keyboard.press("m")
        assert cast.propose(
            "opportunity.edit", Opportunity.objects.get(pk=deal.pk), by=cast.bob(), amount=str(deal.pk + len(seen))
        ).written
        seen.append(1)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator(".note")).to_be_visible()

    def wrong() -> None:
        page.goto("/deals/new/")
        page.fill("#f-name", "Ice boxes")
        page.fill("#f-company", "Nobody & Sons")
        page.fill("#f-amount", "x")
        page.get_by_role("button", name="Add the deal").click()
        expect(page.locator(".fault")).to_have_count(2)

    seen: list[int] = []
    return [
        ("board", lambda: page.goto("/board/")),
        ("menu", open_menu),
        ("refused", refused),
        ("move", lambda: page.goto(f"/board/move/?deal={deal.pk}")),
        ("my day", lambda: page.goto("/")),
        ("new deal", lambda: page.goto("/deals/new/")),
        ("new deal, wrong", wrong),
    ]


def rich() -> Opportunity:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    at("Proposal", "Stuck one", opened_on="2020-01-01", amount="999999999999.99", currency="USD")
    at("Won", "W" * 200)
    at("Lost", "Gone", lost_reason="They chose another supplier")
    plan(at("Negotiation", "Planned"), "Call Rui", days=-3)
    plan(at("Negotiation", "Later"), "x" * 200, days=0)
    return deal


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_axe_finds_nothing_serious(visit: Visit, scheme: str, width: int) -> None:
    deal = rich()
    view = {"width": width, "height": 900}
    page = visit(cast.alice(), "/board/", color_scheme=scheme, reduced_motion="reduce", viewport=view)
    faults = {}
    for name, reach in states(page, deal):
        reach()
        found = [
            f"{fault['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
            for fault in Axe().run(page).response["violations"]
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]
        if found:
            faults[name] = found
    assert not faults, faults


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_page_scrolls_sideways(visit: Visit, width: int) -> None:
    deal = rich()
    page = visit(cast.alice(), "/board/", viewport={"width": width, "height": 740})
    for name, reach in states(page, deal):
        reach()
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, (name, over)
