"""Contracts and invoices in the admin: read, with their lines, documents, installments, payments and their history."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyInline
from conflicts.admin.subjects import SubjectAdmin
from crm.admin.money import money
from crm.admin.subjects import PEOPLE
from crm.models import (
    Contract,
    ContractDecision,
    ContractLine,
    Document,
    Installment,
    Invoice,
    Payment,
    User,
)

CONTRACT = {"offered": "info", "approved": "success", "signed": "success", "declined": "warning", "cancelled": "danger"}
INVOICE = {"open": "info", "paid": "success", "cancelled": "danger"}


class Lines(ReadOnlyInline):
    model = ContractLine
    fields = ("product", "description", "quantity", "unit_price", "removed", "subject_version")
    ordering = ("removed", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ContractLine]:
        return super().get_queryset(request).select_related("product")


class Documents(ReadOnlyInline):
    model = Document
    fields = ("number", "total", "fingerprint", "made_at", "who", "subject_version")
    readonly_fields = ("total", "who", "subject_version")
    ordering = ("-number",)

    @display(description=_("amount"))
    def total(self, obj: Document) -> str:
        return money(obj.content.get("total"), obj.content.get("currency", ""))

    @display(description=_("who"))
    def who(self, obj: Document) -> str:
        return obj.maker.shown


class Decisions(ReadOnlyInline):
    model = ContractDecision
    fields = ("number", "verdict", "who", "at", "reason", "subject_version")
    readonly_fields = ("who", "subject_version")
    ordering = ("-id",)

    @display(description=_("who"))
    def who(self, obj: ContractDecision) -> str:
        return obj.actor.shown


def seen_by(request: HttpRequest, found: QuerySet[Any]) -> QuerySet[Any]:
    """As everywhere: those of the person's team, and those of nobody's."""
    user = request.user
    return found & found.model.objects.visible_to(user) if isinstance(user, User) else found.none()


@admin.register(Contract)
class ContractAdmin(SubjectAdmin):
    readonly_preprocess_fields = PEOPLE
    list_display = ("name", "company", "shown_state", "money", "document", "owner", "version_mark", "last_changed_by")
    list_select_related = ("company", "owner")
    list_filter = ("state", "team")
    search_fields = ("name", "company__name")
    ordering = ("-id",)
    inlines = (Lines, Documents, Decisions)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contract]:
        return seen_by(request, super().get_queryset(request))

    @display(description=_("state"), ordering="state", label=CONTRACT)
    def shown_state(self, obj: Contract) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("amount"), ordering="amount")
    def money(self, obj: Contract) -> str:
        return money(obj.amount, obj.currency)


class Installments(ReadOnlyInline):
    model = Installment
    fields = ("number", "due_on", "amount", "state", "paid_at", "reason", "replaced", "subject_version")
    ordering = ("number",)


class Payments(ReadOnlyInline):
    model = Payment
    fields = ("provider", "provider_key", "amount", "at", "state", "doubt", "reason", "subject_version")
    ordering = ("-at", "-id")


@admin.register(Invoice)
class InvoiceAdmin(SubjectAdmin):
    readonly_preprocess_fields = PEOPLE
    list_display = ("name", "company", "shown_state", "money", "due_on", "owner", "version_mark", "last_changed_by")
    list_select_related = ("company", "owner")
    list_filter = ("state", "team")
    search_fields = ("name", "company__name")
    ordering = ("-id",)
    inlines = (Installments, Payments)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invoice]:
        return seen_by(request, super().get_queryset(request))

    @display(description=_("state"), ordering="state", label=INVOICE)
    def shown_state(self, obj: Invoice) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("amount"), ordering="amount")
    def money(self, obj: Invoice) -> str:
        return money(obj.amount, obj.currency)
