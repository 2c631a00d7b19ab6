"""Lists of contracts and invoices: search, state and owner, pages that never get slower; and those of one record.

As in `crm/lists.py`, whose pages they use: keyset, nothing counted, what stands in the address bar is read as what it
can mean or left out. Next in the flow: `crm/views/contracts.py`, `crm/views/invoices.py`.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from crm import naming
from crm.lists import LONGEST
from crm.models import Contract, Invoice, User
from crm.models.contract import ContractState
from crm.models.invoice import InvoiceState

SHOWN = 10
"""Beside a company or a deal; the list has the rest."""

OVERDUE, REVIEW = "overdue", "review"

INVOICE_STATES: dict[str, Any] = {
    **dict(InvoiceState.choices),
    OVERDUE: _("overdue"),
    REVIEW: _("payment to review"),
}
CONTRACT_STATES: dict[str, Any] = dict(ContractState.choices)


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the address bar says. All texts; empty means no filter."""

    q: str = ""
    state: str = ""
    owner: str = ""
    """"me", "none" or the key of a user."""
    company: str = ""
    """The key of a company."""

    @classmethod
    def read(cls, given: Mapping[str, str], *, states: Mapping[str, Any]) -> "Filters":
        kept = {name: given.get(name, "").strip()[:LONGEST] for name in ("q", "state", "owner", "company")}
        if kept["state"] not in states:
            kept["state"] = ""
        if not (_is_key(kept["owner"]) or kept["owner"] in ("me", "none")):
            kept["owner"] = ""
        if not _is_key(kept["company"]):
            kept["company"] = ""
        return cls(**kept)

    @property
    def query(self) -> str:
        return urlencode({name: value for name, value in self.__dict__.items() if value})

    @property
    def narrows(self) -> bool:
        return bool(self.query)


def contracts(filters: Filters, *, user: User) -> QuerySet[Contract]:
    rows = _common(Contract.objects.visible_to(user).select_related("company", "owner"), filters, user=user)
    return rows.filter(state=filters.state) if filters.state else rows


def invoices(filters: Filters, *, user: User, today: dt.date) -> QuerySet[Invoice]:
    rows = _common(Invoice.objects.visible_to(user).select_related("company", "owner"), filters, user=user)
    match filters.state:
        case "":
            return rows
        case "overdue":
            return rows.filter(state=InvoiceState.OPEN, due_on__lt=today)
        case "review":
            return rows.filter(to_review__gt=0)
        case state:
            return rows.filter(state=state)


def _common[T: QuerySet[Any]](rows: T, filters: Filters, *, user: User) -> T:
    match filters.owner:
        case "":
            pass
        case "me":
            rows = rows.filter(owner=user)
        case "none":
            rows = rows.filter(owner=None)
        case key:
            rows = rows.filter(owner=int(key))
    if filters.company:
        rows = rows.filter(company=int(filters.company))
    if filters.q:
        key = naming.key(filters.q)
        rows = rows.filter(Q(name_key__contains=key) | Q(company__name_key__contains=key)) if key else rows.none()
    return rows


def of_record(user: User, **about: Any) -> dict[str, Any]:
    """The newest contracts and invoices of a company or a deal (a query each), and how a new one begins."""
    (name, record), *_others = about.items()
    return {
        "new": f"{'deal' if name == 'opportunity' else name}={record.pk}",
        "contracts": list(Contract.objects.visible_to(user).filter(**about).order_by("-changed_at", "-id")[:SHOWN]),
        "invoices": list(Invoice.objects.visible_to(user).filter(**about).order_by("-changed_at", "-id")[:SHOWN]),
    }


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
