"""Invoices: the list, a new one, and the record with its installments and the payments that came in.

Guarantees that what was paid is opened again only from a form that names a reason, shown to those who may
(crm/actions/invoices.py asks again). Next in the flow: `crm/actions/invoices.py`, `crm/actions/payments.py`.
"""

import calendar
import datetime as dt
from decimal import ROUND_DOWN, Decimal
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from conflicts import actors
from conflicts.outcomes import Outcome
from crm import inputs, lists
from crm import papers as lists_of_papers
from crm.actions.invoices import MOST, may_review
from crm.clock import today_for
from crm.models import Contract, Installment, Invoice, Payment, User
from crm.models.invoice import InstallmentState, PaymentState
from crm.views import papers, records
from crm.views.companies import owners
from crm.views.contracts import about, company_named
from crm.views.submit import fresh_key, submit

NEW = ("name", "company", "contract", "opportunity", "amount", "currency", "issued_on", "owner")


@require_GET
def invoices(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    today = today_for(user, now=timezone.now())
    filters = lists_of_papers.Filters.read(request.GET, states=lists_of_papers.INVOICE_STATES)
    rows = lists_of_papers.invoices(filters, user=user, today=today)
    page = lists.page(rows, sort="changed", after=request.GET.get("after", ""))
    context: dict[str, Any] = {"page": page, "filters": filters, "states": lists_of_papers.INVOICE_STATES}
    if not request.htmx:  # type: ignore[attr-defined]
        context["owners"] = owners()
    return papers.answer_list(request, "papers/invoices.html", context)


# ----------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> Invoice:
    found = Invoice.objects.select_related("company", "contract", "opportunity", "owner", "team").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def seen(request: HttpRequest, pk: int) -> Invoice:
    """The invoice, if the person may see it. Raises Http404."""
    if not Invoice.objects.visible_to(request.user).filter(pk=pk).exists():  # type: ignore[arg-type]
        raise Http404
    return find(pk)


@require_safe
def invoice(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, seen(request, pk))


@require_safe
def invoice_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, seen(request, pk))


@require_POST
def invoice_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, seen(request, pk))


def _around(request: HttpRequest, invoice: Invoice) -> dict[str, Any]:
    today = today_for(request.user, now=timezone.now())  # type: ignore[arg-type]
    rows = list(invoice.installments.filter(replaced=False))
    for row in rows:
        row.is_overdue = row.is_owed and row.due_on < today  # type: ignore[attr-defined]
    payments = list(invoice.payments.select_related("installment"))
    return {
        "invoice": invoice,
        "installments": rows,
        "owed_rows": [row for row in rows if row.is_owed],
        "open_now": sum((row.amount for row in rows if row.state == InstallmentState.OPEN), Decimal(0)),
        "payments": payments,
        "waiting": [payment for payment in payments if payment.state == PaymentState.IN_REVIEW],
        "may_review": may_review(actors.person(request.user)),
        "any_paid": any(row.state == InstallmentState.PAID for row in rows),
        "back": papers.Returned(),
    }


KIND = records.Kind(
    template="papers/invoice.html",
    action="invoice.edit",
    facts={
        "name": ("name",),
        "contract": ("contract",),
        "opportunity": ("opportunity",),
        "owner": ("owner",),
        "tags": ("tags",),
        "note": ("note",),
    },
    find=find,
    context=_around,
    address=lambda invoice: reverse("invoice", args=[invoice.pk]),
)

# ----------------------------------------------------------------------------------------------------- what is done


def _one(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    number = papers.whole(request, "installment")
    if number is None:
        raise Http404
    return {"installment": number}


def _with_reason(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {**_one(request, subject, faults), **_why(request, subject, faults)}


def _why(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"reason": papers.line(request, "reason", faults, needed=_("Say why."))}


def _day(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    day = papers.typed(request, "due_on", Installment, "due_on", faults)
    if day is None and "due_on" not in faults:
        faults["due_on"] = [_("Choose the day.")]
    return {**_one(request, subject, faults), "due_on": day}


def _payment(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    amount = papers.typed(request, "amount", Payment, "amount", faults)
    if amount is None and "amount" not in faults:
        faults["amount"] = [_("Say how much it was.")]
    params = {
        "provider": papers.line(request, "provider", faults, needed=_("Say where it came in."), longest=60),
        "payment": papers.line(request, "payment", faults, needed=_("Give its number there."), longest=120),
        "amount": amount,
    }
    number = papers.whole(request, "installment")
    return params | ({"installment": number} if number else {})


def _review(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    number = papers.whole(request, "payment")
    if number is None:
        raise Http404
    decision = request.POST.get("decision", "")
    params = {"payment": number, "decision": decision, **_why(request, subject, faults)}
    installment = papers.whole(request, "installment")
    return params | ({"installment": installment} if installment and decision == "count" else {})


def _divide(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    rows = subject.installments.filter(replaced=False, state=InstallmentState.OPEN)
    shown = papers.typed(request, "amount", Installment, "amount", faults)
    total = shown if shown is not None else sum((row.amount for row in rows), Decimal(0))
    return {"installments": _parts(request, total, faults)}


def _parts(request: HttpRequest, total: Decimal | None, faults: papers.Faults) -> list[dict[str, Any]]:
    """Equal parts, a month apart, from the form's `count` and `first_due`; the last takes what does not divide."""
    count = papers.whole(request, "count") or 0
    first = papers.typed(request, "first_due", Installment, "due_on", faults)
    if not 1 <= count <= MOST:
        faults["count"] = [_("Between 1 and %(most)d installments.") % {"most": MOST}]
    if first is None and "first_due" not in faults:
        faults["first_due"] = [_("Choose the day.")]
    if faults or total is None or first is None:
        return []
    each = (total / count).quantize(Decimal("0.01"), rounding=ROUND_DOWN)
    if not each:
        faults["count"] = [_("There is less than a cent for each.")]
        return []
    amounts = [each] * (count - 1) + [total - each * (count - 1)]
    return [{"due_on": months_later(first, number), "amount": amount} for number, amount in enumerate(amounts)]


def months_later(day: dt.date, months: int) -> dt.date:
    """The same day of a later month, or its last one: what is due on the 31st is due on 30 April."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return dt.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _act(name: str, said: Any, read: papers.Read) -> papers.Act:
    return papers.Act(action=f"invoice.{name}", said=said, read=read)


ACTS = {
    "pay": _act("record_payment", gettext_lazy("The payment is recorded."), _payment),
    "review": _act("review_payment", gettext_lazy("Settled."), _review),
    "move": _act("reschedule", gettext_lazy("Moved."), _day),
    "collect": _act("start_collection", gettext_lazy("Collection has begun."), _one),
    "resume": _act("resume", gettext_lazy("Open again."), _one),
    "dispute": _act("dispute", gettext_lazy("The dispute is recorded."), _with_reason),
    "reopen": _act("reopen_installment", gettext_lazy("Owed again."), _with_reason),
    "refund": _act("refund", gettext_lazy("The refund is recorded."), _with_reason),
    "divide": _act("divide", gettext_lazy("Divided anew."), _divide),
    "cancel": _act("cancel", gettext_lazy("Cancelled."), _why),
}


@require_POST
def invoice_act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    if verb not in ACTS:
        raise Http404
    return papers.act(request, KIND, seen(request, pk), verb, ACTS[verb])


# ----------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def invoice_new(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    today = today_for(user, now=timezone.now())
    start = {"currency": settings.VIGENTE_CURRENCY, **_about(request)}
    blank = Invoice(owner=user, team_id=user.team_id, issued_on=today, **start)
    if request.method == "GET":
        return _form(request, blank)
    if named := request.POST.get("company", ""):
        blank.company = company_named(named, blank)  # type: ignore[assignment]
    params, faults = inputs.read(request.POST, NEW, model=Invoice, subject=blank)
    if params.get("amount") is None and "amount" not in faults:
        faults["amount"] = [_("Say how much it was.")]
    parts = _parts(request, params.get("amount"), faults)
    if faults:
        return _form(request, blank, faults=faults, status=422)
    given = {name: value for name, value in params.items() if value not in (None, "")}
    submission = submit(request, action="invoice.create", params={**given, "installments": parts})
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(name)s is added.") % {"name": params["name"]})
        return redirect("invoice", outcome.settled.subject.pk)
    return _form(request, blank, refused=outcome, status=422)


def _about(request: HttpRequest) -> dict[str, Any]:
    """As for a contract, or the contract from whose page one came, with what it is still worth."""
    user: User = request.user  # type: ignore[assignment]
    rows = Contract.objects.visible_to(user).select_related("company", "opportunity")
    found = rows.filter(pk=records.number(request, "contract") or 0).first()
    if found is None:
        return about(request)
    return {
        "company": found.company,
        "opportunity": found.opportunity,
        "contract": found,
        "amount": found.amount or None,
        "currency": found.currency,
    }


def _form(
    request: HttpRequest,
    blank: Invoice,
    *,
    faults: records.Faults | None = None,
    refused: Outcome | None = None,
    status: int = 200,
) -> HttpResponse:
    faults = faults or {}
    said = {name: request.POST[name] for name in NEW if name in request.POST}
    required = ("name", "company", "amount", "currency", "issued_on")
    fields = inputs.build(blank, NEW, typed=said, faults=faults, required=required)
    first = months_later(blank.issued_on, 1).isoformat()
    fields += [
        inputs.Input(
            name="count",
            label=_("installments"),
            kind="number",
            value=request.POST.get("count", "1"),
            fault=" ".join(faults.get("count", ())),
            help=_("Equal parts, a month apart."),
            required=True,
        ),
        inputs.Input(
            name="first_due",
            label=_("first due"),
            kind="date",
            value=request.POST.get("first_due", first),
            fault=" ".join(faults.get("first_due", ())),
            required=True,
        ),
    ]
    context = {
        "fields": fields,
        "faults": faults,
        "refused": str(refused.settled.sentence or "") if refused else "",
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "papers/invoice_new.html", context, status=status)
