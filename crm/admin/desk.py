"""Tickets, stock and access in the admin: read, with their rows and their history."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyInline
from conflicts.admin.subjects import SubjectAdmin
from crm.admin.subjects import PEOPLE, without_link
from crm.models import AccessRequest, Reservation, StockItem, Ticket, TicketNote, User

THEIRS = {**PEOPLE, **dict.fromkeys(("assignee", "person", "decided_by"), without_link)}
"""For unfold: how these fields are shown where they can only be read."""
TICKET = {"open": "info", "in_progress": "info", "waiting": "warning", "closed": "success"}
ACCESS = {"asked": "warning", "granted": "success", "declined": "danger"}


class VisibleOnly(SubjectAdmin):
    """Those that the person would see on the product's pages."""

    readonly_preprocess_fields = THEIRS

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        user = request.user
        return found & self.model._default_manager.visible_to(user) if isinstance(user, User) else found.none()


class Notes(ReadOnlyInline):
    model = TicketNote
    fields = ("at", "who", "from_customer", "text", "subject_version")
    readonly_fields = ("who", "subject_version")
    ordering = ("-at", "-id")

    @display(description=_("who"))
    def who(self, obj: TicketNote) -> str:
        return obj.actor.shown


@admin.register(Ticket)
class TicketAdmin(VisibleOnly):
    list_display = ("name", "company", "shown_state", "priority", "team", "claimed_by", "version_mark", "changed_at")
    list_select_related = ("company", "team", "claimed_by")
    list_filter = ("state", "priority", "team")
    search_fields = ("name", "company__name", "contact__name")
    ordering = ("-id",)
    inlines = (Notes,)

    @display(description=_("state"), ordering="state", label=TICKET)
    def shown_state(self, obj: Ticket) -> tuple[str, str]:
        return obj.state, obj.get_state_display()


class Reservations(ReadOnlyInline):
    model = Reservation
    fields = ("quantity", "state", "until", "maker_name", "note", "subject_version")
    readonly_fields = ("maker_name", "subject_version")
    ordering = ("-id",)

    @display(description=_("reserved by"))
    def maker_name(self, obj: Reservation) -> str:
        return obj.maker.shown


@admin.register(StockItem)
class StockItemAdmin(SubjectAdmin):
    list_display = ("name", "sku", "location", "on_hand", "held", "version_mark", "last_changed_by", "changed_at")
    search_fields = ("name", "sku", "location")
    ordering = ("name", "id")
    inlines = (Reservations,)


@admin.register(AccessRequest)
class AccessRequestAdmin(VisibleOnly):
    list_display = ("shown_target", "person", "shown_state", "decided_by", "expires_at", "version_mark", "changed_at")
    list_select_related = ("team", "company", "person", "decided_by")
    list_filter = ("state", "kind")
    search_fields = ("person__first_name", "person__last_name", "team__name", "company__name", "reason")
    ordering = ("-id",)
    readonly_fields = (*SubjectAdmin.readonly_fields, "asker_name")

    @display(description=_("access to"))
    def shown_target(self, obj: AccessRequest) -> str:
        return str(obj)

    @display(description=_("state"), ordering="state", label=ACCESS)
    def shown_state(self, obj: AccessRequest) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("asked by"))
    def asker_name(self, obj: AccessRequest) -> str:
        return Actor.parse(obj.asked_by).shown
