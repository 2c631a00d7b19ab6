"""Conversation: one customer on one channel, who answers there, and how far we have answered; Message: its lines.

A conversation with its messages is one subject. `inbound_count` rises with each message of the customer,
`answered_count` is the watermark: what has been answered. Both only grow, but for an answer that was taken back.
Next in the flow: `crm/actions/conversation_inbound.py`.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import MergePolicy
from crm.models.channel_account import Medium
from crm.models.opportunity import Opportunity
from crm.models.user import User


class Owner(models.TextChoices):
    AGENT = "agent", _("agent")
    PERSON = "person", _("person")
    """With `owner` empty: somebody has to take it."""


class Status(models.TextChoices):
    OPEN = "open", _("open")
    CLOSED = "closed", pgettext_lazy("conversation", "closed")


TRANSITIONS = {Status.OPEN: frozenset({Status.CLOSED}), Status.CLOSED: frozenset({Status.OPEN})}
"""A new message of the customer, or a word of ours, opens it again."""


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def visible_to(self, user: User) -> "ConversationQuerySet":
        """Those about a deal that the person sees, and those about none; administrators see all."""
        if user.sees_everything:
            return self
        return self.filter(
            models.Q(opportunity=None) | models.Q(opportunity__in=Opportunity.objects.visible_to(user).values("pk"))
        )


@tracked
class Conversation(VersionedModel):
    account = models.ForeignKey("crm.ChannelAccount", models.PROTECT, related_name="conversations")
    peer = models.CharField(_("address"), max_length=254)
    """The customer's address on this channel; of a mail the first Message-ID of its thread."""
    reply_to = models.CharField(_("answers go to"), max_length=254)
    medium = models.CharField(_("channel"), max_length=10, choices=Medium)
    contact = models.ForeignKey("crm.Contact", models.PROTECT, verbose_name=_("contact"), related_name="conversations")
    opportunity = models.ForeignKey(
        "crm.Opportunity", models.PROTECT, null=True, blank=True, verbose_name=_("deal"), related_name="conversations"
    )
    title = models.CharField(_("about"), max_length=300)
    """The contact's name when it began; of a mail its subject."""
    language = models.CharField(_("language"), max_length=8, blank=True)
    status = models.CharField(_("state"), max_length=6, choices=Status, default=Status.OPEN)

    owner_kind = models.CharField(_("answered by"), max_length=6, choices=Owner, default=Owner.AGENT)
    owner = models.ForeignKey(
        "crm.User", models.PROTECT, null=True, blank=True, verbose_name=_("person"), related_name="conversations"
    )
    owner_epoch = models.BigIntegerField(_("epoch"), default=1)
    """Rises with every change of owner: what was begun under another epoch is void."""
    handed_over = models.CharField(_("why a person"), max_length=30, blank=True)
    """The code of the reason (crm/sentences_conversation.py: `handover.<code>`)."""

    inbound_count = models.BigIntegerField(_("messages of the customer"), default=0)
    answered_count = models.BigIntegerField(_("of them answered"), default=0)
    waiting_since = models.DateTimeField(_("waiting since"), null=True, blank=True)
    """When the first unanswered message came; empty where everything is answered."""
    last_inbound_at = models.DateTimeField(_("last message of the customer"), null=True, blank=True)
    last_outbound_at = models.DateTimeField(_("last message of ours"), null=True, blank=True)
    last_human_at = models.DateTimeField(_("last human sign"), null=True, blank=True)

    policy = MergePolicy(owner=gettext_noop("customer service"))
    state_field = "status"
    transitions = TRANSITIONS
    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        constraints = [
            models.UniqueConstraint(fields=["account", "peer"], name="one_conversation_per_peer"),
            models.CheckConstraint(
                condition=models.Q(answered_count__lte=models.F("inbound_count")), name="answered_what_came"
            ),
        ]
        indexes = [
            models.Index(fields=["waiting_since", "id"], name="conversation_waiting"),
            models.Index(
                fields=["status", "-changed_at", "-id"],
                condition=models.Q(waiting_since=None),
                name="conversation_answered",
            ),
            models.Index(fields=["owner_kind", "owner", "-last_inbound_at"], name="conversation_by_owner"),
            models.Index(fields=["contact", "-last_inbound_at"], name="conversation_of_contact"),
            models.Index(fields=["opportunity"], name="conversation_of_deal"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def responsible_id(self) -> int | None:
        """Whom a conflict about it waits for."""
        return self.owner_id

    @property
    def unanswered(self) -> int:
        return self.inbound_count - self.answered_count

    @property
    def is_agents(self) -> bool:
        return self.owner_kind == Owner.AGENT


class Direction(models.TextChoices):
    IN = "in", _("received")
    OUT = "out", _("sent")
    NOTE = "note", _("note")
    """Internal; the customer never sees it, and it takes nobody's conversation over."""


REACTION = models.Q(text="", media__contains=[{"kind": "reaction"}])
"""Messages that are only a reaction to another one: they say nothing."""


@tracked
class Message(ChildModel):
    """One line, never changed. Delivery is told by the outbox and the provider's reports (MessageReport)."""

    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="messages")
    account = models.ForeignKey("crm.ChannelAccount", models.PROTECT, related_name="+")
    direction = models.CharField(_("direction"), max_length=4, choices=Direction)
    number = models.BigIntegerField(null=True, blank=True)
    """Of an inbound message that counts: the conversation's counter with it. Empty for late and automatic ones."""
    at = models.DateTimeField(_("when"))
    """Where it stands in the thread: when it was written, but never later than when it came."""
    sent_at = models.DateTimeField(_("the sender's time"), null=True, blank=True)
    """As the provider says, whatever its clock."""
    made_by = models.CharField(_("written by"), max_length=200)
    """The text form of an Actor; of an inbound message the channel."""
    text = models.TextField(_("text"), blank=True)
    media = models.JSONField(_("attachments"), default=list, blank=True)
    """[{"kind": "image", "name": "", "id": "<the provider's>"}]: named, never fetched."""
    provider_id = models.CharField(max_length=255, blank=True)
    automatic = models.BooleanField(_("automatic"), default=False)
    """An auto-reply, a bounce: stored, not answered. Of ours: written by the agent."""
    late = models.BooleanField(_("came late"), default=False)
    """Old, imported or delayed: stored at its own time, sets nothing off."""
    headers = models.JSONField(default=dict, blank=True)
    """Of a mail: message_id, references, subject, to."""
    outbox_key = models.CharField(max_length=200, blank=True)
    answers_up_to = models.BigIntegerField(null=True, blank=True)
    """The counter of the last message that its author had seen."""
    withdrawn = models.BooleanField(pgettext_lazy("message", "taken back"), default=False)
    """It was queued and did not go out: what it answered is unanswered again."""

    subject_field = "conversation"
    aspect = "messages"

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "provider_id"],
                condition=~models.Q(provider_id=""),
                name="one_message_per_provider_id",
            ),
        ]
        indexes = [
            models.Index(fields=["conversation", "at", "id"], name="message_in_thread"),
            models.Index(fields=["conversation", "number"], name="message_by_number"),
            models.Index(fields=["outbox_key"], condition=~models.Q(outbox_key=""), name="message_by_outbox_key"),
        ]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def maker(self) -> Actor:
        return Actor.parse(self.made_by)
