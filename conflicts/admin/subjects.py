"""SubjectAdmin: a subject in the admin, to be read, with the version in force and everything that led to it.

Changes go through the gate, and so through the product's pages. Next in the flow: `conflicts/admin/versions.py`.
"""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from conflicts.admin import versions
from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyAdmin
from conflicts.models import VersionedModel


class SubjectAdmin(ReadOnlyAdmin):
    readonly_fields: tuple[str, ...] = ("version_mark", "changed_at", "last_changed_by")
    exclude = ("version", "changed_by", "changed_in", "name_key")

    @display(description=_("version"), ordering="version", label=True)
    def version_mark(self, obj: VersionedModel) -> str:
        return f"v{obj.version}"

    @display(description=_("last changed by"))
    def last_changed_by(self, obj: VersionedModel) -> str:
        return obj.author.name

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Every version; `?until=31` shows that one and the fifty before it."""
        subject = self.get_object(request, object_id)
        if subject is None:
            raise Http404
        if not self.has_view_permission(request, subject):
            raise PermissionDenied
        until = _whole(request.GET.get("until", ""), most=subject.version)
        context = {
            **self.admin_site.each_context(request),
            "title": _("History: %s") % subject,
            "opts": self.opts,
            "subject": subject,
            "entries": versions.entries(subject, until=until),
            "older": until - versions.PAGE if until > versions.PAGE else None,
            "newest": until == subject.version,
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/vigente/history.html", context)


def _whole(text: str, *, most: int) -> int:
    """The number in `text` if it is one between 1 and `most`, else `most`."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 and 0 < int(text) <= most else most
