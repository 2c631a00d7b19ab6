"""Contacting: may this message go to this customer now? One rule for button, tooltip, gate and delivery.

Guarantees the order in which it is asked: the channel in use, blocked, opted out, the channel's own window, and for
what nobody asked for the hours in which one may write. `why_not` says what forbids it; `not_before` when it may go
instead. Limits and what has moved meanwhile are asked at the sending only (crm/channels/sending.py).
"""

import datetime as dt
from enum import StrEnum
from zoneinfo import ZoneInfo

from django.conf import settings

from conflicts.sentences import Sentence
from crm.models import ChannelAccount, Consent, Contact, Conversation
from crm.models.channel_account import Medium
from crm.models.contact import ConsentStatus

FREE_WINDOW = {Medium.WHATSAPP: dt.timedelta(hours=24)}
"""So long after the customer's last message one may write freely; after it only an approved template.
Source: the rules of the WhatsApp Business Platform for service messages."""

ASKED_FOR = dt.timedelta(hours=12)
"""What goes out within that time of the customer's last message answers it, at whatever hour."""


class Barred(StrEnum):
    BLOCKED = "blocked"
    REFUSED = "refused"


def barred(*, blocked: bool, stated: str) -> Barred | None:
    """Whether the customer may not be reached by a channel, of which they `stated` this last: asked of every message
    here, of every task that reaches somebody (crm/follow_ups.py), and by the agents before they propose one.
    """
    if blocked:
        return Barred.BLOCKED
    return Barred.REFUSED if stated == ConsentStatus.REFUSED else None


def stated(contact_id: int, medium: str) -> str:
    """The contact's newest statement about the channel: granted, refused or nothing."""
    found = Consent.objects.filter(contact_id=contact_id, channel=medium).values_list("status", flat=True).first()
    return found or ""


def why_not(
    conversation: Conversation, contact: Contact, *, now: dt.datetime, approved_template: bool = False
) -> Sentence | None:
    """What forbids a message of ours in this conversation, whoever wrote it; None if nothing does."""
    if not conversation.account.active:
        return Sentence("message.channel_off", {"channel": conversation.account.name})
    if bar := barred(blocked=contact.blocked, stated=stated(contact.pk, conversation.medium)):
        return Sentence(f"message.{bar}", {"contact": contact.name})
    window = FREE_WINDOW.get(Medium(conversation.medium))
    if window and not approved_template and not _within(conversation.last_inbound_at, window, now):
        return Sentence("message.window_closed", {"hours": int(window.total_seconds() // 3600)})
    return None


def not_before(
    conversation: Conversation, contact: Contact, account: ChannelAccount, *, now: dt.datetime
) -> dt.datetime | None:
    """When an automatic message may go, if not now: the next hour in which this contact may be written to unasked."""
    if _within(conversation.last_inbound_at, ASKED_FOR, now):
        return None
    start, end = account.contact_from, account.contact_until
    local = now.astimezone(zone_of(contact, account))
    if start == end or (start <= local.time() < end if start < end else not end <= local.time() < start):
        return None
    day = local.date() if local.time() < start else local.date() + dt.timedelta(days=1)
    return dt.datetime.combine(day, start, tzinfo=local.tzinfo)


def zone_of(contact: Contact, account: ChannelAccount) -> ZoneInfo:
    return ZoneInfo(contact.time_zone or account.time_zone or settings.TIME_ZONE)


def _within(then: dt.datetime | None, span: dt.timedelta, now: dt.datetime) -> bool:
    return then is not None and now - then <= span
