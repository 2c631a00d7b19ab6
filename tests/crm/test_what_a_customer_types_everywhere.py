"""Whatever a customer types is text on every page that shows it, for people here and for the customer."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents import replies
from crm.models import Conversation, Message
from tests import cast
from tests.chatting import Says, account, deliver
from tests.crm.talks import fresh, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

NASTY = (
    """evil7 </textarea></script><script>evil7()</script><img src=x onerror="evil7()"><b class='evil7'>"' {{ evil7 }}"""
)
HIDDEN = "שלום \u202eevil7\u202c a\u200bb\u2066c"


class Reader(HTMLParser):
    """What a browser would make of a page: its words, and all that the customer's words became besides."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.became, self.script = "", [], False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.script = tag == "script"
        names = dict(attrs)
        if "onerror" in names or names.get("class") == "evil7" or names.get("src") == "x":
            self.became.append(f"<{tag} {attrs}>")

    def handle_endtag(self, tag: str) -> None:
        self.script = self.script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self.script and "evil7" in data:
            self.became.append(f"<script>{data}")
        self.words += data


def seen(client: Client, address: str) -> Reader:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return Reader(answer.text)


def conversation(words: str) -> tuple[Conversation, Client, str]:
    """From a visitor's own browser; about a deal, answered, and written on."""
    account(quiet_seconds=0, cap_seconds=0)
    visitor = Client()
    token = re.search(r'data-token="([^"]+)"', visitor.get("/chat/shop/").text)[1]  # type: ignore[index]
    for line in ("1", "2"):
        said = json.dumps({"text": words, "line": line})
        sent = visitor.post("/chat/shop/say/", said, content_type="application/json", headers={"X-Chat-Token": token})
        assert sent.status_code == 201
    talk = Conversation.objects.get()
    cast.propose("contact.edit", talk.contact, by=cast.alice(), name=words, job_title=words)
    cast.propose("conversation.link_deal", talk, by=cast.alice(), opportunity=cast.deal().pk)
    replies.take_turn(talk.pk, responder=Says(f"You wrote: {words}"))
    deliver()
    cast.propose("conversation.note", fresh(talk), by=cast.alice(), text=words)
    return fresh(talk), visitor, token


def pages(talk: Conversation) -> list[str]:
    of_talk, of_deal, of_contact = [talk.pk], [talk.opportunity_id], [talk.contact_id]
    return [
        reverse("inbox"),
        reverse("inbox_rows"),
        reverse("conversation", args=of_talk),
        reverse("conversation_parts", args=of_talk) + "?since=1",
        reverse("deal", args=of_deal),
        reverse("deal_parts", args=of_deal) + "?since=1",
        reverse("contact", args=of_contact),
        reverse("contact_parts", args=of_contact) + "?since=1",
        reverse("contacts"),
        reverse("conversation_new") + f"?contact={talk.contact_id}",
        reverse("search") + "?q=evil7",
        reverse("admin:crm_conversation_change", args=of_talk),
    ]


@pytest.mark.parametrize("words", [NASTY, HIDDEN])
def test_it_is_text_on_every_page_of_the_house(words: str) -> None:
    talk, _, _ = conversation(words)
    admin = signed_in(cast.administrator())
    for address in pages(talk):
        page = seen(admin, address)
        assert page.became == [], address
        assert "evil7" in page.words, f"{address} shows nothing of it"
        assert not set("\u202e\u202c\u2066\u200b") & set(page.words), address


def test_it_is_text_on_my_day_of_whoever_it_waits_for() -> None:
    talk, visitor, token = conversation(NASTY)
    cast.propose("conversation.take_over", talk, by=cast.alice(), epoch=talk.owner_epoch)
    more: dict[str, Any] = {"token": token, "line": "3", "text": NASTY}
    assert visitor.post("/chat/shop/say/", more).status_code == 200
    page = seen(signed_in(cast.alice()), reverse("my_day"))
    assert page.became == []
    assert "evil7" in page.words


def test_it_is_text_in_the_customers_own_chat_and_in_its_answers() -> None:
    _, visitor, token = conversation(NASTY)
    page = visitor.post("/chat/shop/say/", {"token": token, "line": "3", "text": NASTY})
    read = Reader(page.text)
    assert read.became == []
    assert read.words.count("You wrote: evil7") == 1
    told = visitor.get("/chat/shop/thread/", headers={"X-Chat-Token": token})
    assert told.headers["Content-Type"] == "application/json"
    assert told.json()["lines"][0]["text"] == NASTY
    assert Message.objects.filter(text=NASTY).count() == 4  # three lines and the note
