"""Search: deals, companies, contacts, contracts, invoices and tickets by name, visible ones only; a short query each,
with or without the palette.

Names are compared by their key (crm/naming.py), so accents, case and spaces do not matter; deals, which have no key, by
their own text. What begins with the words comes first. A partial in the palette, a page without JavaScript.
"""

from typing import Any

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from crm import naming
from crm.models import Company, Contact, Contract, Invoice, Opportunity, Ticket, User

AT_MOST = 6
LONGEST = 100


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "").strip()[:LONGEST]
    found = find(request, text) if len(text) >= 2 else {}
    template = "search.html#found" if request.htmx else "search.html"  # type: ignore[attr-defined]
    return TemplateResponse(request, template, {"q": text, "found": found, "any": any(found.values())})


def find(request: HttpRequest, text: str) -> dict[str, list[Any]]:
    key = naming.key(text)
    user: User = request.user  # type: ignore[assignment]
    deals = Opportunity.objects.visible_to(user).select_related("company")
    of_company = Q(company__name_key__startswith=key) if key else Q()
    return {
        "deals": list(
            _begins_first(deals.filter(Q(name__icontains=text) | of_company), Q(name__istartswith=text)).order_by(
                "rank", "status_rank", "-changed_at"
            )[:AT_MOST]
        ),
        "companies": _by_key(Company.objects.all(), key),
        "contacts": _by_key(Contact.objects.select_related("company"), key),
        "contracts": _by_key(Contract.objects.visible_to(user).select_related("company"), key),
        "invoices": _by_key(Invoice.objects.visible_to(user).select_related("company"), key),
        "tickets": _by_name(Ticket.objects.visible_to(user).select_related("company"), text),
    }


def _by_name(rows: QuerySet[Any], text: str) -> list[Any]:
    found = _begins_first(rows.filter(name__icontains=text), Q(name__istartswith=text))
    return list(found.order_by("rank", "-changed_at", "-pk")[:AT_MOST])


def _by_key(rows: QuerySet[Any], key: str) -> list[Any]:
    if not key:
        return []
    found = _begins_first(rows.filter(name_key__contains=key), Q(name_key__startswith=key))
    return list(found.order_by("rank", "name_key", "pk")[:AT_MOST])


def _begins_first(rows: QuerySet[Any], begins: Q) -> QuerySet[Any]:
    rank = Case(When(begins, then=Value(0)), default=Value(1), output_field=IntegerField())
    rows = rows.annotate(rank=rank)
    if rows.model is Opportunity:
        open_first = Case(When(status="open", then=Value(0)), default=Value(1), output_field=IntegerField())
        rows = rows.annotate(status_rank=open_first)
    return rows
