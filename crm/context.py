"""What the frame around every page shows: the workspace, the way around, the day where the viewer is.

`slots.filled("nav.counts", request)`: each filler returns `{nav entry: what is to be counted}`, a QuerySet; all of them
are counted in one statement, and only when a whole page is rendered. `slots.filled("nav.saved", request)`: each filler
returns a list of `{"label", "url"}`, the viewer's saved views. Next in the flow: `templates/base.html`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet, Subquery, Value
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from crm import slots
from crm.clock import today_for
from crm.models.user import Role, User


@dataclass(frozen=True, kw_only=True)
class Entry:
    name: str
    url_name: str
    label: Any
    icon: str
    daily: bool = False
    """Stands on the phone's bar; the others are in its sheet."""
    managers: bool = False
    office: bool = False
    """Stands in the quiet group below the others."""
    rooms: tuple[str, ...] = ()
    """Beginnings of the URL names that belong to it."""


ENTRIES = (
    Entry(name="my_day", url_name="my_day", label=_("My day"), icon="day", daily=True, rooms=("my_day",)),
    Entry(name="board", url_name="board", label=_("Board"), icon="board", daily=True, rooms=("board", "deal")),
    Entry(name="inbox", url_name="inbox", label=_("Inbox"), icon="inbox", daily=True, rooms=("inbox", "conversation")),
    Entry(
        name="suggestions",
        url_name="suggestions",
        label=_("Suggestions"),
        icon="bulb",
        daily=True,
        rooms=("suggestion",),
    ),
    Entry(name="companies", url_name="companies", label=_("Companies"), icon="firm", rooms=("compan",)),
    Entry(name="contacts", url_name="contacts", label=_("Contacts"), icon="people", rooms=("contact",)),
    Entry(
        name="review",
        url_name="admin:conflicts_conflict_changelist",
        label=_("Review queue"),
        icon="merge",
        managers=True,
    ),
    Entry(name="contracts", url_name="contracts", label=_("Contracts"), icon="file", office=True, rooms=("contract",)),
    Entry(name="invoices", url_name="invoices", label=_("Invoices"), icon="bill", office=True, rooms=("invoice",)),
    Entry(name="tickets", url_name="tickets", label=_("Tickets"), icon="ticket", office=True, rooms=("ticket",)),
    Entry(name="stock", url_name="stock", label=_("Stock"), icon="box", office=True, rooms=("stock",)),
    Entry(name="access", url_name="access", label=_("Access"), icon="shield", office=True, rooms=("access",)),
)


def shell(request: HttpRequest) -> dict[str, Any]:
    now = timezone.now()
    user = getattr(request, "user", None)
    return {
        "workspace": settings.VIGENTE_WORKSPACE,
        "now": now,
        "today": today_for(user if user and user.is_authenticated else None, now=now),
        "nav": SimpleLazyObject(partial(navigation, request)),
    }


def navigation(request: HttpRequest) -> dict[str, Any]:
    """`{"daily": [...], "rest": [...], "office": [...]}`: label, icon, url, count, whether the viewer is there."""
    entries = list(_entries(request))
    return {
        "saved": [view for views in slots.filled("nav.saved", request) for view in views],
        "daily": [entry for entry in entries if entry["daily"]],
        "rest": [entry for entry in entries if not entry["daily"] and not entry["office"]],
        "office": [entry for entry in entries if entry["office"]],
    }


def _entries(request: HttpRequest) -> Iterator[dict[str, Any]]:
    counts = _counts(request)
    match = request.resolver_match
    here = (match.url_name or "") if match and not match.app_names else ""
    for entry in ENTRIES:
        if entry.managers and not _manages(request):
            continue
        try:
            url = reverse(entry.url_name)
        except NoReverseMatch:
            continue
        yield {
            "name": entry.name,
            "label": entry.label,
            "icon": entry.icon,
            "url": url,
            "daily": entry.daily,
            "office": entry.office,
            "count": counts.get(entry.name, 0),
            "current": bool(entry.rooms) and here.startswith(entry.rooms),
        }


def _counts(request: HttpRequest) -> dict[str, int]:
    """All of them in one statement, whoever gives them."""
    wanted: dict[str, QuerySet[Any]] = {}
    for given in slots.filled("nav.counts", request):
        wanted.update(given)
    if not wanted:
        return {}
    numbers = {f"n_{name}": Subquery(_number(rows)) for name, rows in wanted.items()}
    found = User.objects.filter(pk=request.user.pk or 0).values_list(*numbers.values()).first() or ()
    return {name: number or 0 for name, number in zip(wanted, found, strict=False)}


def _number(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.order_by().annotate(n_all=Value(1)).values("n_all").annotate(n=Count("pk")).values("n")


def _manages(request: HttpRequest) -> bool:
    user = request.user
    return user.is_authenticated and user.is_staff and (user.sees_everything or user.role == Role.MANAGER)
