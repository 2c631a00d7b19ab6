"""Activity: one line of a deal's timeline."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import ChildModel


class ActivityKind(models.TextChoices):
    CALL = "call", _("call")
    MEETING = "meeting", _("meeting")
    NOTE = "note", _("note")
    MAIL = "mail", _("e-mail")
    STAGE = "stage", _("stage change")


TOUCHES = frozenset({ActivityKind.CALL, ActivityKind.MEETING, ActivityKind.MAIL})
"""The kinds that count as contact with the customer."""


@tracked
class Activity(ChildModel):
    opportunity = models.ForeignKey("crm.Opportunity", models.PROTECT, related_name="activities")
    kind = models.CharField(_("kind"), max_length=8, choices=ActivityKind)
    at = models.DateTimeField(_("when"))
    by = models.CharField(_("who"), max_length=200)
    """The text form of an Actor."""
    text = models.TextField(_("text"), blank=True)
    facts = models.JSONField(default=dict, blank=True)
    """For `stage`: {"from": name, "to": name, "days": whole days in the former stage}."""

    subject_field = "opportunity"
    aspect = "activities"

    class Meta:
        verbose_name = _("activity")
        verbose_name_plural = _("activities")
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["opportunity", "-at"], name="activity_timeline")]

    def __str__(self) -> str:
        return self.text[:80] or self.get_kind_display()

    @property
    def actor(self) -> Actor:
        return Actor.parse(self.by)
