"""Invoice: what a customer owes, one subject with its installments and the payments that came in.

Guarantees that the installments in use always add up to the invoice (crm/actions/invoices.py changes them only
together), that a provider's payment is stored once, and that an installment moves along `INSTALLMENT_MOVES` only,
whoever writes it: a paid one never goes to collection. `state`, `owed` and `due_on` are derived (crm/dues.py).
Next in the flow: `crm/actions/invoices.py`.
"""

from decimal import Decimal

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import Authority, MergePolicy, Rule
from crm.models.access import AccessRequest
from crm.models.moves import MoveGuard
from crm.models.user import User


class InvoiceState(models.TextChoices):
    OPEN = "open", _("open")
    PAID = "paid", _("paid")
    CANCELLED = "cancelled", _("cancelled")


TRANSITIONS: dict[InvoiceState, frozenset[InvoiceState]] = {
    InvoiceState.OPEN: frozenset({InvoiceState.PAID, InvoiceState.CANCELLED}),
    InvoiceState.PAID: frozenset({InvoiceState.OPEN}),
    InvoiceState.CANCELLED: frozenset(),
}
"""Paid goes back to open only with an installment that was reopened after a review."""


class InstallmentState(models.TextChoices):
    OPEN = "open", _("open")
    IN_COLLECTION = "in_collection", _("in collection")
    DISPUTED = "disputed", _("disputed")
    PAID = "paid", _("paid")
    REFUNDED = "refunded", _("refunded")
    CANCELLED = "cancelled", _("cancelled")


INSTALLMENT_MOVES: dict[InstallmentState, frozenset[InstallmentState]] = {
    InstallmentState.OPEN: frozenset(
        {
            InstallmentState.IN_COLLECTION,
            InstallmentState.DISPUTED,
            InstallmentState.PAID,
            InstallmentState.CANCELLED,
        }
    ),
    InstallmentState.IN_COLLECTION: frozenset(
        {InstallmentState.OPEN, InstallmentState.DISPUTED, InstallmentState.PAID, InstallmentState.CANCELLED}
    ),
    InstallmentState.DISPUTED: frozenset({InstallmentState.OPEN, InstallmentState.PAID, InstallmentState.CANCELLED}),
    InstallmentState.PAID: frozenset({InstallmentState.REFUNDED, InstallmentState.OPEN}),
    InstallmentState.REFUNDED: frozenset(),
    InstallmentState.CANCELLED: frozenset(),
}
"""There is no way from paid to collection: it leads through `invoice.reopen_installment`, a person with authority."""

OWED = frozenset({InstallmentState.OPEN, InstallmentState.IN_COLLECTION, InstallmentState.DISPUTED})
"""Not settled yet."""


class PaymentState(models.TextChoices):
    COUNTED = "counted", _("counted")
    IN_REVIEW = "in_review", _("to be reviewed")
    RETURNED = "returned", _("paid back")


PAYMENT_MOVES: dict[PaymentState, frozenset[PaymentState]] = {
    PaymentState.COUNTED: frozenset({PaymentState.IN_REVIEW, PaymentState.RETURNED}),
    PaymentState.IN_REVIEW: frozenset({PaymentState.COUNTED, PaymentState.RETURNED}),
    PaymentState.RETURNED: frozenset(),
}


class Doubt(models.TextChoices):
    """Why a payment waits for somebody to look at it. The money is there all the same, so it is kept."""

    CANCELLED = "cancelled", _("the invoice is cancelled")
    SETTLED = "settled", _("nothing is owed for it any more")
    AMOUNT = "amount", _("no installment is of this amount")


class InvoiceQuerySet(models.QuerySet["Invoice"]):
    def visible_to(self, user: User) -> "InvoiceQuerySet":
        """As with deals: those of the person's team, those of nobody's, and what was granted."""
        if user.sees_everything:
            return self
        return self.filter(AccessRequest.objects.opened_to(user))


@tracked
class Invoice(VersionedModel):
    name = models.CharField(_("number"), max_length=60)
    name_key = models.CharField(max_length=60, unique=True, editable=False)
    """`crm.naming.key(name)`: a number is given once, however it is written."""
    company = models.ForeignKey("crm.Company", models.PROTECT, verbose_name=_("company"), related_name="invoices")
    contract = models.ForeignKey(
        "crm.Contract",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("contract"),
        related_name="invoices",
    )
    opportunity = models.ForeignKey(
        "crm.Opportunity",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("deal"),
        related_name="invoices",
    )
    owner = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("owner"),
        related_name="invoices",
    )
    team = models.ForeignKey(
        "crm.Team",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("team"),
        related_name="invoices",
    )
    state = models.CharField(_("state"), max_length=9, choices=InvoiceState, default=InvoiceState.OPEN)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    """Why it was cancelled."""
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    issued_on = models.DateField(_("issued"))
    owed = models.DecimalField(_("still owed"), max_digits=14, decimal_places=2, default=Decimal(0))
    due_on = models.DateField(_("next due"), null=True, blank=True)
    """The earliest installment that is owed."""
    to_review = models.PositiveIntegerField(_("payments to review"), default=0)
    tags = ArrayField(models.CharField(max_length=60), verbose_name=_("tags"), default=list, blank=True)
    note = models.TextField(_("note"), blank=True)

    objects = InvoiceQuerySet.as_manager()
    state_field = "state"
    transitions = TRANSITIONS
    policy = MergePolicy(
        owner=gettext_noop("finance"),
        rules={"tags": Rule.APPEND, "note": Rule.APPEND},
        derived={
            "owed": frozenset({"installments"}),
            "due_on": frozenset({"installments"}),
            "to_review": frozenset({"payments"}),
            "team": frozenset({"owner"}),
        },
        exclusive=frozenset({InvoiceState.PAID, InvoiceState.CANCELLED}),
        terminal=frozenset({InvoiceState.CANCELLED}),
        voids_approval=frozenset({"state", "installments", "payments"}),
        authority={"amount": Authority.AMOUNT, "installments": Authority.AMOUNT},
    )

    class Meta:
        verbose_name = _("invoice")
        verbose_name_plural = _("invoices")
        triggers = [MoveGuard(field="state", table=TRANSITIONS)]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount__gt=0, owed__gte=0, owed__lte=models.F("amount")),
                name="invoice_owes_no_more_than_it_says",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="cancelled") | models.Q(owed=0), name="invoice_cancelled_owes_nothing"
            ),
        ]
        indexes = [
            models.Index(fields=["-changed_at", "-id"], name="invoice_by_change"),
            models.Index(fields=["due_on", "id"], name="invoice_due", condition=models.Q(state="open")),
            models.Index(fields=["-id"], name="invoice_to_review", condition=models.Q(to_review__gt=0)),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def responsible_id(self) -> int | None:
        """Who is asked when a conflict about this invoice needs a person."""
        return self.owner_id

    @property
    def is_open(self) -> bool:
        return self.state == InvoiceState.OPEN


@tracked
class Installment(ChildModel):
    invoice = models.ForeignKey(Invoice, models.PROTECT, related_name="installments")
    number = models.PositiveSmallIntegerField(_("number"))
    due_on = models.DateField(_("due"))
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2)
    state = models.CharField(_("state"), max_length=13, choices=InstallmentState, default=InstallmentState.OPEN)
    paid_at = models.DateTimeField(_("paid at"), null=True, blank=True)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    """Why it is disputed, was refunded or was opened again."""
    replaced = models.BooleanField(_("replaced"), default=False)
    """Was divided anew; the others add up to the invoice without it."""

    subject_field = "invoice"
    aspect = "installments"

    class Meta:
        verbose_name = _("installment")
        verbose_name_plural = _("installments")
        ordering = ["number"]
        triggers = [
            MoveGuard(field="state", table=INSTALLMENT_MOVES),
            pgtrigger.ReadOnly(name="kept", fields=["number", "amount"]),
        ]
        constraints = [
            models.UniqueConstraint(fields=["invoice", "number"], name="installment_number_once"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="installment_is_something"),
            models.CheckConstraint(
                condition=~models.Q(state="paid") | models.Q(paid_at__isnull=False), name="installment_paid_when"
            ),
            models.CheckConstraint(
                condition=models.Q(replaced=False) | models.Q(state="cancelled"), name="installment_replaced_is_over"
            ),
        ]

    def __str__(self) -> str:
        return str(self.number)

    @property
    def is_owed(self) -> bool:
        return self.state in OWED


@tracked
class Payment(ChildModel):
    """Money that came in, as its provider told it. `provider` with `provider_key` is one payment, however typed."""

    invoice = models.ForeignKey(Invoice, models.PROTECT, related_name="payments")
    installment = models.ForeignKey(
        Installment,
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("installment"),
        related_name="payments",
    )
    provider = models.CharField(_("provider"), max_length=60)
    provider_key = models.CharField(_("payment"), max_length=120)
    once = models.CharField(max_length=64, editable=False)
    """`crm.naming.once(provider, provider_key)`: one payment is counted once, however its number was typed."""
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2)
    at = models.DateTimeField(_("when"))
    state = models.CharField(_("state"), max_length=9, choices=PaymentState, default=PaymentState.COUNTED)
    doubt = models.CharField(_("why it waits"), max_length=9, choices=Doubt, blank=True)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    """What the reviewer said."""

    subject_field = "invoice"
    aspect = "payments"

    class Meta:
        verbose_name = _("payment")
        verbose_name_plural = _("payments")
        ordering = ["-at", "-id"]
        triggers = [
            MoveGuard(field="state", table=PAYMENT_MOVES),
            pgtrigger.ReadOnly(name="kept", fields=["provider", "provider_key", "once", "amount", "at"]),
        ]
        constraints = [
            models.UniqueConstraint(fields=["once"], name="payment_once"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="payment_is_something"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.provider_key}"
