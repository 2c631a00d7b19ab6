"""Product: what is sold."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import VersionedModel
from conflicts.policies import MergePolicy


@tracked
class Product(VersionedModel):
    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, unique=True, editable=False)
    """`crm.naming.key(name)`: one product, however it is spelt ("GTX Pro", "GTXPro")."""
    series = models.CharField(_("series"), max_length=120, blank=True)
    price = models.DecimalField(_("price"), max_digits=14, decimal_places=2, null=True, blank=True)
    currency = models.CharField(_("currency"), max_length=3)

    policy = MergePolicy(owner=gettext_noop("sales operations"))

    class Meta:
        verbose_name = _("product")
        verbose_name_plural = _("products")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
