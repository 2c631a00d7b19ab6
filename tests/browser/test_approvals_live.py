"""Cards that are overtaken while they are open, many approved at once, and a clash on a phone in Portuguese."""

import datetime as dt
from collections.abc import Callable

from django.utils import timezone
from playwright.sync_api import Page, expect

from agents import sweeps
from agents.models import Approval, Recommendation
from crm.models import Opportunity, Task
from tests import cast
from tests.browser.conftest import wait_live

Visit = Callable[..., Page]


def suggested(name: str = "Rui Amaro") -> Recommendation:
    deal = cast.deal(f"Sensors for {name}", contact=cast.contact(name).pk)
    sweeps.sweep()
    return Recommendation.objects.get(opportunity=deal)


def bob_plans(one: Recommendation) -> None:
    deal = Opportunity.objects.get(pk=one.opportunity_id)
    day = timezone.localdate() + dt.timedelta(days=1)
    assert cast.propose("opportunity.plan_task", deal, by=cast.bob(), title="Visit", due_on=day).written


def test_a_card_that_is_overtaken_on_an_open_screen_cannot_be_pressed_and_says_why(visit: Visit) -> None:
    one, other = suggested(), suggested("Inês Prado")
    page = visit(cast.alice(), "/suggestions/")
    wait_live(page)
    card = page.locator(f"#suggestion-{one.pk}")
    expect(card.locator("form[action$='/approve/']")).to_have_count(1)
    card.locator("input[name=pick]").check()

    bob_plans(one)

    expect(card).to_contain_text("Bob set the next step first: Visit")
    expect(card.locator("form[action$='/approve/']")).to_have_count(0)
    expect(card.locator("input[name=pick]")).to_have_count(0)
    expect(page.locator(f"#suggestion-{other.pk} form[action$='/approve/']")).to_have_count(1)


def test_what_moved_without_mattering_is_still_to_be_read_after_the_page_has_renewed_itself(visit: Visit) -> None:
    one = suggested()
    page = visit(cast.alice(), f"/deals/{one.opportunity_id}/")
    wait_live(page)
    deal = Opportunity.objects.get(pk=one.opportunity_id)
    assert cast.propose("opportunity.edit", deal, by=cast.bob(), decision="Board in May").written
    card = page.locator(f"#suggestion-{one.pk}")
    expect(card.locator(".verdict")).to_contain_text("It does not rest on that.")

    card.locator("form[action$='/approve/'] button").click()

    expect(card).to_have_count(0)  # done: the deal's page has taken it away
    expect(page.locator("#toasts")).to_contain_text("Bob Borges had changed decision; it did not rest on that.")
    expect(page.locator("#task-list")).to_contain_text("Call Rui Amaro")


def test_what_is_typed_in_a_card_stays_when_it_is_overtaken_and_its_yes_is_taken_away(visit: Visit) -> None:
    one = suggested()
    page = visit(cast.alice(), "/suggestions/")
    wait_live(page)
    card = page.locator(f"#suggestion-{one.pk}")
    card.locator("text=Edit").click()
    page.fill(f"#title-{one.pk}", "Visit Rui in Natal")

    bob_plans(one)

    expect(card).to_contain_text("This has changed since you opened it.")
    expect(card.locator("button[value=approve]")).to_be_disabled()
    assert page.input_value(f"#title-{one.pk}") == "Visit Rui in Natal"


def test_somebody_elses_decision_is_on_my_screen_before_i_press(visit: Visit) -> None:
    one = suggested()
    alice, bob = visit(cast.alice(), "/suggestions/"), visit(cast.bob(), "/suggestions/")
    wait_live(alice)
    bob.locator(f"#suggestion-{one.pk} button[popovertarget='decline-{one.pk}']").click()
    bob.locator(f"#decline-{one.pk} button[value=wrong_time]").click()
    expect(bob.locator(f"#suggestion-{one.pk}")).to_contain_text("Declined.")
    expect(alice.locator(f"#suggestion-{one.pk} form[action$='/approve/']")).to_have_count(0)


def test_many_are_approved_at_once_and_the_one_that_moved_is_set_aside(visit: Visit) -> None:
    ones = [suggested(name) for name in ("Rui Amaro", "Inês Prado", "Ana Reis")]
    # Without JavaScript nothing is renewed on the screen: the press itself must know.
    page = visit(cast.alice(), "/suggestions/", java_script_enabled=False)
    for one in ones:
        page.locator(f"#suggestion-{one.pk} input[name=pick]").check()
    bob_plans(ones[0])

    page.locator("#approve-many button").click()

    report = page.locator(".report")
    expect(report).to_contain_text("2 done, 1 set aside")
    expect(report).to_contain_text("Bob Borges set the next step first")
    assert Task.objects.count() == 3
    assert sorted(Approval.objects.values_list("state", flat=True)) == ["used", "used", "void"]


def test_a_salespersons_clash_on_a_phone_in_portuguese(visit: Visit) -> None:
    alice = cast.alice()
    alice.language = "pt-br"
    alice.save()
    deal = cast.deal(amount="48000", currency="BRL")
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    page = visit(alice, f"/deals/{deal.pk}/", **phone)
    wait_live(page)
    assert page.get_attribute("html", "lang") == "pt-BR"
    page.click("#edit-amount")
    page.fill("#f-amount", "45.500")
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="51000", decision="Sócios na sexta")

    page.click("#fact-amount button.primary")

    settle = page.locator("[data-settle]")
    expect(settle).to_contain_text("R$ 51.000")
    expect(settle).to_contain_text("R$ 45.500")
    expect(settle).not_to_contain_text("saved this")
    expect(settle.locator("input[value=theirs]")).to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, "nothing lies beside the screen"
    mine = settle.locator("label.pick", has=page.locator("input[value=mine]"))
    box = mine.bounding_box()
    assert box is not None
    assert box["height"] >= 44, "a thumb finds it"
    mine.click()
    settle.locator("button.primary").click()

    expect(page.locator("#settle")).to_be_empty()
    expect(page.locator("#fact-amount")).to_contain_text("R$ 45.500")
    now = Opportunity.objects.get(pk=deal.pk)
    assert (str(now.amount), now.decision, now.version) == ("45500.00", "Sócios na sexta", 3)
