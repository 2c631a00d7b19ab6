"""Prompts: what a responder is told of a conversation: this contact, this deal's public side, the last lines, no more.

Guarantees that everything pending goes into one prompt, in the order in which it was counted, and that no note, no
other deal and no amount is in it: a responder speaks to the customer. Next in the flow: `agents/responders/port.py`.
"""

import datetime as dt
import unicodedata

from django.conf import settings

from agents.responders.port import Facts, Line, Prompt
from crm import contacting
from crm.models import Conversation, Message
from crm.models.conversation import Direction
from crm.templating import templates_for

LINES = 20
"""Of the thread before what is pending."""
LONGEST = 4_000
"""Characters of one line; nobody reads more, and a budget is a limit."""


def load(pk: int) -> Conversation:
    """The conversation as it is now, with what lies around it."""
    related = ("contact", "account", "opportunity__stage", "opportunity__owner", "opportunity__product")
    return Conversation.objects.select_related(*related).get(pk=pk)


def prompt_of(conversation: Conversation, *, now: dt.datetime) -> Prompt:
    """What is pending at the counter that `conversation` was read with, and what may be said."""
    said = Message.objects.filter(conversation=conversation, withdrawn=False).exclude(direction=Direction.NOTE)
    pending = said.filter(number__gt=conversation.answered_count, number__lte=conversation.inbound_count)
    first = pending.order_by("number").values_list("at", flat=True).first()
    before = said.exclude(number__gt=conversation.answered_count)
    if first is not None:
        before = before.filter(at__lte=first)
    thread = list(before.order_by("-at", "-id")[:LINES])
    return Prompt(
        conversation=conversation.pk,
        counter=conversation.inbound_count,
        thread=tuple(_line(message) for message in reversed(thread)),
        pending=tuple(_line(message) for message in pending.order_by("number")),
        facts=_facts(conversation, now=now),
    )


def _line(message: Message) -> Line:
    return Line(
        ours=message.direction == Direction.OUT,
        text=visible(message.text)[:LONGEST],
        at=message.at,
        media=len(message.media),
    )


def visible(text: str) -> str:
    """Without characters that a reader cannot see: what a person does not read, no model shall."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs"))


def _facts(conversation: Conversation, *, now: dt.datetime) -> Facts:
    account, contact, deal = conversation.account, conversation.contact, conversation.opportunity
    return Facts(
        contact=contact.name,
        workspace=settings.VIGENTE_WORKSPACE,
        language=conversation.language or "",
        now=now,
        zone=str(contacting.zone_of(contact, account)),
        deal=str(deal) if deal else "",
        stage=deal.stage.name if deal else "",
        deal_open=bool(deal and deal.is_open),
        product=str(deal.product) if deal and deal.product else "",
        owner=str(deal.owner) if deal and deal.owner else "",
        opens_at=account.opens_at,
        closes_at=account.closes_at,
        open_days=account.open_days,
        templates=templates_for(conversation),
    )
