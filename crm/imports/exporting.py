"""A file of what is here, in the columns that an import reads, each row with the version it was made from.

Guarantees that the file, imported again as it is, changes nothing, whatever people do in between; and that what is
changed in it is held against the version it was made from (`crm/imports/changes.py`). A cell that a spreadsheet would
run as a formula is not in the way: it stands as it is, for this is the operator's file and no list out of a page.
Next in the flow: `crm/imports/running.py`, when it comes back.
"""

import csv
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from django.db.models import Prefetch, QuerySet

from crm.models import Company, Contact, ContactPoint, Opportunity, Product
from crm.models.pipeline import StageKind

type Cell = Callable[[Any], Any]


def _of(name: str) -> Cell:
    return lambda row: getattr(row, name)


def _plain(*names: str) -> dict[str, Cell]:
    return {name: _of(name) for name in names}


def _owner(row: Any) -> str:
    """The user name: it is nobody else's."""
    return row.owner.username if row.owner else ""


def _tags(row: Any) -> str:
    # One that holds a semicolon cannot be said in a cell of several.
    return "; ".join(row.tags) + (";" if len(row.tags) == 1 else "")


def _email(row: Contact) -> str:
    found: list[ContactPoint] = row.all_mail  # type: ignore[attr-defined]
    return found[0].value if found else ""


CELLS: Mapping[str, Mapping[str, Cell]] = {
    "companies": {
        **_plain("name", "sector", "location", "website", "founded", "employees", "revenue", "currency", "parent"),
        "owner": _owner,
        "tags": _tags,
        "note": _of("note"),
    },
    "contacts": {
        **_plain("name", "company", "job_title"),
        "email": _email,
        **_plain("language", "time_zone"),
        "owner": _owner,
        "blocked": lambda row: "yes" if row.blocked else "no",
        "tags": _tags,
        "note": _of("note"),
    },
    "products": _plain("name", "series", "price", "currency"),
    "opportunities": {
        **_plain("external_id", "name", "company", "product", "stage", "amount", "currency"),
        "owner": _owner,
        **_plain("opened_on", "expected_close"),
        # Of an open deal it would be read as a hope.
        "closed_on": lambda row: row.closed_on if row.stage.kind != StageKind.OPEN else None,
        **_plain("lost_reason", "decision"),
        "tags": _tags,
    },
}
"""Kind -> column -> what stands in it."""


def _rows(kind: str) -> QuerySet[Any]:
    mail = Prefetch(
        "points",
        ContactPoint.objects.filter(kind="email", removed=False).order_by("-is_primary", "pk"),
        to_attr="all_mail",
    )
    rows: dict[str, QuerySet[Any]] = {
        "companies": Company.objects.select_related("parent", "owner"),
        "contacts": Contact.objects.select_related("company", "owner").prefetch_related(mail),
        "products": Product.objects.all(),
        # A deal that was made here has no number by which a file could name it.
        "opportunities": Opportunity.objects.exclude(external_id=None)
        .filter(pipeline__is_default=True)
        .select_related("company", "product", "stage", "owner"),
    }
    return rows[kind].order_by("pk")


def write(kind: str, file: TextIO) -> int:
    """How many rows were written."""
    cells = CELLS[kind]
    writer = csv.writer(file)
    writer.writerow([*cells, "version"])
    rows = 0
    for row in _rows(kind).iterator(chunk_size=2000):
        said = [cell(row) for cell in cells.values()]
        writer.writerow(["" if value is None else str(value) for value in said] + [row.version])
        rows += 1
    return rows
