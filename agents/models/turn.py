"""Turn: one attempt to answer a conversation, kept as evidence: what it saw, what it wrote, and why it was dropped.

Moved by `agents/replies.py` only, by compare-and-swap on "still running".
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from conflicts.sentences import Sentence


class TurnState(models.TextChoices):
    RUNNING = "running", _("writing")
    QUEUED = "queued", _("answered")
    SUPERSEDED = "superseded", _("dropped")
    HANDED_OVER = "handed_over", _("handed over")
    FAILED = "failed", _("failed")


class Turn(models.Model):
    conversation = models.ForeignKey("crm.Conversation", models.PROTECT, related_name="turns")
    state = models.CharField(_("state"), max_length=11, choices=TurnState, default=TurnState.RUNNING)
    counter = models.BigIntegerField(_("messages seen"))
    answered = models.BigIntegerField(_("messages answered before"))
    epoch = models.BigIntegerField(_("epoch"))
    fence = models.BigIntegerField(_("fencing token"))
    final = models.BooleanField(_("for what it saw"), default=False)
    responder = models.CharField(_("who wrote"), max_length=60)
    calls = models.PositiveSmallIntegerField(_("calls to the model"), default=0)
    text = models.TextField(_("draft"), blank=True)
    reason = models.JSONField(_("why"), default=dict, blank=True)
    """Sentence.as_json(): why it was dropped, handed over or has failed."""
    facts = models.JSONField(_("facts"), default=dict, blank=True)
    """What the answer rests on, by name."""
    record = models.ForeignKey("conflicts.Conflict", models.PROTECT, null=True, blank=True, related_name="+")
    started_at = models.DateTimeField(_("started"), db_default=Now())
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        indexes = [models.Index(fields=["conversation", "-id"], name="turn_of_conversation")]

    def __str__(self) -> str:
        return f"{self.conversation_id} #{self.counter}"

    @property
    def why(self) -> Sentence | None:
        return Sentence.from_json(self.reason) if self.reason else None
