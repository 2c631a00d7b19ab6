"""Lists of companies and contacts: search, filters, sorting, and pages that never get slower.

Guarantees that a page costs the same at the hundredth as at the first (keyset: it begins after the last row seen, no
OFFSET), that nothing is counted, and that whatever stands in the address bar is read as what it can mean or left out.
Next in the flow: `crm/views/companies.py`, `crm/views/contacts.py`.
"""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from crm import naming
from crm.models import Company, Contact, ContactPoint, User

PAGE = 50
LONGEST = 100

SORTS: dict[str, Any] = {
    "": _("By name"),
    "changed": _("Changed last"),
    "new": _("Newest first"),
}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the address bar says. All texts; empty means no filter."""

    q: str = ""
    owner: str = ""
    """"me", "none" or the key of a user."""
    sector: str = ""
    company: str = ""
    """The key of a company (contacts)."""
    tag: str = ""
    sort: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str], *, fields: frozenset[str]) -> "Filters":
        """`fields`: the filters that this list has."""
        kept = {name: given.get(name, "").strip()[:LONGEST] for name in fields | {"q", "sort"}}
        if kept["sort"] not in SORTS:
            kept["sort"] = ""
        for name in ("owner", "company"):
            if kept.get(name) and not (_is_key(kept[name]) or (name == "owner" and kept[name] in ("me", "none"))):
                kept[name] = ""
        return cls(**kept)

    @property
    def query(self) -> str:
        """As a query string, in a fixed order, without what is empty."""
        return self.but()

    def but(self, **changes: str) -> str:
        values = {**self.__dict__, **changes}
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def without_tag(self) -> str:
        return self.but(tag="")

    @property
    def without_company(self) -> str:
        return self.but(company="")

    @property
    def narrows(self) -> bool:
        return any((self.q, self.owner, self.sector, self.company, self.tag))


@dataclass(kw_only=True)
class Page:
    rows: list[Any]
    after: str
    """Where the next page begins; empty on the last."""
    resumed: bool
    """Does not begin at the top."""


def companies(filters: Filters, *, user: User) -> QuerySet[Company]:
    rows = _common(Company.objects.select_related("owner"), filters, user=user)
    if filters.sector:
        rows = rows.filter(sector=filters.sector)
    if filters.q:
        key = naming.key(filters.q)
        rows = rows.filter(name_key__contains=key) if key else rows.none()
    return rows


def contacts(filters: Filters, *, user: User) -> QuerySet[Contact]:
    """Searched by name, by e-mail address and by the digits of a number."""
    rows = _common(Contact.objects.select_related("owner", "company"), filters, user=user)
    if filters.company:
        rows = rows.filter(company=int(filters.company))
    if filters.q:
        key, text, digits = naming.key(filters.q), filters.q.lower(), re.sub(r"\D", "", filters.q)
        points = ContactPoint.objects.filter(removed=False).values("contact")
        wanted = Q(name_key__contains=key) if key else Q(pk__in=[])
        if "@" in text or "." in text:
            wanted |= Q(pk__in=points.filter(kind="email", value_key__contains=text))
        if len(digits) >= 4:
            wanted |= Q(pk__in=points.filter(kind="phone", value_key__contains=digits))
        rows = rows.filter(wanted)
    return rows


def sectors(*, most: int = 200) -> list[str]:
    """Those that occur, jumping in the index from one to the next: quick however many companies there are."""
    with connection.cursor() as cursor:
        cursor.execute(_SECTORS, [most])
        return [sector for (sector,) in cursor.fetchall()]


_SECTORS = """
    WITH RECURSIVE known AS (
        (SELECT sector FROM crm_company WHERE sector > '' ORDER BY sector LIMIT 1)
        UNION ALL
        SELECT (SELECT c.sector FROM crm_company c WHERE c.sector > known.sector ORDER BY c.sector LIMIT 1)
          FROM known WHERE known.sector IS NOT NULL
    )
    SELECT sector FROM known WHERE sector IS NOT NULL LIMIT %s
"""


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
    return rows.filter(tags__contains=[filters.tag]) if filters.tag else rows


def page(rows: QuerySet[Any], *, sort: str, after: str = "", size: int | None = None) -> Page:
    """At most `size` (PAGE) rows that follow `after`, in the order of `sort`."""
    size = size or PAGE
    start = _start(sort, after)
    found = list((rows.filter(start) if start is not None else rows).order_by(*_order(sort))[: size + 1])
    more = len(found) > size
    return Page(rows=found[:size], after=_mark(sort, found[size - 1]) if more else "", resumed=start is not None)


def _order(sort: str) -> tuple[str, ...]:
    return {"": ("name_key", "pk"), "changed": ("-changed_at", "-pk"), "new": ("-pk",)}[sort]


def _mark(sort: str, row: Any) -> str:
    first = {"": row.name_key, "changed": row.changed_at.isoformat() if row.changed_at else "", "new": ""}[sort]
    return f"{row.pk}~{first}"


def _start(sort: str, after: str) -> Q | None:
    """What lies behind the mark. None for no mark, and for one that no page has given."""
    pk, _tilde, first = after.partition("~")
    if not _is_key(pk):
        return None
    if sort == "new":
        return Q(pk__lt=int(pk))
    if sort == "changed":
        try:
            at = dt.datetime.fromisoformat(first)
        except ValueError:
            return None
        if at.tzinfo is None:
            return None
        return Q(changed_at__lte=at) & (Q(changed_at__lt=at) | Q(pk__lt=int(pk)))
    return Q(name_key__gte=first) & (Q(name_key__gt=first) | Q(pk__gt=int(pk)))


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
