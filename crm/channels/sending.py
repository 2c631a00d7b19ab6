"""Sending: the last look before a message leaves, the same for every provider.

Guarantees that nothing goes out whose reason has passed between the gate and the line: the customer wrote again, a
person took over, consent was withdrawn, the channel's window closed. Such a message is taken back in the conversation
(what it answered is unanswered again) before the outbox notes that it was not sent. What is only too early, or too
much, waits. Called by `conflicts/delivery.py`.
"""

from enum import Enum, auto
from typing import Any, Protocol

from django.db import transaction

from conflicts import gate, jobs, limits
from conflicts.actors import SYSTEM, Actor
from conflicts.clock import database_now
from conflicts.destinations import Found, Missing, ReadBack
from conflicts.jobs import PutOff
from conflicts.models.outbox import Delivery, OutboxMessage
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from crm import contacting, live
from crm.models import ChannelAccount, Conversation, Message, MessageReport
from crm.models.channel_account import Provider

UNDELIVERED = "message.undelivered"
"""The kind of job that brings a message which did not arrive before a person (crm/undelivered.py)."""


class ChannelProvider(Protocol):
    name: str
    """A value of crm.models.channel_account.Provider; its destination in the outbox is `message:<name>`."""
    conditional: bool
    settles_in: float
    """As conflicts.destinations.Destination says."""

    def send(self, account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> str:
        """Hand one message over; the provider's number for it.

        `payload` has text, language, template (the name it is approved under, or empty), headers (of a mail) and
        automatic. Raises conflicts.destinations.NotSent, NotAccepted; anything else means nobody knows.
        """

    def read_back(self, account: ChannelAccount, key: str) -> ReadBack:
        """What became of it there, where no report of it has come yet."""


def destination_of(provider: str) -> str:
    return f"message:{provider}"


class MessageDestination:
    """A provider as the outbox sees it (conflicts.destinations.Destination)."""

    appends = True
    """Each sending is a message of its own: nobody overwrites it."""

    def __init__(self, provider: ChannelProvider) -> None:
        self.provider = provider
        self.name = destination_of(provider.name)
        self.title = dict(Provider.choices).get(provider.name, provider.name)
        self.conditional = provider.conditional
        self.settles_in = provider.settles_in

    def send(self, key: str, payload: dict[str, Any]) -> str:
        account = ChannelAccount.objects.get(pk=payload["account"])
        return self.provider.send(account, payload["to"], payload, key=key)

    def read_back(self, key: str) -> ReadBack:
        """A report that names our key is proof; else the provider is asked, if it can tell."""
        if report := MessageReport.objects.filter(key=key).first():
            return Found(report.provider_id)
        message = OutboxMessage.objects.filter(key=key).first()
        if message is None:
            return Missing.CANNOT_TELL
        return self.provider.read_back(ChannelAccount.objects.get(pk=message.payload["account"]), key)

    def last_look(self, message: OutboxMessage) -> Sentence | None:
        refusal = _refusal(message)
        if refusal is not None:
            # First here, then in the outbox: a crash between the two finds it taken back already and says so again.
            withdraw(message, why=refusal)
        return refusal

    def ended(self, message: OutboxMessage, state: str) -> None:
        """Open pages (the inbox, the visitor's chat) are told once it is so; of a failure a person is to learn."""
        if state == Delivery.FAILED:
            jobs.enqueue(UNDELIVERED, f"undelivered:{message.key}", payload={"key": message.key})
        subject = Ref("crm.conversation", message.payload["conversation"])
        transaction.on_commit(lambda: live.nudge(subject, aspect="delivery"), robust=True)


def _refusal(message: OutboxMessage) -> Sentence | None:
    """Why it must not leave, or None. Raises PutOff for what is only too early."""
    payload = message.payload
    conversation = Conversation.objects.select_related("contact", "account").get(pk=payload["conversation"])
    contact, account = conversation.contact, conversation.account
    now = database_now()
    if payload["automatic"]:
        if not conversation.is_agents or conversation.owner_epoch != payload["epoch"]:
            return Sentence("reply.person_took_over")
        overtaken = conversation.inbound_count != payload["counter"] and not payload["final"]
        if overtaken or Message.objects.filter(outbox_key=message.key, withdrawn=True).exists():
            return Sentence("reply.customer_wrote_again")
    forbidden = contacting.why_not(conversation, contact, now=now, approved_template=bool(payload.get("template")))
    if forbidden is not None:
        return forbidden
    if payload["automatic"]:
        if wait := contacting.not_before(conversation, contact, account, now=now):
            raise PutOff((wait - now).total_seconds(), "outside the hours in which one may write unasked")
        room = limits.of_contact(conversation.medium, f"contact:{contact.pk}", by=Actor.parse(message.by))
        if not room:
            raise PutOff(max(room.retry_after, 1.0), "this contact has had enough for now")
    return None


class Way(Enum):
    FREE = auto()
    CLEARED = auto()
    """Something was taken back: the conversation is another one now."""
    TAKEN = auto()
    """An answer is on its way; what it answers is known in a moment."""


def make_way(conversation: Conversation) -> Way:
    """Take back the agent's answers that still wait and that the customer has overtaken, so that one answer to all of
    it can follow.

    Without this a turn would answer the newest message alone, and then the last look would stop what was to answer the
    others.
    """
    way = Way.FREE
    of_it = OutboxMessage.objects.filter(subject=f"crm.conversation:{conversation.pk}", payload__automatic=True)
    for message in of_it.filter(state__in=[Delivery.QUEUED, Delivery.SENDING]).order_by("pk"):
        if message.payload["final"] or message.payload["counter"] == conversation.inbound_count:
            continue  # it leaves, whatever came since
        if message.state == Delivery.SENDING:
            return Way.TAKEN
        outcome = withdraw(message, why=Sentence("reply.customer_wrote_again"), while_it_waits=True)
        if outcome.sentence is not None and outcome.sentence.code == "message_on_its_way":
            return Way.TAKEN
        way = Way.CLEARED
    return way


def withdraw(message: OutboxMessage, *, why: Sentence, while_it_waits: bool = False) -> Outcome:
    """Take a message back that was queued and will not leave; asked again, it is so already."""
    conversation = Ref("crm.conversation", message.payload["conversation"])
    return gate.commit(
        Proposal(
            action="conversation.withdraw",
            by=SYSTEM,
            basis=(Read.unread(conversation),),
            params={"key": message.key, "why": why.code, "while_it_waits": while_it_waits},
            source=f"outbox:{message.pk}",
        )
    )
