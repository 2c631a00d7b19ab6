"""What the pages of contracts and invoices share: lists, acts that come back calmly, and how their rows are told.

Guarantees that each act needs the version it was shown with, that a fault comes back on the page with what was typed,
and that a clash goes to the settle page. Next in the flow: `crm/views/contracts.py`, `crm/views/invoices.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from conflicts.models import VersionedModel
from conflicts.outcomes import Outcome, Result
from crm import inputs
from crm.models import (
    Company,
    ContractDecision,
    ContractLine,
    Document,
    Installment,
    Opportunity,
    Payment,
    User,
)
from crm.models.invoice import PaymentState
from crm.papers import of_record
from crm.templatetags.vigente import money_text, shown_number, weekday
from crm.timeline import Line
from crm.views import records
from crm.views.records_history import told_by
from crm.views.settle import settle_or
from crm.views.submit import submit, version_of

type Faults = dict[str, list[str]]
type Read = Callable[[HttpRequest, Any, Faults], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Act:
    """One button or small form of a record's page."""

    action: str
    said: Any
    read: Read = lambda request, subject, faults: {}
    """The posted form as params; faults by field."""


@dataclass(frozen=True, kw_only=True)
class Returned:
    """A form that comes back: which one, what was typed, what is wrong, and the version it was first shown with."""

    form: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    version: int | None = None


def act(
    request: HttpRequest,
    kind: records.Kind,
    subject: VersionedModel,
    verb: str,
    one: Act,
    *,
    answered: Callable[[HttpRequest, Any, Outcome], HttpResponse | None] = lambda request, subject, outcome: None,
    settles: int | None = None,
) -> HttpResponse:
    """Do it, or bring the page back with what was typed and why not. `answered`: a page of its own for an outcome;
    `settles`: the record of the person's own earlier try, which this decides.
    """
    shown = version_of(request)
    faults: Faults = {}
    params = one.read(request, subject, faults)
    form = request.POST.get("form", verb)
    if faults:
        return _back(request, kind, subject, form, faults, shown=shown)
    submission = submit(request, action=one.action, params=params, subject=subject, settles=settles)
    if submission.errors:
        return _back(request, kind, subject, form, dict(submission.errors), shown=shown)
    outcome = submission.outcome
    if outcome is not None and (own := answered(request, subject, outcome.settled)):
        return own
    if outcome is not None and outcome.settled.result is Result.REFUSED:
        # Read again: whoever lost a race sees what is in force beside the reason, and no button that is dead.
        return _back(
            request, kind, kind.find(subject.pk), form, {"": [str(outcome.settled.sentence or "")]}, shown=shown
        )
    answer = settle_or(
        request,
        submission,
        subject=subject,
        action=one.action,
        params=params,
        done_url=kind.address(subject),
        said=str(one.said),
    )
    return answer or records.renewed(request, kind, subject)


def _back(
    request: HttpRequest, kind: records.Kind, subject: Any, form: str, faults: Faults, *, shown: int
) -> HttpResponse:
    lines = dict.fromkeys(line for lines in faults.values() for line in lines)
    back = Returned(form=form, typed=request.POST.dict(), fault=" ".join(lines), version=shown)
    if request.htmx:  # type: ignore[attr-defined]
        # As a note beside the page: the form stays as it is, with all that was typed.
        messages.warning(request, back.fault)
        return TemplateResponse(request, "_toasts.html#more", {}, status=422)
    return TemplateResponse(request, kind.template, {**records.whole(request, kind, subject), "back": back}, status=422)


# -------------------------------------------------------------------------------------- those of a company or a deal


@require_safe
def papers_of(request: HttpRequest) -> HttpResponse:
    """The contracts and invoices of a company or a deal, for its page, which asks for them when it is there."""
    user: User = request.user  # type: ignore[assignment]
    deal, company = records.number(request, "deal"), records.number(request, "company")
    record: Any = None
    if deal is not None:
        record = Opportunity.objects.visible_to(user).filter(pk=deal).first()
    elif company is not None:
        record = Company.objects.filter(pk=company).first()
    if record is None:
        raise Http404
    about = {"opportunity" if deal is not None else "company": record}
    address = reverse("deal" if deal is not None else "company", args=[record.pk])
    context = {"papers": of_record(user, **about), "record": record, "address": address}
    part = "papers/_of_record.html#section" if request.htmx else "papers/of.html"  # type: ignore[attr-defined]
    response = TemplateResponse(request, part, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


# ------------------------------------------------------------------------------------------------ reading small forms


def line(request: HttpRequest, name: str, faults: Faults, *, needed: str = "", longest: int = 200) -> str:
    text = request.POST.get(name, "").strip()
    if len(text) > longest:
        faults[name] = [_("At most %(n)d letters; this has %(has)d.") % {"n": longest, "has": len(text)}]
    if not text and needed:
        faults[name] = [needed]
    return text


def whole(request: HttpRequest, name: str) -> int | None:
    text = request.POST.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def typed(request: HttpRequest, name: str, model: Any, field: str, faults: Faults) -> Any:
    """The posted `name`, as `field` of the model is typed. None with a fault where it was not understood."""
    try:
        return inputs.parse(request.POST.get(name, ""), model._meta.get_field(field))
    except inputs.Fault as fault:
        faults[name] = [str(fault)]
        return None


# ------------------------------------------------------------------------------------------------------------ the list


def answer_list(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The page; for htmx its rows (the next page of them) or its region (another filter)."""
    part = ""
    if request.htmx and "after" in request.GET:  # type: ignore[attr-defined]
        part = "#rows"
    elif request.htmx and not request.htmx.history_restore_request:  # type: ignore[attr-defined]
        part = "#region"
    response = TemplateResponse(request, f"{template}{part}", context)
    if part == "#region":
        query = context["filters"].query
        response["HX-Push-Url"] = f"{request.path}?{query}" if query else request.path
    patch_vary_headers(response, ["HX-Request"])
    return response


# ---------------------------------------------------------------------------------------------- told in their stories


def _line_told(row: Any) -> Line:
    facts = {"quantity": shown_number(row.quantity), "price": shown_number(row.unit_price)}
    name = f"{row.product} {row.description}".strip()
    if row.removed:
        return Line(words=_("took a line out"), was=name, aspect="lines")
    words = _("added a line") if row.pgh_label == "insert" else _("changed a line")
    return Line(words=words, now=_("%(name)s, %(quantity)s × %(price)s") % {**facts, "name": name}, aspect="lines")


def _document_told(row: Any) -> Line:
    total = money_text(row.content.get("total", "0"), row.content.get("currency", ""))
    said = _("version %(number)d, %(total)s") % {"number": row.number, "total": total}
    return Line(words=_("made a document"), now=said, said=row.remark, aspect="documents")


def _decision_told(row: Any) -> Line:
    words = {
        "approved": _("approved version %(number)d"),
        "declined": _("declined version %(number)d"),
        "voided": _("made the approval of version %(number)d void"),
        "signed": _("recorded the signature under version %(number)d"),
    }[row.verdict]
    return Line(words=words % {"number": row.number}, said=row.reason, aspect="decisions")


def _installment_told(row: Any) -> Line:
    facts = {"number": row.number, "state": row.get_state_display(), "day": weekday(row.due_on)}
    if row.pgh_label == "insert":
        return Line(words=_("added installment %(number)d, due %(day)s") % facts, aspect="installments")
    if row.replaced:
        return Line(words=_("divided installment %(number)d anew") % facts, aspect="installments")
    said = row.reason if row.state in ("disputed", "refunded", "open") else ""
    return Line(words=_("installment %(number)d: %(state)s, due %(day)s") % facts, said=said, aspect="installments")


def _payment_told(row: Any) -> Line:
    facts = {"provider": row.provider, "key": row.provider_key}
    words = {
        PaymentState.COUNTED: _("counted the payment %(key)s (%(provider)s)"),
        PaymentState.IN_REVIEW: _("kept the payment %(key)s (%(provider)s) for a review"),
        PaymentState.RETURNED: _("recorded that the payment %(key)s (%(provider)s) was paid back"),
    }[PaymentState(row.state)]
    doubt = str(row.get_doubt_display()) if row.doubt and row.state == PaymentState.IN_REVIEW else ""
    return Line(words=words % facts, now=doubt, said=row.reason, aspect="payments")


told_by(ContractLine, _line_told)
told_by(Document, _document_told)
told_by(ContractDecision, _decision_told)
told_by(Installment, _installment_told)
told_by(Payment, _payment_told)
