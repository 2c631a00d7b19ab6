"""The inbox as a list: whose, who waits longest, found again, and seen only by whoever may see it."""

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crm import inbox
from crm.models import Contact
from tests import cast
from tests.chatting import account, writes
from tests.crm.deal_pages import HTMX, signed_in, text, words
from tests.crm.talks import fresh, page, taken, talk_of

pytestmark = pytest.mark.django_db


def listed(client, query: str = "") -> list[str]:  # type: ignore[no-untyped-def]
    """The names in the list, from the top."""
    found = client.get(reverse("inbox") + query)
    return [row.conversation.contact.name for row in found.context["page"].rows]


def test_who_waits_longest_stands_on_top_and_what_is_answered_below() -> None:
    first, second, third = (writes("Hi", peer=peer) for peer in ("ana", "bea", "cleo"))
    cast.propose("conversation.send", first, by=cast.alice(), text="Hello", seen=1, said=0)
    assert listed(signed_in(cast.alice())) == ["bea", "cleo", "ana"]
    writes("And?", peer="ana")
    assert listed(signed_in(cast.alice())) == ["bea", "cleo", "ana"], "it waits again, and shorter than the others"
    assert second.pk < third.pk


def test_conversations_are_parted_by_who_answers() -> None:
    taken(cast.alice(), peer="ana")
    taken(cast.bob(), peer="bea")
    writes("I want a person", peer="cleo", provider_id="x1")
    writes("talk to a human", peer="cleo")
    writes("Hi", peer="dora")
    client = signed_in(cast.alice())
    assert listed(client, "?whose=mine") == ["ana"]
    assert listed(client, "?whose=unassigned") == ["cleo"]
    assert listed(client, "?whose=agent") == ["dora"]
    assert sorted(listed(client)) == ["ana", "bea", "cleo", "dora"]
    assert client.get("/inbox/").context["counts"] == {"all": 4, "mine": 1, "unassigned": 1, "agent": 1}


def test_the_column_counts_what_waits_for_me_or_for_anybody() -> None:
    taken(cast.alice(), peer="ana")
    taken(cast.bob(), peer="bea")
    writes("human", peer="cleo")
    assert 'data-nav="inbox"' in text(signed_in(cast.alice()).get("/preferences/"))
    assert inbox.counts(cast.alice())["mine"] + inbox.counts(cast.alice())["unassigned"] == 2
    assert inbox.counts(cast.charlie())["mine"] == 0


def test_one_is_found_by_name_company_channel_and_among_the_closed() -> None:
    talk = writes("Hi", peer="ana", name="Ana Prado")
    company = cast.propose("company.create", by=cast.alice(), name="Cold Chain Ltd").subject
    contact = Contact.objects.get(pk=talk.contact_id)
    assert cast.propose("contact.edit", contact, by=cast.alice(), company=company.pk).written  # type: ignore[union-attr]
    writes("Hi", to=account(address="m@x.org", provider="mail", medium="email"), peer="<1@y>", email="bea@y.example")
    client = signed_in(cast.alice())
    assert listed(client, "?q=prado") == ["Ana Prado"]
    assert listed(client, "?q=cold+chain") == ["Ana Prado"]
    assert listed(client, "?medium=email") == ["bea@y.example"]
    assert listed(client, "?q=nobody") == []
    assert "Nothing fits" in words(client.get("/inbox/?q=nobody"))
    cast.propose("conversation.close", fresh(talk), by=cast.alice())
    assert listed(client, "?q=prado") == []
    assert listed(client, "?q=prado&closed=1") == ["Ana Prado"]


def test_whatever_stands_in_the_address_bar_the_page_comes() -> None:
    writes("Hi")
    client = signed_in(cast.alice())
    for query in (
        "?whose=x",
        "?medium=fax",
        "?after=w~x~1",
        "?after=zz",
        "?after=a~2031-01-01~1",
        "?closed=2",
        "?q=%00",
    ):
        assert client.get("/inbox/" + query).status_code in (200, 400), query


def test_pages_neither_repeat_nor_miss_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "PAGE", 2)
    for number in range(5):
        talk = writes("Hi", peer=f"p{number}")
        if number % 2:
            cast.propose("conversation.send", talk, by=cast.alice(), text="Hello", seen=1, said=0)
    client, seen, after = signed_in(cast.alice()), [], ""
    while True:
        shown = client.get("/inbox/", {"after": after}).context["page"]
        seen += [row.conversation.contact.name for row in shown.rows]
        after = shown.after
        if not after:
            break
    assert seen == ["p0", "p2", "p4", "p3", "p1"]
    rows = client.get("/inbox/", {"after": "w~2001-01-01T00:00:00+00:00~1"}, headers=HTMX)
    assert "<html" not in text(rows)
    assert text(rows).count('class="talk"') == 2


def test_charlie_finds_none_of_another_teams_deals_conversations() -> None:
    talk = talk_of(cast.deal("Secret sensors"))
    writes("Hi", peer="bea")
    client = signed_in(cast.charlie())
    assert listed(client) == ["bea"]
    assert listed(client, "?q=ana") == []
    assert page(client, talk).status_code == 404
    assert client.get(reverse("conversation_parts", args=[talk.pk])).status_code == 404
    assert client.get(reverse("live_check"), {"subject": f"crm.conversation:{talk.pk}"}).status_code == 404
    assert inbox.counts(cast.charlie())["all"] == 1
    assert page(signed_in(cast.bob()), talk).status_code == 200


def test_a_list_of_many_takes_as_many_queries_as_one_of_few() -> None:
    client = signed_in(cast.alice())
    writes("Hi", peer="one")
    taken(cast.alice(), peer="two")
    client.get("/inbox/")
    with CaptureQueriesContext(connection) as few:
        client.get("/inbox/")
    for number in range(8):
        talk_of(cast.deal(f"Deal {number}"), peer=f"p{number}")
        taken(cast.bob(), peer=f"q{number}")
    with CaptureQueriesContext(connection) as many:
        client.get("/inbox/")
    assert len(many) == len(few)
    assert len(many) <= 12


def test_each_row_says_what_is_going_on() -> None:
    shop = account(quiet_seconds=60, cap_seconds=60)
    writes("Hi", to=shop, peer="ana")
    taken(cast.bob(), peer="bea")
    writes("atendente", peer="cleo")
    page = words(signed_in(cast.alice()).get("/inbox/"))
    assert "The agent answers in 60 s" in page or "The agent answers in 59 s" in page
    assert "Waits for Bob Borges" in page
    assert "Nobody has this one yet: The customer asked for a person." in page


def test_the_rows_alone_are_brought_up_to_date() -> None:
    talk = writes("Hi", peer="ana")
    answer = signed_in(cast.alice()).get(reverse("inbox_rows"), {"open": talk.pk}, headers=HTMX)
    assert 'id="inbox-region"' in text(answer)
    assert 'aria-current="true"' in text(answer)
    assert "<html" not in text(answer)


def test_my_day_the_deal_and_the_contact_show_their_conversations() -> None:
    deal = cast.deal("Cold rooms", contact=cast.contact("Rui Amaro").pk)
    talk = talk_of(deal, text="What about the price?")
    client = signed_in(cast.alice())
    assert "What about the price?" not in words(client.get("/")), "the agent answers it"
    writes("a person please, talk to a human", peer="ana")
    assert "Conversations that wait" in words(client.get("/"))
    address = reverse("conversation", args=[talk.pk])
    for where in ("/", reverse("deal", args=[deal.pk]), reverse("contact", args=[talk.contact_id])):
        assert address in text(client.get(where)), where
    assert address not in text(signed_in(cast.charlie()).get(reverse("contact", args=[talk.contact_id])))


def test_the_answered_ones_are_read_in_their_order_from_an_index() -> None:
    """However many there are: without it all of them are sorted for each page, and each page is asked for often."""
    answered = inbox.conversations(inbox.Filters(), user=cast.alice()).filter(waiting_since__isnull=True)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")  # of so few rows none needs an index: could it be read in order?
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = answered.order_by(F("changed_at").desc(), "-pk")[:31].explain()
    assert "conversation_answered" in plan
    assert "Sort" not in plan
