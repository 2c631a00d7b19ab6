"""What was odd: the events of leases and jobs as lists, also of those that never were.

A lease that was asked for in a way it cannot be had, and a message for work that nobody knows, have no page of their
own to stand on: whoever runs the house finds them here, by kind. Next in the flow: `conflicts/leases.py` and
`conflicts/jobs.py`, which tell them.
"""

import json
from typing import Any

from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.deciding import moment
from conflicts.admin.read_only import ReadOnlyAdmin


class EventAdmin(ReadOnlyAdmin):
    list_display: tuple[str, ...] = ("shown_at", "kind", "key", "who", "said")
    list_filter = ("kind",)
    search_fields = ("=key",)
    search_help_text = _("A whole key")
    ordering = ("-id",)
    fields: tuple[str, ...] = list_display
    readonly_fields = ("shown_at", "who", "said")
    list_fullwidth = True

    @display(description=_("when"), ordering="id")
    def shown_at(self, obj: Any) -> str:
        return moment(obj.at)

    @display(description=_("who"), ordering="by")
    def who(self, obj: Any) -> str:
        return Actor.parse(obj.by).shown

    @display(description=_("detail"))
    def said(self, obj: Any) -> str:
        return str(obj.detail.get("why") or obj.detail.get("error") or _as_line(obj.detail))


class LeaseEventAdmin(EventAdmin):
    list_display = (*EventAdmin.list_display[:3], "fence", "unit", *EventAdmin.list_display[3:])
    fields = list_display


class JobEventAdmin(EventAdmin):
    pass


def _as_line(detail: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in detail.items()
    )
