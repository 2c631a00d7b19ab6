"""A form that was open while its session ended: signed in again in another tab it is sent, as another person not."""

from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from crm.models import Opportunity, User
from tests import cast

Visit = Callable[..., Page]
PASSWORD = "correct horse battery"


def with_password(user: User) -> User:
    user.set_password(PASSWORD)
    user.save()
    return user


def sign_in_beside(page: Page, user: User) -> None:
    """In a second tab of the same browser, after the session has ended."""
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    other = page.context.new_page()
    other.goto("/sign-in/")
    other.fill("[name=username]", user.username)
    other.fill("[name=password]", PASSWORD)
    other.click("main button")
    other.wait_for_url("**/")
    other.close()


def test_an_open_edit_is_saved_after_signing_in_again_in_another_tab(visit: Visit) -> None:
    alice, deal = with_password(cast.alice()), cast.deal(amount="1", currency="BRL")
    page = visit(alice, f"/deals/{deal.pk}/")
    page.click("#edit-amount")
    page.fill("#f-amount", "2")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.click("#fact-amount button.primary")
    expect(page.locator("#toasts")).to_contain_text("You have been signed out.")
    sign_in_beside(page, alice)
    assert page.input_value("#f-amount") == "2"
    page.click("#fact-amount button.primary")
    expect(page.locator("#fact-amount .value")).to_contain_text("R$ 2")
    assert Opportunity.objects.get(pk=deal.pk).amount == 2


def test_a_form_that_is_sent_whole_is_saved_too(visit: Visit) -> None:
    alice, deal = with_password(cast.alice()), cast.deal(amount="1")
    page = visit(alice, f"/deals/{deal.pk}/?edit=all")
    page.fill("#f-amount", "2")
    sign_in_beside(page, alice)
    page.click("[data-editing=all] button.primary")
    expect(page.locator("#head")).to_contain_text("v2")
    assert Opportunity.objects.get(pk=deal.pk).amount == 2


@pytest.mark.parametrize("whole", [False, True])
def test_what_one_person_typed_is_not_sent_in_the_name_of_another(visit: Visit, whole: bool) -> None:
    bob, deal = with_password(cast.bob()), cast.deal(amount="1")
    page = visit(cast.alice(), f"/deals/{deal.pk}/" + ("?edit=all" if whole else ""))
    if not whole:
        page.click("#edit-amount")
    page.fill("#f-amount", "2")
    sign_in_beside(page, bob)
    page.click("[data-editing] button.primary")
    expect(page.get_by_text("you are signed in as Bob Borges. Nothing was written")).to_be_visible()
    if whole:
        expect(page.locator("main")).to_contain_text("Amount: 2")
    else:
        expect(page.locator("#f-amount")).to_have_value("2")
    assert Opportunity.objects.get(pk=deal.pk).version == 1
