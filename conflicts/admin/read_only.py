"""ReadOnlyAdmin: what may be looked at in the admin and changed nowhere in it.

Guarantees that no page of such a model adds, changes or deletes, and that it offers no action on rows: whoever finds a
way around the buttons meets a 403. Whoever may enter the admin (`is_staff`) may look.
"""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline


class Untouchable:
    """Permissions of a thing that is only looked at."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_staff)


class ReadOnlyAdmin(Untouchable, ModelAdmin):  # type: ignore[misc]
    actions = None
    show_full_result_count = False
    list_per_page = 50
    list_disable_select_all = True
    show_add_link = False


class ReadOnlyInline(Untouchable, TabularInline):  # type: ignore[misc]
    """Rows inside a subject; newest first, a page at a time. Each shows at which version it was written last."""

    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = False
    per_page = 25
    tab = True
    readonly_fields: tuple[str, ...] = ("subject_version",)
