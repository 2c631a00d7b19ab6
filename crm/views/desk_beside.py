"""What the desk has about a deal, a company or a contact: their pages ask for it when they are there.

Guarantees that those pages cost no query more for it, and that without JavaScript the same address is a page.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from conflicts.models import VersionedModel
from crm import desk
from crm.models import Company, Contact, Opportunity, User


@require_safe
def of_deal(request: HttpRequest, pk: int) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    deal = Opportunity.objects.visible_to(user).filter(pk=pk).first()
    if deal is None:
        raise Http404
    return _answer(request, deal, "deal", {"deal": deal, "service": desk.of_deal(user, deal.pk)})


@require_safe
def of_company(request: HttpRequest, pk: int) -> HttpResponse:
    return _tickets(request, Company.objects.filter(pk=pk).first(), "company")


@require_safe
def of_contact(request: HttpRequest, pk: int) -> HttpResponse:
    return _tickets(request, Contact.objects.filter(pk=pk).first(), "contact")


def _tickets(request: HttpRequest, record: VersionedModel | None, about: str) -> HttpResponse:
    if record is None:
        raise Http404
    user: User = request.user  # type: ignore[assignment]
    tickets = desk.tickets_of(user, **{about: record.pk})
    return _answer(request, record, about, {"tickets": tickets, "about": about, "about_pk": record.pk})


def _answer(request: HttpRequest, record: VersionedModel, page: str, context: dict[str, Any]) -> HttpResponse:
    part = "#section" if request.htmx else ""  # type: ignore[attr-defined]
    context |= {"record": record, "address": reverse(page, args=[record.pk])}
    response = TemplateResponse(request, f"desk/beside.html{part}", context)
    patch_vary_headers(response, ["HX-Request"])
    return response
