"""OutboxMessage: an effect outside, as a row written in the transaction that decided on it.

Guarantees, by triggers of its own, that a delivery only moves along the arrows below, that what was sent or has failed
stays so, and that no row is ever deleted. Moved by `conflicts/delivery.py` only, by compare-and-swap.
"""

import pgtrigger
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from conflicts.sentences import Sentence


class Delivery(models.TextChoices):
    QUEUED = "queued", _("queued")
    SENDING = "sending", _("sending")
    SENT = "sent", _("sent")
    FAILED = "failed", _("not sent")
    OUTCOME_UNKNOWN = "outcome_unknown", _("outcome unknown")


MOVES: dict[Delivery, frozenset[Delivery]] = {
    # Failed without a sending: a person dropped it.
    Delivery.QUEUED: frozenset({Delivery.SENDING, Delivery.FAILED}),
    # Back to queued only where it surely did not arrive: it never left us, or the destination says so.
    Delivery.SENDING: frozenset({Delivery.SENT, Delivery.FAILED, Delivery.QUEUED, Delivery.OUTCOME_UNKNOWN}),
    Delivery.OUTCOME_UNKNOWN: frozenset({Delivery.SENT, Delivery.FAILED, Delivery.QUEUED}),
    Delivery.SENT: frozenset(),
    Delivery.FAILED: frozenset(),
}


class OutboxMessage(models.Model):
    destination = models.CharField(_("destination"), max_length=80)
    key = models.CharField(_("idempotency key"), max_length=200, unique=True)
    """Of the unit of work, never of the attempt; the destination gets the same one with every attempt."""
    subject = models.CharField(_("subject"), max_length=120, blank=True)
    payload = models.JSONField(default=dict)
    by = models.CharField(_("who"), max_length=200)

    state = models.CharField(_("state"), max_length=15, choices=Delivery, default=Delivery.QUEUED)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    holder = models.CharField(max_length=32, blank=True)
    fence = models.BigIntegerField(null=True)
    """The claim that moved it to `sending`: only that one may note how the sending ended."""
    remote_id = models.CharField(_("number at the destination"), max_length=200, blank=True)
    reason = models.JSONField(_("why"), default=dict, blank=True)
    """Sentence.as_json(): why it was not sent, or why nobody can tell."""
    conflict = models.ForeignKey("conflicts.Conflict", models.PROTECT, null=True, blank=True, related_name="+")
    """Where a person decides what became of it."""

    created_at = models.DateTimeField(_("created"), db_default=Now())
    sending_at = models.DateTimeField(_("last sending began"), null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("outgoing message")
        verbose_name_plural = _("outgoing messages")
        indexes = [
            models.Index(fields=["subject", "-id"], name="outbox_of_subject"),
            models.Index(
                fields=["state", "id"],
                condition=~models.Q(state__in=["sent", "failed"]),
                name="outbox_under_way",
            ),
        ]
        triggers = [
            pgtrigger.FSM(
                name="forward",
                field="state",
                transitions=[(str(old), str(new)) for old, news in MOVES.items() for new in sorted(news)],
            ),
            pgtrigger.Protect(name="kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.destination} {self.key}"

    @property
    def why(self) -> Sentence | None:
        return Sentence.from_json(self.reason) if self.reason else None
