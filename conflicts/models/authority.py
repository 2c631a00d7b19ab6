"""AuthorityLevel: how far somebody of one role may decide about what needs authority (conflicts/policies.py).

A subject: changed through the gate, and each earlier level stays readable. What the roles are is the product's to say;
a role without a row has the level that the product gives it.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.models.versioned import VersionedModel
from conflicts.policies import MergePolicy
from conflicts.tracking import tracked


@tracked
class AuthorityLevel(VersionedModel):
    role = models.CharField(_("role"), max_length=40, unique=True)
    amount = models.DecimalField(_("amounts up to"), max_digits=14, decimal_places=2, null=True, blank=True)
    """None: without limit."""
    currency = models.CharField(_("currency"), max_length=3)
    """An amount in another one is only for somebody without limit: nobody here knows what it is worth."""
    discount = models.DecimalField(_("discounts up to, in percent"), max_digits=5, decimal_places=2, default=0)
    legal = models.BooleanField(_("legal terms"), default=False)
    note = models.CharField(_("agreed with"), max_length=200, blank=True)

    policy = MergePolicy(owner=gettext_noop("head of sales"))

    class Meta:
        verbose_name = _("authority level")
        verbose_name_plural = _("authority levels")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(discount__gte=0, discount__lte=100), name="authority_discount_is_a_share"
            ),
            models.CheckConstraint(
                condition=models.Q(amount=None) | models.Q(amount__gte=0), name="authority_amount_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.role
