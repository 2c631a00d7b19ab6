"""SweepRun: one pass over the open deals; Verdict: why a deal got no suggestion in it."""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from conflicts.sentences import Sentence


class SweepRun(models.Model):
    started_at = models.DateTimeField(_("started"), db_default=Now())
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    looked_at = models.PositiveIntegerField(_("deals looked at"), default=0)
    proposed = models.PositiveIntegerField(_("suggestions"), default=0)
    acted = models.PositiveIntegerField(_("done by itself"), default=0)
    passed = models.JSONField(_("left alone, by reason"), default=dict)
    """{gate or rule code: number of deals}"""

    class Meta:
        verbose_name = _("sweep")
        verbose_name_plural = _("sweeps")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"


class Verdict(models.Model):
    """The last word of the sweep on a deal that got no suggestion: which gate or rule, and when to look again."""

    opportunity = models.OneToOneField("crm.Opportunity", models.PROTECT, primary_key=True, related_name="verdict")
    code = models.CharField(max_length=20)
    """G1 to G8, R11, or Q: enough is waiting for the person who would decide (agents/backpressure.py)."""
    why = models.JSONField()
    """Sentence.as_json()"""
    version_read = models.BigIntegerField()
    review_on = models.DateField(null=True)
    """The sweep leaves the deal alone until then, or until it changes; with Q, until the queue is shorter."""
    judged_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("reason to leave alone")
        verbose_name_plural = _("reasons to leave alone")

    def __str__(self) -> str:
        return self.code

    @property
    def told(self) -> Sentence:
        return Sentence.from_json(self.why)
