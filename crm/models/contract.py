"""Contract: what is offered to a customer, one subject with its lines, its document versions and what was said to them.

Guarantees that a document is never rewritten (the database refuses it) and stays readable for ever, that a contract
counts as approved only in the document that was approved, and that its state moves along `TRANSITIONS` only, whoever
writes it. `amount`, `document` and `fingerprint` are derived; whoever changes what is offered makes the next document
in the same Work (crm/documents.py). Next in the flow: `crm/actions/contracts.py`.
"""

from decimal import Decimal

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import Authority, MergePolicy, Rule
from crm.models.access import AccessRequest
from crm.models.moves import MoveGuard
from crm.models.user import User


class ContractState(models.TextChoices):
    DRAFT = "draft", _("draft")
    OFFERED = "offered", _("offered")
    APPROVED = "approved", pgettext_lazy("contract", "approved")
    SIGNED = "signed", _("signed")
    DECLINED = "declined", pgettext_lazy("contract", "declined")
    CANCELLED = "cancelled", _("cancelled")


TRANSITIONS: dict[ContractState, frozenset[ContractState]] = {
    ContractState.DRAFT: frozenset({ContractState.OFFERED, ContractState.CANCELLED}),
    ContractState.OFFERED: frozenset({ContractState.APPROVED, ContractState.DECLINED, ContractState.CANCELLED}),
    ContractState.APPROVED: frozenset({ContractState.SIGNED, ContractState.OFFERED, ContractState.CANCELLED}),
    ContractState.DECLINED: frozenset({ContractState.OFFERED, ContractState.CANCELLED}),
    ContractState.SIGNED: frozenset(),
    ContractState.CANCELLED: frozenset(),
}
"""Approved goes back to offered, and declined on to it, only by a new document. Two states have no way out."""

CONTENT = ("discount", "text", "valid_until", "currency")
"""Fields that are part of what is offered, besides the lines: a change of one makes the next document."""


class ContractQuerySet(models.QuerySet["Contract"]):
    def visible_to(self, user: User) -> "ContractQuerySet":
        """As with deals: those of the person's team, those of nobody's, and what was granted."""
        if user.sees_everything:
            return self
        return self.filter(AccessRequest.objects.opened_to(user))


@tracked
class Contract(VersionedModel):
    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, editable=False)
    company = models.ForeignKey("crm.Company", models.PROTECT, verbose_name=_("company"), related_name="contracts")
    opportunity = models.ForeignKey(
        "crm.Opportunity",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("deal"),
        related_name="contracts",
    )
    owner = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("owner"),
        related_name="contracts",
    )
    team = models.ForeignKey(
        "crm.Team",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("team"),
        related_name="contracts",
    )
    state = models.CharField(_("state"), max_length=9, choices=ContractState, default=ContractState.DRAFT)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    """Why it was declined or cancelled."""
    currency = models.CharField(_("currency"), max_length=3)
    discount = models.DecimalField(_("discount in %"), max_digits=5, decimal_places=2, default=Decimal(0))
    text = models.TextField(_("terms"), blank=True)
    valid_until = models.DateField(_("valid until"), null=True, blank=True)
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2, default=Decimal(0))
    """What the lines come to, less the discount."""
    document = models.PositiveIntegerField(_("document version"), default=0)
    """The number of the document in force; 0 while nothing was offered."""
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True, editable=False)
    """Of the document in force."""
    approved = models.PositiveIntegerField(_("approved version"), null=True, blank=True)
    """The number of the document that was approved; None where that is not the one in force any more."""
    signed_on = models.DateField(_("signed"), null=True, blank=True)
    tags = ArrayField(models.CharField(max_length=60), verbose_name=_("tags"), default=list, blank=True)
    note = models.TextField(_("note"), blank=True)

    objects = ContractQuerySet.as_manager()
    state_field = "state"
    transitions = TRANSITIONS
    policy = MergePolicy(
        owner=gettext_noop("head of sales"),
        rules={"tags": Rule.APPEND, "note": Rule.APPEND},
        derived={
            "amount": frozenset({"lines", "discount"}),
            "document": frozenset({"lines", *CONTENT}),
            "fingerprint": frozenset({"lines", *CONTENT}),
            "team": frozenset({"owner"}),
        },
        exclusive=frozenset(
            {ContractState.APPROVED, ContractState.DECLINED, ContractState.SIGNED, ContractState.CANCELLED}
        ),
        terminal=frozenset({ContractState.SIGNED, ContractState.CANCELLED}),
        voids_approval=frozenset({"state", "lines", "company", *CONTENT}),
        demands_reread=frozenset({"state", "lines"}),
        authority={"amount": Authority.AMOUNT, "discount": Authority.DISCOUNT, "text": Authority.LEGAL},
    )

    class Meta:
        verbose_name = _("contract")
        verbose_name_plural = _("contracts")
        triggers = [MoveGuard(field="state", table=TRANSITIONS)]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(discount__gte=0, discount__lte=100), name="contract_discount_is_a_share"
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["approved", "signed"])
                | models.Q(approved__isnull=False, approved=models.F("document")),
                name="contract_approved_in_force",
            ),
        ]
        indexes = [
            models.Index(fields=["-changed_at", "-id"], name="contract_by_change"),
            models.Index(fields=["state", "-changed_at", "-id"], name="contract_by_state"),
            models.Index(fields=["name_key", "id"], name="contract_by_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def responsible_id(self) -> int | None:
        """Who is asked when a conflict about this contract needs a person."""
        return self.owner_id

    @property
    def is_over(self) -> bool:
        return not TRANSITIONS[ContractState(self.state)]


@tracked
class ContractLine(ChildModel):
    contract = models.ForeignKey(Contract, models.PROTECT, related_name="lines")
    product = models.ForeignKey("crm.Product", models.PROTECT, verbose_name=_("product"), related_name="contract_lines")
    description = models.CharField(_("description"), max_length=200, blank=True)
    quantity = models.DecimalField(_("quantity"), max_digits=10, decimal_places=2)
    unit_price = models.DecimalField(_("price each"), max_digits=14, decimal_places=2)
    """In the contract's currency."""
    removed = models.BooleanField(default=False)

    subject_field = "contract"
    aspect = "lines"

    class Meta:
        verbose_name = _("line")
        verbose_name_plural = _("lines")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(quantity__gt=0, unit_price__gte=0), name="line_counts_up")
        ]

    def __str__(self) -> str:
        return f"{self.quantity:f} × {self.product}"

    @property
    def total(self) -> Decimal:
        return (self.quantity * self.unit_price).quantize(Decimal("0.01"))


@tracked
class Document(ChildModel):
    """One version of what was offered, exactly as it was: never rewritten, never removed."""

    contract = models.ForeignKey(Contract, models.PROTECT, related_name="documents")
    number = models.PositiveIntegerField(_("document version"))
    content = models.JSONField(_("content"))
    """What `crm.documents.content` wrote down: lines, totals, discount, terms, currency, how long it holds."""
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    """SHA-256 of the content; an approval names it."""
    made_at = models.DateTimeField(_("made"))
    made_by = models.CharField(_("made by"), max_length=200)
    remark = models.CharField(_("remark"), max_length=200, blank=True)
    """Not part of what was offered."""

    subject_field = "contract"
    aspect = "documents"

    class Meta:
        verbose_name = _("document version")
        verbose_name_plural = _("document versions")
        ordering = ["-number"]
        triggers = [
            pgtrigger.ReadOnly(name="kept", fields=["number", "content", "fingerprint", "made_at", "made_by"]),
        ]
        constraints = [models.UniqueConstraint(fields=["contract", "number"], name="document_number_once")]

    def __str__(self) -> str:
        return str(_("version %(number)d") % {"number": self.number})

    @property
    def maker(self) -> Actor:
        return Actor.parse(self.made_by)


class Verdict(models.TextChoices):
    APPROVED = "approved", pgettext_lazy("contract", "approved")
    DECLINED = "declined", pgettext_lazy("contract", "declined")
    VOIDED = "voided", _("approval void")
    SIGNED = "signed", _("signed")


@tracked
class ContractDecision(ChildModel):
    """What somebody said to one document: bound to its number and fingerprint, and to nothing that came later."""

    contract = models.ForeignKey(Contract, models.PROTECT, related_name="decisions")
    number = models.PositiveIntegerField(_("document version"))
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    verdict = models.CharField(_("decision"), max_length=8, choices=Verdict)
    by = models.CharField(_("who"), max_length=200)
    """The text form of an Actor."""
    at = models.DateTimeField(_("when"))
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    subject_field = "contract"
    aspect = "decisions"

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.get_verdict_display()}: {self.number}"

    @property
    def actor(self) -> Actor:
        return Actor.parse(self.by)
