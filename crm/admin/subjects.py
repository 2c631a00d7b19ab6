"""The CRM's subjects in the admin: read, with their rows and their history. Changes are made on the product's pages."""

import html

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, strip_tags
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyInline
from conflicts.admin.subjects import SubjectAdmin
from crm.admin.money import money
from crm.models import (
    Activity,
    Company,
    Consent,
    Contact,
    ContactPoint,
    Opportunity,
    Participant,
    Pipeline,
    Product,
    Stage,
    Task,
    User,
)


def without_link(shown: str) -> str:
    """Accounts and teams are kept by administrators; for everybody else the link would end at a 403."""
    return format_html("{}", html.unescape(strip_tags(shown)))


PEOPLE = dict.fromkeys(("owner", "team", "claimed_by"), without_link)
"""For unfold: how these fields are shown where they can only be read."""
STATUS = {"open": "info", "won": "success", "lost": "danger"}


class Tasks(ReadOnlyInline):
    model = Task
    readonly_preprocess_fields = PEOPLE
    fields = ("title", "kind", "state", "due_on", "owner", "claimed_by", "maker_name", "subject_version")
    readonly_fields = ("maker_name", "subject_version")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Task]:
        return super().get_queryset(request).select_related("owner", "claimed_by")

    @display(description=_("made by"))
    def maker_name(self, obj: Task) -> str:
        return obj.maker.name


class Activities(ReadOnlyInline):
    model = Activity
    fields = ("at", "kind", "who", "text", "subject_version")
    readonly_fields = ("who", "subject_version")
    ordering = ("-at", "-id")

    @display(description=_("who"))
    def who(self, obj: Activity) -> str:
        return obj.actor.shown


class Participants(ReadOnlyInline):
    model = Participant
    fields = ("contact", "role", "removed", "subject_version")
    ordering = ("id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).select_related("contact")


@admin.register(Opportunity)
class OpportunityAdmin(SubjectAdmin):
    readonly_preprocess_fields = PEOPLE
    list_display = ("name", "company", "stage", "shown_status", "money", "owner", "version_mark", "last_changed_by")
    list_select_related = ("company", "stage", "owner")
    list_filter = ("status", "stage", "team", "owner")
    search_fields = ("name", "company__name", "=external_id")
    ordering = ("-id",)
    inlines = (Tasks, Activities, Participants)
    readonly_fields = (*SubjectAdmin.readonly_fields, "money")
    fieldsets = (
        (None, {"fields": (("name", "status"), ("company", "contact"), ("product", "owner"), ("team", "tags"))}),
        (
            _("Stage and money"),
            {
                "fields": (
                    ("pipeline", "stage"),
                    ("stage_since", "money"),
                    ("opened_on", "expected_close", "closed_on"),
                    ("lost_reason", "decision"),
                )
            },
        ),
        (_("Next step"), {"fields": (("next_step", "next_step_on"), ("next_step_at", "last_contact_at"))}),
        (_("Version"), {"fields": (("version_mark", "changed_at", "last_changed_by"), "external_id")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Opportunity]:
        found: QuerySet[Opportunity] = super().get_queryset(request)
        user = request.user
        return found & Opportunity.objects.visible_to(user) if isinstance(user, User) else found.none()

    @display(description=_("status"), ordering="status", label=STATUS)
    def shown_status(self, obj: Opportunity) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    @display(description=_("amount"), ordering="amount")
    def money(self, obj: Opportunity) -> str:
        return money(obj.amount, obj.currency)


@admin.register(Company)
class CompanyAdmin(SubjectAdmin):
    readonly_preprocess_fields = PEOPLE
    list_display = ("name", "sector", "location", "owner", "version_mark", "last_changed_by", "changed_at")
    list_select_related = ("owner",)
    list_filter = ("sector",)
    search_fields = ("name", "location")
    ordering = ("name", "id")


class Points(ReadOnlyInline):
    model = ContactPoint
    fields = ("kind", "value", "label", "is_primary", "removed", "subject_version")
    ordering = ("removed", "-is_primary", "id")


class Consents(ReadOnlyInline):
    model = Consent
    fields = ("channel", "status", "at", "source", "who", "subject_version")
    readonly_fields = ("who", "subject_version")

    @display(description=_("who"))
    def who(self, obj: Consent) -> str:
        return Actor.parse(obj.changed_by).name


@admin.register(Contact)
class ContactAdmin(SubjectAdmin):
    readonly_preprocess_fields = PEOPLE
    list_display = ("name", "company", "job_title", "owner", "version_mark", "last_changed_by", "changed_at")
    list_select_related = ("company", "owner")
    list_filter = ("blocked",)
    search_fields = ("name", "company__name", "points__value")
    ordering = ("name", "id")
    inlines = (Points, Consents)


@admin.register(Product)
class ProductAdmin(SubjectAdmin):
    list_display = ("name", "series", "shown_price", "version_mark", "last_changed_by", "changed_at")
    search_fields = ("name", "series")

    @display(description=_("price"), ordering="price")
    def shown_price(self, obj: Product) -> str:
        return money(obj.price, obj.currency)


class Stages(ReadOnlyInline):
    model = Stage
    fields = ("position", "name", "kind", "contact_allowed", "stuck_after_days", "subject_version")
    ordering = ("position",)
    tab = False


@admin.register(Pipeline)
class PipelineAdmin(SubjectAdmin):
    list_display = ("name", "is_default", "version_mark", "last_changed_by", "changed_at")
    inlines = (Stages,)
