"""Access: what was asked for and granted, asking, and the page on which a request is examined and decided.

Guarantees that a yes and a no carry the version and the fingerprint that the page showed; that a request which was
changed meanwhile comes back to the examiner with the difference, on a form for what is asked for now; and that whoever
has no authority reads who has. Next in the flow: `crm/actions/access.py`.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Any

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
from conflicts.models import Conflict
from conflicts.outcomes import Change, Outcome
from conflicts.refs import Ref
from conflicts.sentences import aspect_label
from crm import desk, inputs, lists
from crm.actions.access import permits_asker
from crm.clock import today_for
from crm.models import AccessRequest, User
from crm.models.access import EXAMINED, AccessState
from crm.permissions import permits_decision
from crm.showing import Shower
from crm.views import papers, records
from crm.views.stock import end_of_day
from crm.views.submit import fresh_key, submit

NEW = ("kind", "team", "company", "may_change", "reason", "wanted_until")
USUAL = dt.timedelta(days=30)
LABEL = AccessRequest._meta.label_lower


@require_GET
def access(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    filters = desk.Filters.read(request.GET, states=desk.ACCESS_STATES)
    page = lists.page(desk.access(filters, user=user), sort="new", after=request.GET.get("after", ""))
    context = {"page": page, "filters": filters, "states": desk.ACCESS_STATES}
    return papers.answer_list(request, "desk/access.html", context)


# ------------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> AccessRequest:
    found = AccessRequest.objects.select_related("team", "company", "person", "decided_by").filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def seen(request: HttpRequest, pk: int) -> AccessRequest:
    """The request, if the person may see it. Raises Http404."""
    if not AccessRequest.objects.visible_to(request.user).filter(pk=pk).exists():  # type: ignore[arg-type]
        raise Http404
    return find(pk)


@require_safe
def access_request(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, seen(request, pk))


@require_safe
def access_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, seen(request, pk))


@require_POST
def access_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, seen(request, pk))


def _around(request: HttpRequest, asked: AccessRequest) -> dict[str, Any]:
    user: User = request.user  # type: ignore[assignment]
    by = actors.person(user)
    today = today_for(user, now=timezone.now())
    return {
        "asked": asked,
        "why_not": str(permits_decision(by, asked) or ""),
        "own": permits_asker(by, asked) is None,
        "in_force": asked.state == AccessState.GRANTED and bool(asked.expires_at and asked.expires_at > timezone.now()),
        "until": max(asked.wanted_until, today),
        "back": papers.Returned(),
    }


KIND = records.Kind(
    template="desk/access_request.html",
    action="access.edit",
    facts={"reason": ("reason",), "may_change": ("may_change",), "wanted_until": ("wanted_until",)},
    find=find,
    context=_around,
    address=lambda asked: reverse("access_request", args=[asked.pk]),
)


# ----------------------------------------------------------------------------------------------------- what is done


def _grant(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    shown = request.POST.get("fingerprint", "")[:64]
    note = papers.line(request, "note", faults)
    return {"fingerprint": shown, "note": note, "expires_at": end_of_day(request, "expires", faults)}


def _decline(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    shown = request.POST.get("fingerprint", "")[:64]
    return {"fingerprint": shown, "note": papers.line(request, "note", faults, needed=_("Say why."))}


def _why(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"note": papers.line(request, "note", faults, needed=_("Say why."))}


ACTS = {
    "grant": papers.Act(action="access.grant", said=gettext_lazy("Granted."), read=_grant),
    "decline": papers.Act(action="access.decline", said=gettext_lazy("Declined."), read=_decline),
    "withdraw": papers.Act(action="access.withdraw", said=gettext_lazy("Withdrawn.")),
    "take-back": papers.Act(action="access.revoke", said=gettext_lazy("Taken back."), read=_why),
}


@require_POST
def access_act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    if verb not in ACTS:
        raise Http404
    asked = seen(request, pk)
    if verb in ("grant", "decline"):
        own = _own_record(request, asked)
        return papers.act(request, KIND, asked, verb, ACTS[verb], answered=_changed, settles=own)
    return papers.act(request, KIND, asked, verb, ACTS[verb])


def _own_record(request: HttpRequest, asked: AccessRequest) -> int | None:
    """The record of this examiner's earlier try, which came back with the difference and is still open."""
    tried = Conflict.objects.about(Ref.of(asked)).filter(pk=papers.whole(request, "settles") or 0, closed_at=None)
    found = tried.first()
    return found.pk if found and found.intended_by.same_as(actors.person(request.user)) else None


def _changed(request: HttpRequest, asked: AccessRequest, outcome: Outcome) -> HttpResponse | None:
    """What was examined is not what is asked for now: the page as it is now, with the difference on top."""
    if outcome.state != "changed_during_approval":
        return None
    now = find(asked.pk)
    context = {
        **records.whole(request, KIND, now),
        "changed": str(outcome.sentence),
        "settles": outcome.record,
        "back": papers.Returned(
            form="grant" if "expires" in request.POST else "decline",
            typed=request.POST.dict(),
            fault=_("Look at what changed, above; then decide."),
            version=now.version,
        ),
        "differences": differences(outcome.moved),
    }
    response = TemplateResponse(request, "desk/access_request.html", context, status=409)
    if request.htmx:  # type: ignore[attr-defined]
        # The whole page in place of the one whose form was sent: every part of that one is out of date.
        response["HX-Retarget"], response["HX-Reselect"], response["HX-Reswap"] = "#main", "#main", "outerHTML"
    return response


def differences(moved: Sequence[Change]) -> list[dict[str, str]]:
    """Field by field, what the page showed and what is asked for now."""
    shower = Shower(AccessRequest)
    first: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for change in moved:
        if change.aspect in EXAMINED:
            first.setdefault(change.aspect, change.old)
            last[change.aspect] = change.new
    return [
        {
            "label": aspect_label(LABEL, name),
            "was": shower.text(name, first[name]) or _("empty"),
            "now": shower.text(name, value) or _("empty"),
        }
        for name, value in last.items()
    ]


# ------------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def access_new(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    day = today_for(user, now=timezone.now()) + USUAL
    kind = request.GET.get("kind", "")
    blank = AccessRequest(wanted_until=day, kind=kind if kind in ("team", "company", "export") else "team")
    if request.method == "GET":
        return _form(request, blank)
    params, faults = inputs.read(request.POST, NEW, model=AccessRequest, subject=blank)
    if faults:
        return _form(request, blank, faults=faults, status=422)
    for name in ("team", "company"):  # what was chosen for another kind than the one that counts
        if name != params.get("kind"):
            params[name] = None
    submission = submit(request, action="access.ask", params=params)
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("Asked. Whoever has the authority finds it under Access."))
        return redirect("access_request", outcome.settled.subject.pk)
    return _form(request, blank, refused=outcome, status=422)


def _form(
    request: HttpRequest,
    blank: AccessRequest,
    *,
    faults: records.Faults | None = None,
    refused: Outcome | None = None,
    status: int = 200,
) -> HttpResponse:
    typed = {name: request.POST[name] for name in NEW if name in request.POST}
    context = {
        "fields": inputs.build(blank, NEW, typed=typed, faults=faults, required=("kind", "reason", "wanted_until")),
        "faults": faults or {},
        "whole_fault": " ".join((faults or {}).get("", ())),
        "refused": str(refused.settled.sentence or "") if refused else "",
        # A key that was refused has its answer; another try is another act.
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "desk/access_new.html", context, status=status)
