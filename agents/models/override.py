"""Override: a person put another value in the place of an agent's, and said why with one click.

For 30 days, or until the record changes again, the agents leave the record alone (gate G8), as after a "no".
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from crm.overriding import OverrideReason


class Override(models.Model):
    subject_model = models.CharField(_("kind of record"), max_length=100)
    subject_id = models.BigIntegerField(_("record"))
    version = models.BigIntegerField(_("version"))
    """In force after it: any later one lifts the silence."""
    names = models.JSONField(_("fields"), default=list)
    agent = models.CharField(_("agent"), max_length=200)
    by = models.CharField(_("who"), max_length=200)
    """Both the text form of an Actor."""
    reason = models.CharField(_("reason"), max_length=12, choices=OverrideReason)
    record = models.ForeignKey(
        "conflicts.Conflict", models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("evidence")
    )
    at = models.DateTimeField(_("when"), db_default=Now())

    class Meta:
        verbose_name = _("override")
        verbose_name_plural = _("overrides")
        indexes = [models.Index(fields=["subject_model", "subject_id", "-at"], name="override_of_record")]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def person(self) -> Actor:
        return Actor.parse(self.by)
