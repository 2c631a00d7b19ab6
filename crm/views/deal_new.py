"""A new deal: one short form, errors beside the field they are about, and however often it is sent, one deal.

Guarantees that nothing typed is lost when something does not fit, and that a company which is not there yet is only
made when the person says so. Next in the flow: `crm/inputs.py` for the fields, `crm/actions/opportunities.py`.
"""

from collections.abc import Mapping

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from crm import inputs, naming
from crm.actions.opportunities import default_pipeline
from crm.models import Company, Opportunity
from crm.models.pipeline import StageKind
from crm.views.board import number_in, owners
from crm.views.requests import Request
from crm.views.submit import fresh_key, submit

FIELDS = ("name", "company", "product", "stage", "amount", "currency", "owner", "expected_close")
OFFERED = 20
"""Companies offered while somebody types."""

type Faults = dict[str, list[str]]


@require_http_methods(["GET", "POST"])
def deal_new(request: Request) -> HttpResponse:
    blank = _blank(request)
    if request.method == "GET":
        return _page(request, blank)
    params, faults = inputs.read(request.POST, FIELDS, model=Opportunity, subject=blank)
    for name in ("owner", "stage"):
        if params.get(name) and str(params[name]) not in dict(_offered(request, blank)[name]):
            faults[name] = [_("Choose one from the list.")]
    unknown = "company" in faults and bool(naming.key(request.POST["company"]))
    if unknown and request.POST.get("new_company") and not faults.keys() - {"company"}:
        params["company"], faults = _add_company(request)
    if faults:
        return _page(request, blank, faults=faults, unknown_company=unknown, status=422)
    submission = submit(request, action="opportunity.create", params={k: v for k, v in params.items() if v is not None})
    outcome = submission.outcome
    if outcome is None:
        return _page(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(deal)s is on the board.") % {"deal": params["name"]})
        return redirect("deal", outcome.settled.subject.pk)
    # This key has its answer; another try is another act.
    return _page(request, blank, refused=str(outcome.sentence or ""), key=fresh_key(), status=422)


@require_GET
def company_names(request: Request) -> HttpResponse:
    """For the list under the field, while somebody types."""
    begun = naming.key(request.GET.get("company", "")[:200])
    found = Company.objects.filter(name_key__contains=begun).order_by("name_key") if begun else Company.objects.none()
    return TemplateResponse(request, "deal_new.html#companies", {"companies": found[:OFFERED]})


def _add_company(request: Request) -> tuple[int | None, Faults]:
    """The key of the new company, or what is wrong with it."""
    made = submit(request, action="company.create", params={"name": request.POST["company"]}, part="company")
    if made.outcome is None:
        return None, {"company": [line for lines in made.errors.values() for line in lines]}
    if made.done and made.outcome.settled.subject:
        return made.outcome.settled.subject.pk, {}
    return None, {"company": [str(made.outcome.sentence or "")]}


def _blank(request: Request) -> Opportunity:
    """What the form starts from: mine, in the first stage, in the workspace's currency."""
    pipeline = default_pipeline()
    company = Company.objects.filter(pk=number_in(request.GET.get("company", "")) or 0).first()
    first = pipeline.stages.filter(kind=StageKind.OPEN).order_by("position").first() if pipeline else None
    return Opportunity(
        owner=request.user,
        company=company,
        pipeline_id=pipeline.pk if pipeline else 0,
        stage_id=first.pk if first else 0,
        currency=settings.VIGENTE_CURRENCY,
    )


def _offered(request: Request, blank: Opportunity) -> dict[str, tuple[tuple[str, str], ...]]:
    """A deal begins in an open stage, and belongs to somebody whose deals the viewer sees."""
    stages = blank.pipeline.stages.filter(kind=StageKind.OPEN).order_by("position") if blank.pipeline_id else ()
    return {
        "owner": tuple((str(owner.pk), str(owner)) for owner in owners(request.user)),
        "stage": tuple((str(stage.pk), stage.name) for stage in stages),
    }


def _page(
    request: Request,
    blank: Opportunity,
    *,
    faults: Faults | None = None,
    unknown_company: bool = False,
    refused: str = "",
    key: str = "",
    status: int = 200,
) -> HttpResponse:
    typed: Mapping[str, str] = {name: request.POST[name] for name in FIELDS if name in request.POST}
    built = inputs.build(blank, FIELDS, typed=typed, faults=faults, required=("name", "stage", "currency"))
    fields = {field.name: field for field in built}
    for name, options in _offered(request, blank).items():
        fields[name].options = options
    fields["company"].options = ()  # they come while one types
    context = {
        "fields": fields,
        "faults": faults or {},
        "unknown_company": unknown_company,
        "refused": refused,
        "key": key or request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "deal_new.html", context, status=status)
