"""For everybody: axe finds nothing serious, no sideways scrolling on a phone, a light first load, a strict policy."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from crm.models import Opportunity, User
from tests import cast

Visit = Callable[..., Page]
PHONE: Any = {"width": 360, "height": 740}


def rich_deal() -> Opportunity:
    """A deal with everything on its page that a deal can have."""
    deal = cast.deal(
        amount="48000",
        currency="BRL",
        decision="Partners decide on Friday",
        tags=["hotel chain", "cold rooms"],
        company=cast.propose("company.create", by=cast.alice(), name="Quillmere Hotels").subject.pk,  # type: ignore[union-attr]
        contact=cast.contact().pk,
    )
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Find the plan of the basement plant")
    deal = Opportunity.objects.get(pk=deal.pk)
    cast.propose("opportunity.follow_up", deal, by=cast.AGENT, title="Call Rui", due_on=cast.MONDAY)
    cast.propose("opportunity.follow_up", deal, by=cast.AGENT, title="Call Rui", due_on=cast.TUESDAY)
    deal = Opportunity.objects.get(pk=deal.pk)
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="45500")
    return Opportunity.objects.get(pk=deal.pk)


def clash(page: Page, deal: Opportunity) -> None:
    """Bring the page to the choice between two values, as its own page."""
    page.goto(f"/deals/{deal.pk}/?edit=all")
    page.fill("#f-amount", "1")
    page.fill("#f-decision", "Mine")
    cast.propose(
        "opportunity.edit",
        Opportunity.objects.get(pk=deal.pk),
        by=cast.bob(),
        amount="2",
        decision="Theirs",
        tags=["x"],
    )
    page.click(".all-facts button.primary")
    expect(page.locator("[data-settle]")).to_be_visible()


def states(page: Page, deal: Opportunity) -> list[tuple[str, Callable[[], object]]]:
    return [
        ("deal", lambda: page.goto(f"/deals/{deal.pk}/")),
        ("open edit", lambda: page.goto(f"/deals/{deal.pk}/?edit=amount&log=note")),
        ("all facts", lambda: page.goto(f"/deals/{deal.pk}/?edit=all")),
        ("lost", lambda: page.goto(f"/deals/{deal.pk}/?lost=1")),
        ("settle", lambda: clash(page, deal)),
        ("preferences", lambda: page.goto("/preferences/")),
        ("search", lambda: page.goto("/search/?q=sensors")),
        ("nothing there", lambda: page.goto("/nowhere/")),
        ("palette", lambda: (page.goto("/preferences/"), page.keyboard.press("Control+k"))),
        ("keys", lambda: (page.goto("/preferences/"), page.keyboard.press("?"))),
        ("task menu", lambda: (page.goto(f"/deals/{deal.pk}/"), page.click("#task-list [popovertarget]"))),
    ]


def serious(page: Page) -> list[str]:
    found = Axe().run(page)
    return [
        f"{fault['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for fault in found.response["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [True, False])
def test_axe_finds_nothing_serious(visit: Visit, scheme: str, wide: bool) -> None:
    deal = rich_deal()
    page = visit(
        cast.alice(),
        "/preferences/",
        color_scheme=scheme,
        reduced_motion="reduce",
        viewport={"width": 1400, "height": 1000} if wide else PHONE,
    )
    faults = {}
    for name, reach in states(page, deal):
        reach()
        if found := serious(page):
            faults[name] = found
    assert not faults, faults


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_at_the_door(visit: Visit, scheme: str) -> None:
    page = visit(None, "/sign-in/", color_scheme=scheme)
    assert serious(page) == []
    page.evaluate("document.querySelector('form').noValidate = true")
    page.click("button")
    expect(page.locator("[role=alert]")).to_be_visible()
    assert serious(page) == []


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_page_scrolls_sideways(visit: Visit, width: int) -> None:
    deal = rich_deal()
    long = cast.deal("W" * 200, amount="999999999999.99", decision="x" * 300, tags=["y" * 60])
    page = visit(cast.alice(), "/preferences/", viewport={"width": width, "height": 740})
    reach = [
        *states(page, deal),
        ("long words", lambda: page.goto(f"/deals/{long.pk}/")),
        ("sign in", lambda: (page.context.clear_cookies(), page.goto("/sign-in/"))),
    ]
    for name, go in reach:
        go()
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, (name, over)


def test_targets_are_large_enough_for_fingers(visit: Visit) -> None:
    deal = rich_deal()
    page = visit(cast.alice(), f"/deals/{deal.pk}/", viewport=PHONE, has_touch=True, is_mobile=True)
    small = page.evaluate(
        """() => [...document.querySelectorAll('main a, main button, .side a, .side button, .top button')]
            .filter((e) => e.checkVisibility())
            .map((e) => { const r = e.getBoundingClientRect(); const after = getComputedStyle(e, '::after');
                const larger = after.content !== 'none' && after.position === 'absolute';
                const grown = larger ? -2 * parseFloat(after.top) : 0;
                return [e.textContent.trim() || e.getAttribute('aria-label'), r.width + grown, r.height + grown,
                        getComputedStyle(e).display]; })
            .filter(([, w, h, display]) => display !== 'inline' && (w < 24 || h < 24))"""
    )
    assert small == []


@pytest.mark.parametrize("path", ["/", "/board/", "deal"])
def test_the_first_load_is_under_a_hundred_kilobytes(visit: Visit, path: str) -> None:
    deal = rich_deal()
    fresh = visit(cast.alice(), "/preferences/")
    session = fresh.context.new_cdp_session(fresh)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    total = 0

    def finished(event: dict[str, Any]) -> None:
        nonlocal total
        total += int(event["encodedDataLength"])

    session.on("Network.loadingFinished", finished)
    fresh.goto(f"/deals/{deal.pk}/" if path == "deal" else path)
    fresh.wait_for_load_state("load")
    assert 10_000 < total < 100_000, total


def test_the_policy_stops_what_is_not_ours(visit: Visit, said: list[str]) -> None:
    deal = cast.deal()
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    page.evaluate(
        """() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 1';
                   document.body.append(s); document.body.setAttribute('style', 'color: red'); }"""
    )
    assert page.evaluate("window.pwned") is None
    assert len([line for line in said if "Content Security Policy" in line]) >= 1
    said.clear()


def test_html_in_names_stays_text_everywhere(visit: Visit) -> None:
    name = "<img src=x onerror=alert(1)><b>bold</b>"
    deal = cast.deal(name, decision=name, tags=["<i>x</i>"])
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title=name, due_on=cast.MONDAY)
    cast.propose("opportunity.log", Opportunity.objects.get(), by=cast.bob(), kind="note", text=name)
    page = visit(cast.alice(), f"/deals/{deal.pk}/")
    for where in ("h1", "#fact-decision", "#task-list", "#line"):
        expect(page.locator(where)).to_contain_text("<img src=x onerror=alert(1)>")
    page.keyboard.press("Control+k")
    page.keyboard.type("onerror")
    expect(page.locator("#found")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("main img, #palette img").count() == 0


def test_portuguese_from_the_first_page_on(visit: Visit) -> None:
    deal = cast.deal(amount="48000.50", currency="BRL")
    alice: User = cast.alice()
    alice.language = "pt-br"
    alice.save()
    page = visit(alice, f"/deals/{deal.pk}/")
    expect(page.locator("html")).to_have_attribute("lang", "pt-BR")
    expect(page.locator("#fact-amount")).to_contain_text("R$ 48.000,50")
    page.click("#edit-amount")
    assert page.input_value("#f-amount") == "48000,50"
    page.fill("#f-amount", "1.234,5")
    page.click("#fact-amount button.primary")
    expect(page.locator("#fact-amount .value")).to_contain_text("R$ 1.234,50")
