"""MessageTemplate: a text that people and the agent send, per stage and language."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import VersionedModel
from conflicts.policies import MergePolicy
from crm.models.channel_account import Medium


@tracked
class MessageTemplate(VersionedModel):
    slug = models.SlugField(_("short name"), max_length=60)
    name = models.CharField(_("name"), max_length=120)
    language = models.CharField(_("language"), max_length=8)
    stage = models.ForeignKey(
        "crm.Stage", models.PROTECT, null=True, blank=True, verbose_name=_("stage"), related_name="templates"
    )
    """Empty: for any stage."""
    medium = models.CharField(_("channel"), max_length=10, choices=Medium, blank=True)
    """Empty: for any channel."""
    text = models.TextField(_("text"))
    """May name {contact}, {deal}, {owner}, {company}, {workspace}; filled in from the database."""
    approved_as = models.CharField(_("approved by the provider as"), max_length=120, blank=True)
    """Outside the window in which one may write freely, WhatsApp takes only such a template."""
    active = models.BooleanField(_("in use"), default=True)

    policy = MergePolicy(owner=gettext_noop("customer service"))

    class Meta:
        verbose_name = _("message template")
        verbose_name_plural = _("message templates")
        ordering = ["name", "language"]
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "language", "stage", "medium"], nulls_distinct=False, name="one_template_per_use"
            ),
        ]

    def __str__(self) -> str:
        return self.name
