"""Company: whom we sell to."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import VersionedModel
from conflicts.policies import MergePolicy, Rule


@tracked
class Company(VersionedModel):
    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, unique=True, editable=False)
    """`crm.naming.key(name)`: the same company, whatever the case and the spaces."""
    sector = models.CharField(_("sector"), max_length=120, blank=True)
    location = models.CharField(_("location"), max_length=200, blank=True)
    website = models.CharField(_("website"), max_length=200, blank=True)
    founded = models.PositiveSmallIntegerField(_("founded"), null=True, blank=True)
    employees = models.PositiveIntegerField(_("employees"), null=True, blank=True)
    revenue = models.DecimalField(_("yearly revenue"), max_digits=18, decimal_places=2, null=True, blank=True)
    currency = models.CharField(_("currency"), max_length=3, blank=True)
    parent = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("part of"),
        related_name="parts",
    )
    owner = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("owner"),
        related_name="companies",
    )
    tags = ArrayField(
        models.CharField(max_length=60),
        verbose_name=_("tags"),
        default=list,
        blank=True,
    )
    note = models.TextField(_("note"), blank=True)

    policy = MergePolicy(owner=gettext_noop("sales operations"), rules={"tags": Rule.APPEND, "note": Rule.APPEND})

    class Meta:
        verbose_name = _("company")
        verbose_name_plural = _("companies")
        indexes = [
            models.Index(fields=["name_key", "id"], name="company_by_name"),
            models.Index(fields=["-changed_at", "-id"], name="company_by_change"),
            models.Index(fields=["sector", "name_key", "id"], name="company_by_sector"),
            GinIndex(fields=["tags"], name="company_by_tag"),
        ]

    def __str__(self) -> str:
        return self.name
