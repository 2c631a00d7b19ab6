"""Companies: the list, a new one, and the record with its people, its deals and its story."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Prefetch, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from conflicts.models import VersionedModel
from conflicts.outcomes import Outcome
from crm import inputs, lists, naming
from crm.models import Company, ContactPoint, Opportunity, User
from crm.views import records, saved_views
from crm.views.submit import fresh_key, submit

FILTERS = frozenset({"owner", "sector", "tag"})
NEW = ("name", "sector", "location", "website", "employees", "founded", "owner", "tags")
PEOPLE = 20


@require_GET
def companies(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    filters = lists.Filters.read(request.GET, fields=FILTERS)
    page = lists.page(lists.companies(filters, user=user), sort=filters.sort, after=request.GET.get("after", ""))
    _add_deals(page.rows, user)
    context: dict[str, Any] = {"page": page, "filters": filters, "sorts": lists.SORTS}
    if request.htmx and "after" in request.GET:  # type: ignore[attr-defined]
        return _answer(request, "records/companies.html#rows", context)
    context |= saved_views.of_page(request, "companies", query=filters.query)
    if request.htmx and not request.htmx.history_restore_request:  # type: ignore[attr-defined]
        response = _answer(request, "records/companies.html#region", context)
        response["HX-Push-Url"] = f"{request.path}?{filters.query}" if filters.query else request.path
        return response
    return _answer(request, "records/companies.html", context | {"owners": owners(), "sectors": lists.sectors()})


def _answer(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = TemplateResponse(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def owners() -> list[User]:
    return list(User.objects.filter(is_active=True).order_by("first_name", "last_name", "username")[: inputs.MOST])


def _add_deals(companies: list[Company], user: User) -> None:
    """To each its open deals that the viewer may see: how many, and what they are worth."""
    rows = Opportunity.objects.visible_to(user).open().filter(company__in=companies)
    sums = rows.order_by().values("company", "currency").annotate(deals=Count("pk"), worth=Sum("amount"))
    found: dict[int, list[Any]] = {}
    for row in sums.order_by("company", "currency"):
        found.setdefault(row["company"], []).append(row)
    for company in companies:
        own = found.get(company.pk, [])
        company.open_deals = sum(row["deals"] for row in own)  # type: ignore[attr-defined]
        company.worth = [row for row in own if row["worth"]]  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> Company:
    found = Company.objects.select_related("parent", "owner").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


@require_safe
def company(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, find(pk))


@require_safe
def company_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, find(pk))


@require_POST
def company_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, find(pk))


def _around(request: HttpRequest, company: Company) -> dict[str, Any]:
    user: User = request.user  # type: ignore[assignment]
    points = Prefetch("points", ContactPoint.objects.filter(removed=False), to_attr="in_use")
    people = list(company.contacts.prefetch_related(points).order_by("name_key", "pk")[: PEOPLE + 1])
    deals, more_deals = records.deals_of(user, company=company)
    return {
        "company": company,
        "web": records.web_address(company.website),
        "people": people[:PEOPLE],
        "more_people": len(people) > PEOPLE,
        "parts": list(company.parts.order_by("name_key")[:PEOPLE]),
        "deals": deals,
        "more_deals": more_deals,
    }


def _tidy(params: dict[str, Any], faults: records.Faults, subject: VersionedModel) -> None:
    """A revenue without a currency is in the workspace's; no revenue, no matter."""
    if params.get("currency") == "":
        del params["currency"]
        if params.get("revenue") is not None:
            params["currency"] = settings.VIGENTE_CURRENCY


KIND = records.Kind(
    template="records/company.html",
    action="company.edit",
    facts={
        "name": ("name",),
        "sector": ("sector",),
        "location": ("location",),
        "website": ("website",),
        "owner": ("owner",),
        "parent": ("parent",),
        "employees": ("employees",),
        "founded": ("founded",),
        "revenue": ("revenue", "currency"),
        "tags": ("tags",),
        "note": ("note",),
    },
    find=find,
    context=_around,
    address=lambda company: reverse("company", args=[company.pk]),
    tidy=_tidy,
)


# ----------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def company_new(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    blank = Company(owner=user, name=request.GET.get("name", "")[:200])
    if request.method == "GET":
        return _form(request, blank)
    params, faults = inputs.read(request.POST, NEW, model=Company, subject=blank)
    if faults:
        return _form(request, blank, faults=faults, status=422)
    given = {name: value for name, value in params.items() if value not in (None, "", [])}
    submission = submit(request, action="company.create", params=given)
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(name)s is added.") % {"name": params["name"]})
        return redirect("company", outcome.settled.subject.pk)
    return _form(request, blank, refused=outcome, status=422)


def _form(
    request: HttpRequest,
    blank: Company,
    *,
    faults: records.Faults | None = None,
    refused: Outcome | None = None,
    status: int = 200,
) -> HttpResponse:
    typed = {name: request.POST[name] for name in NEW if name in request.POST}
    twin = Company.objects.filter(name_key=naming.key(typed.get("name", ""))).first() if refused else None
    context = {
        "fields": inputs.build(blank, NEW, typed=typed, faults=faults),
        "faults": faults or {},
        "refused": str(refused.settled.sentence or "") if refused else "",
        "twin": twin,
        # A key that was refused has its answer; another try is another act.
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "records/company_new.html", context, status=status)
