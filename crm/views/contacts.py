"""Contacts: the list, a new one, and the record with its addresses, what was agreed to, its deals and its story."""

import zoneinfo
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from conflicts.models import VersionedModel
from conflicts.outcomes import Result
from crm import inbox, inputs, lists
from crm.models import Company, Consent, Contact, ContactPoint, Opportunity, User
from crm.models.contact import Channel, ConsentStatus
from crm.views import records, saved_views
from crm.views.companies import owners
from crm.views.settle import settle_or
from crm.views.submit import Submission, fresh_key, submit

FILTERS = frozenset({"owner", "company", "tag"})
NEW = ("name", "company", "job_title", "owner")
REACH = ("email", "phone")

POINTS = Prefetch("points", ContactPoint.objects.filter(removed=False), to_attr="in_use")


@require_GET
def contacts(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    filters = lists.Filters.read(request.GET, fields=FILTERS)
    rows = lists.contacts(filters, user=user).prefetch_related(POINTS)
    page = lists.page(rows, sort=filters.sort, after=request.GET.get("after", ""))
    context: dict[str, Any] = {"page": page, "filters": filters, "sorts": lists.SORTS}
    if filters.company:
        context["of_company"] = Company.objects.filter(pk=int(filters.company)).first()
    if request.htmx and "after" in request.GET:  # type: ignore[attr-defined]
        return _answer(request, "records/contacts.html#rows", context)
    context |= saved_views.of_page(request, "contacts", query=filters.query)
    if request.htmx and not request.htmx.history_restore_request:  # type: ignore[attr-defined]
        response = _answer(request, "records/contacts.html#region", context)
        response["HX-Push-Url"] = f"{request.path}?{filters.query}" if filters.query else request.path
        return response
    return _answer(request, "records/contacts.html", context | {"owners": owners()})


def _answer(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = TemplateResponse(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


# ----------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> Contact:
    found = Contact.objects.select_related("company", "owner").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


@require_safe
def contact(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, find(pk))


@require_safe
def contact_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, find(pk))


@require_POST
def contact_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, find(pk))


def _around(request: HttpRequest, contact: Contact) -> dict[str, Any]:
    user: User = request.user  # type: ignore[assignment]
    about = Q(contact=contact) | Q(pk__in=contact.participations.filter(removed=False).values("opportunity"))
    deals, more_deals = records.deals_of(user, pk__in=Opportunity.objects.filter(about).values("pk"))
    return {
        "contact": contact,
        "points": list(contact.points.filter(removed=False)),
        "channels": channels(contact),
        "talks": inbox.of_record(request, contact=contact),
        "statuses": ConsentStatus.choices,
        "deals": deals,
        "more_deals": more_deals,
    }


def channels(contact: Contact) -> list[dict[str, Any]]:
    """Each channel with the statement in force, which is the newest, and the older ones as its proof."""
    said: dict[str, list[Consent]] = {}
    for consent in contact.consents.all():
        said.setdefault(consent.channel, []).append(consent)
    return [
        {
            "channel": channel.value,
            "label": channel.label,
            "now": next(iter(said.get(channel.value, [])), None),
            "before": said.get(channel.value, [])[1:],
        }
        for channel in Channel
    ]


def _tidy(params: dict[str, Any], faults: records.Faults, subject: VersionedModel) -> None:
    zone = params.get("time_zone", "")
    if zone and zone not in zoneinfo.available_timezones():
        faults["time_zone"] = [_("There is no time zone “%(zone)s”; one is America/Sao_Paulo.") % {"zone": zone[:40]}]


def _prepare(found: list[inputs.Input]) -> None:
    for field in found:
        if field.name == "time_zone":
            field.kind = "name"
            field.options = tuple(("", zone) for zone in sorted(zoneinfo.available_timezones()) if "/" in zone)
        if field.name == "language":
            field.help = _("A short code, such as pt-br or en.")


KIND = records.Kind(
    template="records/contact.html",
    action="contact.edit",
    facts={
        "name": ("name",),
        "company": ("company",),
        "job_title": ("job_title",),
        "owner": ("owner",),
        "language": ("language",),
        "time_zone": ("time_zone",),
        "blocked": ("blocked",),
        "tags": ("tags",),
        "note": ("note",),
    },
    find=find,
    context=_around,
    address=lambda contact: reverse("contact", args=[contact.pk]),
    tidy=_tidy,
    prepare=_prepare,
)


# ------------------------------------------------------------------------------- addresses and what was agreed to


@require_POST
def address_add(request: HttpRequest, pk: int) -> HttpResponse:
    posted = request.POST
    params = {"kind": posted.get("kind", ""), "value": posted.get("value", ""), "label": posted.get("label", "")}
    said = _("%(address)s is added.") % {"address": params["value"]}
    return _inside(request, pk, action="contact.add_address", params=params, said=said, part="addresses")


@require_POST
def address_remove(request: HttpRequest, pk: int) -> HttpResponse:
    text = request.POST.get("point", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Http404
    said = _("The address is removed; the history keeps it.")
    return _inside(request, pk, action="contact.remove_address", params={"point": int(text)}, said=said)


@require_POST
def consent(request: HttpRequest, pk: int) -> HttpResponse:
    params = {name: request.POST.get(name, "") for name in ("channel", "status", "source")}
    said = _("Recorded what the contact said.")
    return _inside(request, pk, action="contact.state_consent", params=params, said=said, part="consents")


def _inside(
    request: HttpRequest, pk: int, *, action: str, params: dict[str, Any], said: str, part: str = ""
) -> HttpResponse:
    """An act on what belongs to the contact; a form with a fault comes back with what was typed."""
    subject = find(pk)
    submission = submit(request, action=action, params=params, subject=subject)
    if part and (fault := _fault(submission)):
        context = records.whole(request, KIND, subject)
        context |= {f"{part}_typed": params, f"{part}_fault": fault, "shown_version": request.POST.get("version", "")}
        alone = bool(request.htmx)  # type: ignore[attr-defined]
        template = f"records/contact.html#{part}" if alone else "records/contact.html"
        return TemplateResponse(request, template, {**context, "oob": alone}, status=422)
    done_url = KIND.address(subject)
    answer = settle_or(request, submission, subject=subject, action=action, params=params, done_url=done_url, said=said)
    return answer or records.renewed(request, KIND, subject)


def _fault(submission: Submission) -> str:
    """What is wrong with the form itself, also where only a rule could tell (an address that is somebody else's)."""
    if submission.outcome is None:
        return " ".join(line for lines in submission.errors.values() for line in lines)
    outcome = submission.outcome.settled
    return str(outcome.sentence or "") if outcome.result is Result.REFUSED else ""


# ----------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def contact_new(request: HttpRequest) -> HttpResponse:
    company = request.GET.get("company", "")
    known = Company.objects.filter(pk=int(company)).first() if company.isdecimal() and len(company) < 19 else None
    user: User = request.user  # type: ignore[assignment]
    blank = Contact(owner=user, company=known)
    if request.method == "GET":
        return _form(request, blank)
    params, faults = inputs.read(request.POST, NEW, model=Contact, subject=blank)
    if faults:
        return _form(request, blank, faults=faults, status=422)
    given = {name: value for name, value in params.items() if value not in (None, "")}
    given["addresses"] = [
        {"kind": kind, "value": value, "is_primary": kind == "email"}
        for kind in REACH
        if (value := request.POST.get(kind, "").strip())
    ]
    submission = submit(request, action="contact.create", params=given)
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(name)s is added.") % {"name": params["name"]})
        return redirect("contact", outcome.settled.subject.pk)
    return _form(request, blank, refused=str(outcome.settled.sentence or ""), status=422)


def _form(
    request: HttpRequest,
    blank: Contact,
    *,
    faults: records.Faults | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    faults = faults or {}
    typed = {name: request.POST[name] for name in NEW if name in request.POST}
    fields = {field.name: field for field in inputs.build(blank, NEW, typed=typed, faults=faults)}
    fields["company"].options = ()  # they come while one types
    wrong = " ".join(faults.get("addresses", ()))
    reach = {
        kind: inputs.Input(name=kind, label=str(Channel(kind).label), kind="text", value=request.POST.get(kind, ""))
        for kind in REACH
    }
    for field in reach.values():
        field.longest = 200
        # The sentence names the address it is about.
        if wrong and field.value and (field.value in wrong or all(f.value not in wrong for f in reach.values())):
            field.fault = wrong
    context = {
        "fields": fields,
        "reach": reach,
        "faults": faults,
        "refused": refused,
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "records/contact_new.html", context, status=status)
