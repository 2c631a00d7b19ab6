"""People and teams, kept by administrators.

Guarantees that two administrators who edit one account or team do not overwrite each other unseen (conflicts/admin/
seen.py), that nobody is deleted (an account is closed, its history stays), and that the role alone opens the admin.
"""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from conflicts.admin.columns import display
from conflicts.admin.seen import SeenForm
from crm.admin.scope import administers
from crm.models import Team, User
from crm.models.user import Role

admin.site.unregister(Group)  # roles say who may do what; a group that grants nothing would only mislead


class KeptByAdministrators:
    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return administers(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return administers(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return administers(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return administers(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AccountForm(SeenForm, UserChangeForm):
    pass


@admin.register(User)
class UserAdmin(KeptByAdministrators, DjangoUserAdmin, ModelAdmin):
    form = AccountForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    actions = None
    list_display = ("full_name", "username", "role", "team", "is_active", "last_login")
    list_select_related = ("team",)
    list_filter = ("role", "team", "is_active")
    search_fields = ("first_name", "last_name", "username", "email")
    ordering = ("first_name", "last_name", "id")
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    warn_unsaved_form = True
    fieldsets = (
        (None, {"fields": ("seen", ("username", "password"), ("first_name", "last_name"), "email")}),
        (_("Work"), {"fields": (("role", "team"), "is_active")}),
        (_("Preferences"), {"fields": (("language", "time_zone", "theme"),)}),
        (_("Dates"), {"fields": (("last_login", "date_joined"),)}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", ("first_name", "last_name"), "email", ("role", "team"))}),
        (_("Password"), {"fields": ("usable_password", "password1", "password2")}),
    )

    @display(description=_("name"), ordering="first_name")
    def full_name(self, obj: User) -> str:
        return str(obj)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """The admin opens by role. A superuser stays one: that is given on the command line."""
        obj.is_staff = obj.is_superuser or obj.role != Role.SALESPERSON
        super().save_model(request, obj, form, change)


@admin.register(Team)
class TeamAdmin(KeptByAdministrators, ModelAdmin):
    form = SeenForm
    actions = None
    list_display = ("name", "region", "people_count")
    search_fields = ("name", "region")
    fields = ("seen", "name", "region")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        return super().get_queryset(request).annotate(members=Count("people", filter=Q(people__is_active=True)))

    @display(description=_("people"), ordering="members")
    def people_count(self, obj: Any) -> int:
        return int(obj.members)
