"""ReplyTimer: when a conversation is due to be answered; MessageReport: what a provider says became of a message.

Both are tables of their own. The timer is never written by whoever saves the conversation, so nobody overwrites a
deadline with a stale copy (the second fault of the first seed); it is computed by the database from the rows in force
(crm/timers.py). A report is a fact about the way, not a change of the conversation: it raises no version.
"""

import pgtrigger
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class ReplyTimer(models.Model):
    conversation = models.OneToOneField("crm.Conversation", models.PROTECT, primary_key=True, related_name="timer")
    counter = models.BigIntegerField()
    """The conversation's inbound counter when it was armed."""
    due_at = models.DateTimeField(_("due"), null=True)
    """Empty: nothing is to be answered by the agent."""
    drops = models.PositiveSmallIntegerField(_("drafts dropped in a row"), default=0)
    """Because the customer wrote on; from two on, the next answer goes out for what it saw."""
    failures = models.PositiveSmallIntegerField(_("failed turns in a row"), default=0)
    rung_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("reply timer")
        verbose_name_plural = _("reply timers")
        indexes = [models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="timer_due")]

    def __str__(self) -> str:
        return f"{self.conversation_id} #{self.counter}"


class Report(models.TextChoices):
    SENT = "sent", _("sent")
    DELIVERED = "delivered", _("delivered")
    READ = "read", _("read")
    FAILED = "failed", _("not delivered")


FORWARD: dict[Report, frozenset[Report]] = {
    Report.SENT: frozenset({Report.DELIVERED, Report.READ, Report.FAILED}),
    Report.DELIVERED: frozenset({Report.READ}),
    Report.READ: frozenset(),
    Report.FAILED: frozenset(),
}
"""Reports come in any order and several times; the state only moves along these arrows."""


class MessageReport(models.Model):
    """Kept by the provider's number alone: a report may come before we have noted the number of what we sent."""

    account = models.ForeignKey("crm.ChannelAccount", models.PROTECT, related_name="+")
    provider_id = models.CharField(max_length=255)
    key = models.CharField(max_length=200, blank=True)
    """Our outbox key, where the provider gives it back: proof that the message arrived there."""
    state = models.CharField(_("state"), max_length=9, choices=Report)
    at = models.DateTimeField(_("when"), null=True)
    error = models.CharField(_("error"), max_length=200, blank=True)
    noted_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("delivery report")
        verbose_name_plural = _("delivery reports")
        constraints = [
            models.UniqueConstraint(fields=["account", "provider_id"], name="one_report_per_provider_id"),
        ]
        indexes = [models.Index(fields=["key"], condition=~models.Q(key=""), name="report_by_key")]
        triggers = [
            pgtrigger.FSM(
                name="forward",
                field="state",
                transitions=[(str(old), str(new)) for old, news in FORWARD.items() for new in sorted(news)],
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.state}"
