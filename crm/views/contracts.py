"""Contracts: the list, a new one, and the record with its lines, its document versions and what was said to them.

Guarantees that a yes, a no and a signature carry the document and the fingerprint that the page showed, and that the
button, its tooltip and the gate ask one rule (crm/authority.py). Next in the flow: `crm/actions/contract_moves.py`.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from conflicts import actors
from conflicts.models import VersionedModel
from conflicts.outcomes import Outcome
from crm import inputs, lists
from crm import papers as lists_of_papers
from crm.actions.contract_moves import need_of
from crm.authority import refusal
from crm.models import Company, Contract, ContractLine, Opportunity, Product, User
from crm.models.contract import TRANSITIONS, ContractState
from crm.views import papers, records
from crm.views.companies import owners
from crm.views.submit import fresh_key, submit

NEW = ("name", "company", "opportunity", "owner", "currency", "discount", "valid_until", "text")


@require_GET
def contracts(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    filters = lists_of_papers.Filters.read(request.GET, states=lists_of_papers.CONTRACT_STATES)
    rows = lists_of_papers.contracts(filters, user=user)
    page = lists.page(rows, sort="changed", after=request.GET.get("after", ""))
    context: dict[str, Any] = {"page": page, "filters": filters, "states": lists_of_papers.CONTRACT_STATES}
    if not request.htmx:  # type: ignore[attr-defined]
        context["owners"] = owners()
    return papers.answer_list(request, "papers/contracts.html", context)


# ----------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> Contract:
    found = Contract.objects.select_related("company", "opportunity", "owner", "team").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def seen(request: HttpRequest, pk: int) -> Contract:
    """The contract, if the person may see it. Raises Http404."""
    if not Contract.objects.visible_to(request.user).filter(pk=pk).exists():  # type: ignore[arg-type]
        raise Http404
    return find(pk)


@require_safe
def contract(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, seen(request, pk))


@require_safe
def contract_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, seen(request, pk))


@require_POST
def contract_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, seen(request, pk))


@require_safe
def contract_document(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One document version, exactly as it was; readable whatever has become of the contract."""
    found = seen(request, pk)
    kept = found.documents.filter(number=number).first()
    if kept is None:
        raise Http404
    context = {
        "contract": found,
        "document": kept,
        "decisions": list(found.decisions.filter(number=number)),
        "in_force": number == found.document,
    }
    return TemplateResponse(request, "papers/document.html", context)


def _around(request: HttpRequest, contract: Contract) -> dict[str, Any]:
    user: User = request.user  # type: ignore[assignment]
    documents = list(contract.documents.all())
    said: dict[int, list[Any]] = {}
    for decision in contract.decisions.all():
        said.setdefault(decision.number, []).append(decision)
    for document in documents:
        document.said = said.get(document.number, [])  # type: ignore[attr-defined]
    no = refusal(actors.person(user), need_of(contract), team=contract.team_id)
    return {
        "contract": contract,
        "lines": list(contract.lines.filter(removed=False).select_related("product")),
        "documents": documents,
        "moves": {str(state) for state in TRANSITIONS[ContractState(contract.state)]},
        "why_not": str(no) if no and contract.state == ContractState.OFFERED else "",
        "products": list(Product.objects.order_by("name")[: inputs.MOST]),
        "invoices": list(contract.invoices.visible_to(user).order_by("-id")[: lists_of_papers.SHOWN]),
        "back": papers.Returned(),
    }


def _tidy(params: dict[str, Any], faults: records.Faults, subject: VersionedModel) -> None:
    """No discount is a discount of nothing."""
    if "discount" in params and params["discount"] is None:
        params["discount"] = 0
    if params.get("currency") == "":
        faults["currency"] = [_("This cannot be empty.")]


KIND = records.Kind(
    template="papers/contract.html",
    action="contract.edit",
    facts={
        "name": ("name",),
        "opportunity": ("opportunity",),
        "owner": ("owner",),
        "valid_until": ("valid_until",),
        "discount": ("discount",),
        "text": ("text",),
        "tags": ("tags",),
        "note": ("note",),
    },
    find=find,
    context=_around,
    address=lambda contract: reverse("contract", args=[contract.pk]),
    tidy=_tidy,
)

# ----------------------------------------------------------------------------------------------------- what is done


def _line(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    params = {
        "quantity": papers.typed(request, "quantity", ContractLine, "quantity", faults),
        "unit_price": papers.typed(request, "unit_price", ContractLine, "unit_price", faults),
        "description": papers.line(request, "description", faults),
    }
    for name in ("quantity", "unit_price"):
        if params[name] is None and name not in faults:
            faults[name] = [_("Say how many, and at what price.")]
    return params


def _new_line(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    product = papers.whole(request, "product")
    if product is None:
        faults["product"] = [_("Choose a product.")]
    return {"product": product, **_line(request, subject, faults)}


def _own_line(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    number = papers.whole(request, "line")
    if number is None:
        raise Http404
    return {"line": number}


def _changed_line(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {**_own_line(request, subject, faults), **_line(request, subject, faults)}


def _offer(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"fingerprint": request.POST.get("fingerprint", ""), "remark": papers.line(request, "remark", faults)}


def _document(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"document": papers.whole(request, "document"), "fingerprint": request.POST.get("fingerprint", "")}


def _no(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {**_document(request, subject, faults), **_why(request, subject, faults)}


def _why(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"reason": papers.line(request, "reason", faults, needed=_("Say why."))}


ACTS = {
    "add-line": papers.Act(action="contract.add_line", said=gettext_lazy("The line is added."), read=_new_line),
    "change-line": papers.Act(
        action="contract.change_line", said=gettext_lazy("The line is changed."), read=_changed_line
    ),
    "remove-line": papers.Act(
        action="contract.remove_line", said=gettext_lazy("The line is out; the documents keep it."), read=_own_line
    ),
    "offer": papers.Act(action="contract.offer", said=gettext_lazy("Offered."), read=_offer),
    "approve": papers.Act(action="contract.approve", said=gettext_lazy("Approved."), read=_document),
    "decline": papers.Act(action="contract.decline", said=gettext_lazy("Declined."), read=_no),
    "sign": papers.Act(action="contract.sign", said=gettext_lazy("The signature is recorded."), read=_document),
    "cancel": papers.Act(action="contract.cancel", said=gettext_lazy("Cancelled."), read=_why),
}


@require_POST
def contract_act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    if verb not in ACTS:
        raise Http404
    return papers.act(request, KIND, seen(request, pk), verb, ACTS[verb])


# ----------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def contract_new(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    blank = Contract(owner=user, currency=settings.VIGENTE_CURRENCY, team_id=user.team_id, **about(request))
    if request.method == "GET":
        return _form(request, blank)
    if named := request.POST.get("company", ""):
        # The deals to choose from are this company's.
        blank.company = company_named(named, blank)  # type: ignore[assignment]
    params, faults = inputs.read(request.POST, NEW, model=Contract, subject=blank)
    _tidy(params, faults, blank)
    if faults:
        return _form(request, blank, faults=faults, status=422)
    given = {name: value for name, value in params.items() if value not in (None, "")}
    submission = submit(request, action="contract.create", params=given)
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(name)s is added. Put in what it offers.") % {"name": params["name"]})
        return redirect("contract", outcome.settled.subject.pk)
    return _form(request, blank, refused=outcome, status=422)


def about(request: HttpRequest) -> dict[str, Any]:
    """The company or the deal from whose page one came."""
    user: User = request.user  # type: ignore[assignment]
    deal = records.number(request, "deal")
    if deal is not None:
        found = Opportunity.objects.visible_to(user).select_related("company").filter(pk=deal).first()
        return {"opportunity": found, "company": found.company} if found and found.company else {}
    company = records.number(request, "company")
    known = Company.objects.filter(pk=company).first() if company is not None else None
    return {"company": known} if known else {}


def company_named(text: str, blank: Any) -> Company | None:
    """The company that was typed, if there is just one of that name."""
    try:
        key = inputs.parse(text, blank._meta.get_field("company"), None)
    except inputs.Fault:
        return None
    return Company.objects.filter(pk=key).first()


def _form(
    request: HttpRequest,
    blank: Contract,
    *,
    faults: records.Faults | None = None,
    refused: Outcome | None = None,
    status: int = 200,
) -> HttpResponse:
    said = {name: request.POST[name] for name in NEW if name in request.POST}
    context = {
        "fields": inputs.build(blank, NEW, typed=said, faults=faults, required=("name", "company", "currency")),
        "faults": faults or {},
        "refused": str(refused.settled.sentence or "") if refused else "",
        # A key that was refused has its answer; another try is another act.
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "papers/contract_new.html", context, status=status)
