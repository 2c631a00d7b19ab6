"""The pages of a deal and of a contact show their conversations as they are now, without being loaded again."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests import cast
from tests.browser.conftest import wait_live
from tests.chatting import account, writes
from tests.crm.talks import fresh

Visit = Callable[..., Page]


def test_a_conversation_comes_moves_and_goes_on_open_pages(visit: Visit) -> None:
    account(quiet_seconds=600, cap_seconds=600)
    deal = cast.deal()
    talk = writes("Good morning")
    of_deal = visit(cast.alice(), f"/deals/{deal.pk}/")
    of_contact = visit(cast.alice(), f"/contacts/{talk.contact_id}/")
    wait_live(of_deal), wait_live(of_contact)
    expect(of_deal.locator("#talks")).to_be_hidden()
    expect(of_contact.locator("#talks")).to_contain_text("Good morning")

    cast.propose("conversation.link_deal", fresh(talk), by=cast.alice(), opportunity=deal.pk)
    expect(of_deal.locator("#talks")).to_contain_text("Good morning")
    writes("And a price?")
    for page in (of_deal, of_contact):
        expect(page.locator("#talks")).to_contain_text("And a price?")
    cast.propose("conversation.take_over", fresh(talk), by=cast.bob(), epoch=fresh(talk).owner_epoch)
    for page in (of_deal, of_contact):
        expect(page.locator("#talks")).to_contain_text("Waits for Bob")

    cast.propose("conversation.link_deal", fresh(talk), by=cast.alice(), opportunity=None)
    expect(of_deal.locator("#talks")).to_be_hidden()
