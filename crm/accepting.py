"""Accepting: from what a provider tells us to rows, at once and without any model.

Guarantees that an event which was acknowledged is stored, once, however often and in whatever order it is told; that
several events of one customer at the same moment make one contact and one conversation; and that what is old or
imported sets nothing off. Raises nothing for a known event. Next in the flow: `crm/actions/conversation_inbound.py`.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext_lazy

from conflicts import actors, gate
from conflicts.actors import Actor
from conflicts.clock import database_now
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm import reports
from crm.actions.contacts import address_key
from crm.actions.fields import clean_line, clean_text
from crm.channels.events import Echo, Event, Incoming, Reported
from crm.models import ChannelAccount, Contact, ContactPoint, Conversation, Message

LATE = dt.timedelta(minutes=15)
"""A message that its provider says is older was held up somewhere: nobody waits for an answer within seconds any more,
and a person reads it in its place in the thread."""

LONGEST_TEXT = 20_000


class Took(StrEnum):
    STORED = "stored"
    KNOWN = "known"
    """It was told before; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one event."""

    how: Took
    conversation: int | None = None
    number: int | None = None


def take(account: ChannelAccount, events: Iterable[Event]) -> list[Taken]:
    """Store what the provider of `account` tells us; each event in a transaction of its own, in the order given."""
    return [_take(account, event) for event in events]


def _take(account: ChannelAccount, event: Event) -> Taken:
    match event:
        case Incoming():
            return _receive(account, event)
        case Echo():
            return _hear(account, event)
        case Reported():
            return _note(account, event)


def _receive(account: ChannelAccount, event: Incoming) -> Taken:
    known = Message.objects.filter(account=account, provider_id=event.provider_id[:255])
    if (pk := known.values_list("conversation_id", flat=True).first()) is not None:
        # Told again: only a look, so that a provider which repeats itself keeps nobody waiting for the conversation.
        return Taken(how=Took.KNOWN, conversation=pk)
    conversation = conversation_of(account, event)
    old = event.imported or (event.sent_at is not None and database_now() - event.sent_at > LATE)
    outcome = gate.commit(
        Proposal(
            action="conversation.receive",
            by=channel_actor(account),
            basis=(Read.unread(Ref("crm.conversation", conversation)),),
            params={
                "provider_id": event.provider_id,
                "text": shorten(event.text),
                "media": list(event.media),
                "sent_at": event.sent_at,
                "automatic": event.automatic,
                "late": old,
                "imported": event.imported,
                "headers": event.headers,
            },
            key=_key("in", account, event.provider_id),
            source=f"channel:{account.pk}",
        )
    )
    return _taken(outcome, conversation)


def _hear(account: ChannelAccount, event: Echo) -> Taken:
    known = Incoming(
        provider_id=event.provider_id, peer=event.peer, phone=event.phone, email=event.email, headers=event.headers
    )
    conversation = conversation_of(account, known)
    old = event.sent_at is not None and database_now() - event.sent_at > LATE
    outcome = gate.commit(
        Proposal(
            action="conversation.echo",
            by=actors.integration(f"phone-{account.pk}", "Phone", words=gettext_lazy("Phone")),
            basis=(Read.unread(Ref("crm.conversation", conversation)),),
            params={
                "provider_id": event.provider_id,
                "text": shorten(event.text),
                "media": list(event.media),
                "sent_at": event.sent_at,
                "late": old,
                "reaction": event.reaction,
                "headers": event.headers,
            },
            key=_key("echo", account, event.provider_id),
            source=f"channel:{account.pk}",
        )
    )
    return _taken(outcome, conversation)


def _note(account: ChannelAccount, event: Reported) -> Taken:
    """A state only moves forward: a report that comes late, or again, changes nothing."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                _REPORT,
                {
                    "account": account.pk,
                    "provider_id": event.provider_id[:255],
                    "state": event.state,
                    "at": event.at,
                    "error": clean_line(event.error)[:200],
                    "key": event.key[:200],
                },
            )
            if not cursor.rowcount:
                return Taken(how=Took.KNOWN)
        reports.heard(account, event)
    return Taken(how=Took.STORED)


_REPORT = """
    INSERT INTO crm_messagereport AS r (account_id, provider_id, state, at, error, key)
    VALUES (%(account)s, %(provider_id)s, %(state)s, %(at)s, %(error)s, %(key)s)
    ON CONFLICT (account_id, provider_id) DO UPDATE
       SET state = excluded.state, at = excluded.at, error = excluded.error,
           key = CASE WHEN r.key = '' THEN excluded.key ELSE r.key END, noted_at = clock_timestamp()
     WHERE (r.state = 'sent' AND excluded.state IN ('delivered', 'read', 'failed'))
        OR (r.state = 'delivered' AND excluded.state = 'read')
"""


def _taken(outcome: Outcome, conversation: int) -> Taken:
    if outcome.result in (Result.DUPLICATE, Result.SUPERSEDED):
        return Taken(how=Took.KNOWN, conversation=conversation)
    if not outcome.done:
        # None of the ends that a repetition or a race can have: the provider must not be told that we have it.
        raise NotStored(str(outcome.sentence))
    return Taken(how=Took.STORED, conversation=conversation)


class NotStored(Exception):
    """The gate did not store the message; the provider is to send it again."""


def conversation_of(account: ChannelAccount, event: Incoming) -> int:
    """The key of the conversation, found or made with its contact in one transaction."""
    found = Conversation.objects.filter(account=account, peer=_peer(event))
    if (pk := found.values_list("pk", flat=True).first()) is not None:
        return pk
    with transaction.atomic():
        # An album comes as three webhooks at once. The unique keys decide; this lock lets the second see the first
        # instead of failing on it.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))",
                [f"vigente.peer:{event.phone or event.email or f'{account.pk}:{event.peer}'}"],
            )
        if (pk := found.values_list("pk", flat=True).first()) is not None:
            return pk
        contact = _contact_of(account, event)
        opened = gate.commit(
            Proposal(
                action="conversation.open",
                by=channel_actor(account),
                params={
                    "account": account.pk,
                    "contact": contact,
                    "peer": _peer(event),
                    "reply_to": event.reply_to,
                    "title": clean_line(event.title or event.name)[:120],
                    "language": event.language[:8],
                },
                source=f"channel:{account.pk}",
            )
        )
    if opened.created:
        return opened.created["crm.conversation"]
    if (pk := found.values_list("pk", flat=True).first()) is None:
        raise NotStored(str(opened.sentence))
    return pk


def _contact_of(account: ChannelAccount, event: Incoming) -> int:
    """Who has that number or address; else a new contact with it."""
    addresses: list[dict[str, Any]] = []
    for kind, value in (("phone", event.phone), ("email", event.email)):
        try:
            key = address_key(kind, value) if value else ""
        except ValueError:
            continue  # a short code, or a sender without an address: the conversation's peer is all we know
        if not key:
            continue
        point = ContactPoint.objects.filter(kind=kind, value_key=key, removed=False).first()
        if point is not None:
            return point.contact_id
        addresses.append({"kind": kind, "value": value, "is_primary": True})
    name = clean_line(event.name)[:200] or event.phone or event.email or event.peer
    made = gate.commit(
        Proposal(
            action="contact.create",
            by=channel_actor(account),
            params={"name": name, "addresses": addresses, "language": event.language[:8]},
            source=f"channel:{account.pk}",
        )
    )
    if not made.created:
        raise NotStored(str(made.sentence))
    return made.created[Contact._meta.label_lower]


def channel_actor(account: ChannelAccount) -> Actor:
    return account.actor


def _peer(event: Incoming) -> str:
    return clean_line(event.peer)[:200]


def _key(kind: str, account: ChannelAccount, provider_id: str) -> str:
    return f"{kind}:{account.pk}:{provider_id}"[:255]


def shorten(text: str) -> str:
    """As it is stored: no control characters, cut where nobody reads on. Whatever it looks like, it is only text."""
    cleaned = clean_text(text)
    return cleaned if len(cleaned) <= LONGEST_TEXT else cleaned[: LONGEST_TEXT - 1] + "…"
