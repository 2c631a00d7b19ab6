"""What the tests of the inbox share: conversations of every kind, and the forms of their pages."""

from typing import Any

from django.test import Client
from django.urls import reverse

from crm.models import Conversation, Message, User
from crm.models.conversation import Direction
from tests import cast
from tests.chatting import writes
from tests.crm.deal_pages import HTMX, form, signed_in

__all__ = ["HTMX", "act", "fresh", "opened", "page", "said", "signed_in", "taken", "talk_of"]


def fresh(talk: Conversation) -> Conversation:
    return Conversation.objects.get(pk=talk.pk)


def taken(by: User, text: str = "Hello", *, peer: str = "ana", **more: Any) -> Conversation:
    """The customer wrote, and that person has taken it over."""
    talk = writes(text, peer=peer, **more)
    cast.propose("conversation.take_over", talk, by=by, epoch=talk.owner_epoch)
    return fresh(talk)


def talk_of(deal: Any, *, by: User | None = None, peer: str = "ana", text: str = "Hello") -> Conversation:
    """A conversation about that deal."""
    talk = writes(text, peer=peer)
    cast.propose("conversation.link_deal", talk, by=by or cast.alice(), opportunity=deal.pk)
    return fresh(talk)


def page(client: Client, talk: Conversation, query: str = "") -> Any:
    return client.get(reverse("conversation", args=[talk.pk]) + query)


def opened(client: Client, talk: Conversation, name: str, **holding: str) -> dict[str, str]:
    """The fields of one of the forms, as the person sees them now."""
    return form(page(client, talk), reverse(f"conversation_{name}", args=[talk.pk]), **holding)


def act(
    client: Client, talk: Conversation, name: str, fields: dict[str, str], *, htmx: bool = False, **more: Any
) -> Any:
    headers = HTMX if htmx else {}
    return client.post(reverse(f"conversation_{name}", args=[talk.pk]), {**fields, **more}, headers=headers)


def said(talk: Conversation) -> list[str]:
    ours = Message.objects.filter(conversation=talk, direction=Direction.OUT, withdrawn=False).order_by("pk")
    return list(ours.values_list("text", flat=True))
