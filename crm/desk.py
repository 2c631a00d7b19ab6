"""Lists of tickets, stock and access requests: search, filters, pages that never get slower; and those of one record.

As in `crm/lists.py`, whose pages two of them use: keyset, nothing counted, what stands in the address bar is read as
what it can mean or left out. Next in the flow: `crm/views/tickets.py`, `crm/views/stock.py`, `crm/views/access.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import CharField, DateTimeField, F, Q, QuerySet, Value
from django.utils.translation import gettext_lazy as _

from crm import lists, naming
from crm.models import AccessRequest, Reservation, StockItem, Ticket, User
from crm.models.access import AccessState
from crm.models.stock import ReservationState
from crm.models.ticket import Priority, TicketState

SHOWN = 10
"""Beside another record; the list has the rest."""

ALL, AFTER_CLOSING = "all", "wrote"
TICKET_STATES: dict[str, Any] = {
    "": _("Not closed"),
    **dict(TicketState.choices),
    AFTER_CLOSING: _("closed, and the customer wrote"),
    ALL: _("all of them"),
}
FREE, PROMISED, NONE_FREE = "free", "promised", "none"
STOCK_STATES: dict[str, Any] = {
    FREE: _("some free"),
    NONE_FREE: _("none free"),
    PROMISED: _("some promised"),
}
ACCESS_STATES: dict[str, Any] = dict(AccessState.choices)


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the address bar says. All texts; empty means no filter."""

    q: str = ""
    state: str = ""
    team: str = ""
    """The key of a team, or "none": everybody's queue."""
    assignee: str = ""
    """"me", "none" or the key of a user."""
    priority: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str], *, states: Mapping[str, Any]) -> "Filters":
        names = ("q", "state", "team", "assignee", "priority")
        kept = {name: given.get(name, "").replace("\0", "").strip()[: lists.LONGEST] for name in names}
        known = {
            "state": kept["state"] in states,
            "team": kept["team"] == "none" or is_key(kept["team"]),
            "assignee": kept["assignee"] in ("me", "none") or is_key(kept["assignee"]),
            "priority": kept["priority"] in {str(value) for value in Priority.values},
        }
        return cls(**{name: text if known.get(name, True) else "" for name, text in kept.items()})

    @property
    def query(self) -> str:
        return urlencode({name: value for name, value in self.__dict__.items() if value})

    @property
    def narrows(self) -> bool:
        return bool(self.query)


def tickets(filters: Filters, *, user: User) -> QuerySet[Ticket]:
    rows = Ticket.objects.visible_to(user).select_related("company", "contact", "assignee", "claimed_by", "team")
    match filters.state:
        case "":
            rows = rows.unsettled()
        case "all":
            pass
        case "wrote":
            rows = rows.filter(state=TicketState.CLOSED, customer_wrote_at__gt=F("closed_at"))
        case state:
            rows = rows.filter(state=state)
    match filters.assignee:
        case "":
            pass
        case "me":
            rows = rows.filter(assignee=user)
        case "none":
            rows = rows.filter(assignee=None)
        case key:
            rows = rows.filter(assignee=int(key))
    if filters.team:
        rows = rows.filter(team=None if filters.team == "none" else int(filters.team))
    if filters.priority:
        rows = rows.filter(priority=int(filters.priority))
    if filters.q:
        key = naming.key(filters.q)
        about = Q(name__icontains=filters.q)
        if key:
            about |= Q(company__name_key__contains=key) | Q(contact__name_key__contains=key)
        rows = rows.filter(about)
    return rows


def tickets_page(rows: QuerySet[Ticket], *, after: str = "") -> lists.Page:
    """In turn: the urgent ones first, of those the oldest. `after` is `<priority>~<key>` of the last one shown."""
    priority, _tilde, pk = after.partition("~")
    start = is_key(priority) and is_key(pk)
    if start:
        rows = rows.filter(Q(priority__lt=int(priority)) | Q(priority=int(priority), pk__gt=int(pk)))
    found = list(rows.order_by("-priority", "pk")[: lists.PAGE + 1])
    shown, more = found[: lists.PAGE], len(found) > lists.PAGE
    mark = f"{shown[-1].priority}~{shown[-1].pk}" if more else ""
    return lists.Page(rows=shown, after=mark, resumed=start)


def stock(filters: Filters) -> QuerySet[StockItem]:
    rows = StockItem.objects.select_related("product")
    match filters.state:
        case "free":
            rows = rows.filter(on_hand__gt=F("held"))
        case "none":
            rows = rows.filter(on_hand=F("held"))
        case "promised":
            rows = rows.filter(held__gt=0)
    if filters.q:
        key = naming.key(filters.q)
        number = Q(sku__icontains=filters.q) | Q(location__icontains=filters.q)
        rows = rows.filter(number | Q(name_key__contains=key) if key else number)
    return rows


def access(filters: Filters, *, user: User) -> QuerySet[AccessRequest]:
    rows = AccessRequest.objects.visible_to(user).select_related("team", "company", "person", "decided_by")
    if filters.state:
        rows = rows.filter(state=filters.state)
    if filters.q:
        named = Q(person__first_name__icontains=filters.q) | Q(person__last_name__icontains=filters.q)
        target = Q(team__name__icontains=filters.q) | Q(company__name__icontains=filters.q)
        rows = rows.filter(named | target | Q(reason__icontains=filters.q))
    return rows


def tickets_of(user: User, **about: Any) -> list[Ticket]:
    """Those of a company, a contact or a deal that are not closed, for its page; the newest first."""
    rows = Ticket.objects.visible_to(user).unsettled().filter(**about).select_related("assignee", "team")
    return list(rows.order_by("-pk")[:SHOWN])


def of_deal(user: User, deal: int) -> list[dict[str, Any]]:
    """The tickets that name a deal and the units that are held for it: both in one query, for its page."""
    tickets = Ticket.objects.visible_to(user).unsettled().filter(opportunity=deal).order_by()
    held = Reservation.objects.filter(opportunity=deal, state=ReservationState.HELD).order_by()
    word = CharField()
    found = tickets.values_list(
        Value("ticket", output_field=word), "pk", "name", "state", "priority", Value(None, output_field=DateTimeField())
    ).union(
        held.values_list(Value("stock", output_field=word), "item", "item__name", "state", "quantity", "until"),
        all=True,
    )
    names = ("kind", "pk", "name", "state", "number", "until")
    rows = [dict(zip(names, row, strict=True)) for row in found[: 2 * SHOWN]]
    for row in rows:
        states: Any = TicketState if row["kind"] == "ticket" else ReservationState
        row["words"] = states(row["state"]).label
    return rows


def is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
