"""What imports have left to choose: one line for each value in which a file and a person say different things.

Guarantees that nothing is in it that the person may not see, and that it takes the same few statements however many
wait. Each line leads to the form that settles every clash (`crm/views/settle.py`), and back.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe

from conflicts.models import Conflict
from conflicts.sentences import aspect_label
from crm.imports import Origin, origin_of, waiting_for
from crm.models import User
from crm.showing import Shower

AT_MOST = 100
PAGES = {"crm.opportunity": "deal", "crm.company": "company", "crm.contact": "contact"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    label: str
    base: str
    current: str
    proposed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    record: Conflict
    origin: Origin | None
    url: str
    values: list[Value]


@require_safe
def imports(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    found = list(waiting_for(user)[: AT_MOST + 1])
    context = {"lines": _lines(found[:AT_MOST]), "more": len(found) > AT_MOST}
    return TemplateResponse(request, "records/imports.html", context)


def _lines(records: list[Conflict]) -> list[Line]:
    """With the names of all records of a kind looked up at once."""
    by_model: dict[str, list[Conflict]] = defaultdict(list)
    for record in records:
        by_model[record.subject_model].append(record)
    values: dict[int, list[Value]] = {}
    for label, rows in by_model.items():
        model = apps.get_model(label)
        showers = {currency: Shower(model, currency=currency) for currency in {row.currency for row in rows}}
        for row in rows:
            for d in row.differences:
                showers[row.currency].learn(d["field"], d["base"], d["current"], d["proposed"])
        for row in rows:
            values[row.pk] = [_value(showers[row.currency], label, d) for d in row.differences]
    return [
        Line(record=record, origin=origin_of(record), url=_url(record), values=values[record.pk]) for record in records
    ]


def _value(shower: Shower, label: str, d: dict[str, Any]) -> Value:
    name = d["field"]
    base, current, proposed = (shower.text(name, d[which]) for which in ("base", "current", "proposed"))
    return Value(label=aspect_label(label, name), base=base, current=current, proposed=proposed)


def _url(record: Conflict) -> str:
    try:
        return reverse(PAGES[record.subject_model], args=[record.subject_id])
    except (KeyError, NoReverseMatch):
        return ""
