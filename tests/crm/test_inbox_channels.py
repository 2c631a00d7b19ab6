"""Channels and templates: read by everybody, changed by managers, two of whom never overwrite each other."""

import pytest
from django.urls import reverse

from crm.models import ChannelAccount, MessageTemplate
from tests import cast
from tests.chatting import account
from tests.crm.deal_pages import form, signed_in, text, words

pytestmark = pytest.mark.django_db

CHANNELS = "/inbox/channels/"


def test_everybody_reads_them_and_only_managers_find_a_button() -> None:
    shop = account(name="Our chat")
    page = signed_in(cast.alice()).get(CHANNELS)
    assert "Our chat" in words(page)
    assert "New channel" not in words(page)
    assert "New channel" in words(signed_in(cast.manager()).get(CHANNELS))
    one = signed_in(cast.alice()).get(reverse("inbox_channel", args=[shop.pk]))
    assert "Only a manager can do this" in words(one)
    assert "primary" not in text(one).split("<main")[1]


def test_a_salesperson_changes_and_adds_nothing() -> None:
    shop = account(name="Our chat")
    alice = signed_in(cast.alice())
    answer = alice.post(reverse("inbox_channel", args=[shop.pk]), {"version": shop.version, "name": "Mine"})
    assert answer.status_code == 422
    assert alice.post(f"{CHANNELS}new/", {"name": "x"}).status_code == 403
    assert alice.post("/inbox/templates/new/", {"name": "x"}).status_code == 403
    assert ChannelAccount.objects.get().name == "Our chat"


def test_a_manager_sets_pace_and_hours() -> None:
    shop = account()
    manager = signed_in(cast.manager())
    address = reverse("inbox_channel", args=[shop.pk])
    fields = form(manager.get(address), "") | {"quiet_seconds": "2.5", "opens_at": "09:00", "give_back_minutes": "30"}
    assert manager.post(address, fields | {"agent_answers": ""}).status_code == 302
    shop.refresh_from_db()
    assert (shop.quiet_seconds, str(shop.opens_at), shop.give_back_minutes) == (2.5, "09:00:00", 30)
    assert not shop.agent_answers


@pytest.mark.parametrize(
    ("name", "typed", "words_"),
    [
        ("quiet_seconds", "many", "has letters in it"),
        ("quiet_seconds", "601", "Between 0 and 600"),
        ("opens_at", "25:00", "There is no time"),
        ("contact_from", "", "This cannot be empty"),
        ("time_zone", "Mars/Base", "There is no time zone"),
        ("name", "", "This cannot be empty"),
    ],
)
def test_what_nobody_can_keep_comes_back_with_all_that_was_typed(name: str, typed: str, words_: str) -> None:
    shop = account()
    manager = signed_in(cast.manager())
    address = reverse("inbox_channel", args=[shop.pk])
    answer = manager.post(address, form(manager.get(address), "") | {"flush_at": "7", name: typed})
    assert answer.status_code == 422
    assert words_ in words(answer)
    assert form(answer, "")["flush_at"] == "7"
    assert ChannelAccount.objects.get().version == 1


def test_two_managers_who_change_the_same_are_asked() -> None:
    shop = account()
    manager = signed_in(cast.manager())
    address = reverse("inbox_channel", args=[shop.pk])
    fields = form(manager.get(address), "")
    cast.propose("channel.edit", shop, by=cast.administrator(), quiet_seconds=9, name="Chat")
    answer = manager.post(address, fields | {"quiet_seconds": "2", "flush_at": "5"})
    assert answer.status_code == 409
    assert ChannelAccount.objects.get().quiet_seconds == 9
    assert "saved this while you were editing it" in words(answer)
    assert "Ada" in words(answer)


def test_a_manager_adds_a_channel_and_a_template_once() -> None:
    manager = signed_in(cast.manager())
    fields = form(manager.get(f"{CHANNELS}new/"), "") | {
        "name": "Chat", "provider": "webchat", "medium": "webchat", "address": "Geada",
    }  # fmt: skip
    for _ in range(2):
        assert manager.post(f"{CHANNELS}new/", fields).status_code == 302
    assert ChannelAccount.objects.get().address == "geada"
    wrong = manager.post(f"{CHANNELS}new/", fields | {"key": "other", "medium": "sms"})
    assert (wrong.status_code, "does not serve that channel" in words(wrong)) == (422, True)
    stage = cast.stage("Proposal")
    new = form(manager.get("/inbox/templates/new/"), "") | {
        "slug": "status", "name": "Where it stands", "language": "pt-br", "text": "Olá {contact}",
        "stage": str(stage.pk),
    }  # fmt: skip
    assert manager.post("/inbox/templates/new/", new).status_code == 302
    made = MessageTemplate.objects.get()
    assert (made.language, made.stage) == ("pt-br", stage)
    address = reverse("inbox_template", args=[made.pk])
    assert manager.post(address, form(manager.get(address), "") | {"active": ""}).status_code == 302
    made.refresh_from_db()
    assert not made.active
    assert made.stage == stage
    assert "Where it stands" in words(manager.get(CHANNELS))
