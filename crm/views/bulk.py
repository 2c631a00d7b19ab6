"""Changing many companies or contacts from their list: what was ticked, on the versions that were shown.

Guarantees that the answer names every record: done, so already, or set aside with the way to settle it one by one.
Next in the flow: `crm/bulk.py`.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from conflicts import actors
from conflicts.exceptions import BadParams
from conflicts.models import VersionedModel
from crm import bulk
from crm.bulk import Change, Report
from crm.models import Company, Contact, User
from crm.views.settling import names_of
from crm.views.submit import VersionRequired

type Line = dict[str, Any]


@require_POST
def companies(request: HttpRequest) -> HttpResponse:
    return _change(request, Company, "company")


@require_POST
def contacts(request: HttpRequest) -> HttpResponse:
    return _change(request, Contact, "contact")


def _change(request: HttpRequest, model: type[VersionedModel], name: str) -> HttpResponse:
    picked = _picked(request)
    change, fault = _asked(request)
    report, status = Report(), 200
    back = reverse({"company": "companies", "contact": "contacts"}[name])
    if not picked:
        fault = _("Nothing was selected.")
    elif not change and not fault:
        fault = _("Say what is to be changed: an owner, or a tag.")
    if not fault:
        key = request.POST.get("key", "")[:150]
        try:
            report = bulk.change_all(
                model,
                f"{name}.edit",
                picked,
                change,
                by=actors.person(request.user),
                key=f"person:{request.user.pk}:{key}" if key else "",
            )
        except BadParams as error:
            fault = " ".join(line for lines in error.errors.values() for line in lines)
    if fault:
        status = 422
    context = {
        "back": back,
        "fault": fault,
        "done": [_line(request, row, outcome, name) for row, outcome in report.done],
        "aside": [_line(request, row, outcome, name) for row, outcome in report.aside],
        "same": report.same,
        "gone": report.gone,
    }
    return TemplateResponse(request, "records/bulk.html", context, status=status)


def _line(request: HttpRequest, row: VersionedModel, outcome: Any, name: str) -> Line:
    return {
        "row": row,
        "url": reverse(name, args=[row.pk]),
        "version": outcome.version,
        "together": names_of(outcome, viewer=request.user),
        "sentence": outcome.sentence,
        "record": outcome.record if outcome.differences else None,
    }


def _picked(request: HttpRequest) -> dict[int, int]:
    """Key -> version, of what was ticked. Raises VersionRequired: a key without the version it was shown at."""
    found: dict[int, int] = {}
    for text in request.POST.getlist("pick")[: bulk.AT_ONCE]:
        pk, _colon, version = text.partition(":")
        if not _is_key(pk):
            continue
        if not _is_key(version) or int(version) < 1:
            raise VersionRequired
        found[int(pk)] = int(version)
    return found


def _asked(request: HttpRequest) -> tuple[Change, str]:
    owner = request.POST.get("owner", "")
    add, drop = (request.POST.get(name, "").strip() for name in ("add_tag", "drop_tag"))
    if max(len(add), len(drop)) > 60:
        return Change(), _("A tag has at most 60 characters.")
    if owner not in ("", "none") and not (
        _is_key(owner) and User.objects.filter(pk=int(owner), is_active=True).exists()
    ):
        return Change(), _("There is nobody of that name here.")
    pk = int(owner) if _is_key(owner) else None
    return Change(owner=pk, nobody=owner == "none", add_tag=add, drop_tag=drop), ""


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
