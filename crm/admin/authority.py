"""Authority levels and decisions in the admin: how far each role may decide, and what was decided."""

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from conflicts.admin.columns import display
from conflicts.admin.subjects import SubjectAdmin
from conflicts.models import AuthorityLevel, Decision
from crm.models import User


@admin.register(AuthorityLevel)
class AuthorityLevelAdmin(SubjectAdmin):
    list_display = ("role", "amount", "currency", "discount", "legal", "version_mark")


@admin.register(Decision)
class DecisionAdmin(SubjectAdmin):
    list_display = ("changed_at", "kind", "conflict", "reason", "by")
    list_select_related = ("conflict",)
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> Any:
        found, user = super().get_queryset(request), request.user
        if not isinstance(user, User):
            return found.none()
        ours = Q(conflict__team_key=None) | Q(conflict__team_key=user.team_id)
        return found if user.sees_everything else found.filter(ours)

    @display(description=_("by"))
    def by(self, obj: Decision) -> str:
        return obj.author.shown
