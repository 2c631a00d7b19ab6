"""The deal: one page of parts, each shown with the version it was read at, and brought up to date piece by piece.

Guarantees that a part and the version in its forms always come together; that a form somebody has opened keeps the
version of the first time (static/js/live.js leaves it alone); and at most 15 queries. Without JavaScript the same
address shows every form (`?edit=amount`, `?edit=all`, `?log=call`, `?before=31`).
Next in the flow: `crm/views/deal_work.py`, where its forms go.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.db.models.functions import JSONObject
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.refs import Ref
from crm import inbox, inputs, presence, slots, timeline
from crm.clock import today_for
from crm.models import Opportunity, Participant, Stage, Task, User
from crm.models.pipeline import StageKind
from crm.models.task import TaskState
from crm.views.deal_news import news
from crm.views.settle import typed_before

FACTS = ("stage", "amount", "expected_close", "owner", "company", "contact", "product", "decision", "tags")
EDITABLE = ("name", "amount", "currency", *FACTS[2:])
"""What `opportunity.edit` takes; the stage has an action of its own."""
FRESH = dt.timedelta(minutes=10)
DONE_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Fact:
    name: str
    input: inputs.Input | None = None
    """The open edit."""
    fresh: timeline.Entry | None = None
    """Who else changed it a moment ago."""
    empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A form that comes back: which, what was typed, and what is wrong with it."""

    form: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, list[str]] = field(default_factory=dict)


def find(request: HttpRequest, pk: int) -> Opportunity:
    """The deal, if the person may see it. Raises Http404."""
    user: User = request.user  # type: ignore[assignment]
    rows = Opportunity.objects.visible_to(user).select_related(
        "company", "contact", "product", "stage", "owner", "team"
    )
    talks = ArraySubquery(inbox.OF_DEAL)
    found = rows.filter(pk=pk).annotate(people=ArraySubquery(_PARTICIPANTS), talks=talks).first()
    if found is None:
        raise Http404
    return found


_PARTICIPANTS = (
    Participant.objects.filter(opportunity=OuterRef("pk"), removed=False)
    .order_by("pk")
    .values(json=JSONObject(pk="pk", contact="contact_id", name="contact__name", role="role"))
)
"""Who else takes part, beside the deal's contact: with the deal, in one query."""


@require_safe
def deal(request: HttpRequest, pk: int) -> HttpResponse:
    found = find(request, pk)
    edit = request.GET.get("edit", "")
    doing = edit if edit in (*FACTS, "all") else ""
    presence.enter(Ref.of(found), user=request.user, doing=doing)
    if request.htmx:  # type: ignore[attr-defined]
        if edit in FACTS or "fact" in request.GET:
            return _row(request, found, edit or request.GET["fact"], open=bool(edit))
        if "before" in request.GET:
            return TemplateResponse(request, "deal/page.html#older", {"deal": found, **story(request, found)})
        if "give" in request.GET:
            tasks_now = {"deal": found, "tasks": tasks(found), **giving(request)}
            return TemplateResponse(request, "deal/page.html#task_list", tasks_now)
    typed = typed_before(request, found)
    draft = Draft(form="edit", typed=typed) if typed else Draft()
    return TemplateResponse(request, "deal/page.html", context(request, found, edit=edit, draft=draft))


@require_safe
def parts(request: HttpRequest, pk: int) -> HttpResponse:
    """All that is only read, as it is now; with `since`, a sentence on what others changed after that version."""
    found = find(request, pk)
    more = context(request, found)
    since = _number(request, "since")
    if since and since < found.version:
        open_ones = [name for name in _editing(request) if name in EDITABLE or name == "stage"]
        more["news"] = news(found, since=since, viewer=request.user, editing=open_ones)  # type: ignore[arg-type]
    return TemplateResponse(request, "deal/page.html#parts", {**more, "oob": True})


def refreshed(request: HttpRequest, pk: int) -> HttpResponse:
    """After a form was done: the parts with the new version for htmx, else the page."""
    if request.htmx:  # type: ignore[attr-defined]
        return TemplateResponse(request, "deal/page.html#parts", {**context(request, find(request, pk)), "oob": True})
    return redirect("deal", pk=pk)


def returned(request: HttpRequest, deal: Opportunity, draft: Draft, *, part: str, edit: str = "") -> HttpResponse:
    """A form with faults (422): its part alone for htmx, else the whole page around it."""
    more = context(request, deal, edit=edit, draft=draft)
    if request.htmx:  # type: ignore[attr-defined]
        if part == "fact":
            more["fact"] = next(fact for fact in more["facts"] if fact.name == edit)
        return TemplateResponse(request, f"deal/page.html#{part}", {**more, "oob": True}, status=422)
    return TemplateResponse(request, "deal/page.html", more, status=422)


def _row(request: HttpRequest, deal: Opportunity, name: str, *, open: bool) -> HttpResponse:
    if name not in FACTS:
        raise Http404
    [fact] = facts(deal, [name], edit=name if open else "", draft=Draft(), fresh={}, viewer=request.user)
    return TemplateResponse(request, "deal/page.html#fact", {"deal": deal, "fact": fact, "editing": name})


def context(request: HttpRequest, deal: Opportunity, *, edit: str = "", draft: Draft | None = None) -> dict[str, Any]:
    draft = draft or Draft()
    user: User = request.user  # type: ignore[assignment]
    today = today_for(user, now=timezone.now())
    told = story(request, deal)
    stages = list(Stage.objects.filter(pipeline=deal.pipeline_id).order_by("position"))
    everything = edit == "all" or (draft.form == "edit" and not edit)
    # A page with the whole form open has no rows that could be renewed.
    shown = () if "all" in _editing(request) else FACTS
    return {
        "deal": deal,
        **told,
        "facts": facts(deal, shown, edit=edit, draft=draft, fresh=told["story"].fresh, viewer=user),
        "form": inputs.build(deal, EDITABLE, typed=draft.typed, faults=draft.faults) if everything else None,
        "path": path(deal, stages),
        "lost": next((stage for stage in stages if stage.kind == StageKind.LOST), None),
        "won": next((stage for stage in stages if stage.kind == StageKind.WON), None),
        "stages": stages,
        "tasks": tasks(deal),
        "suggestions": slots.filled("deal.suggestion", request, deal=deal),
        "talks": inbox.rows_of_deal(deal.talks, deal, viewer=user),  # type: ignore[attr-defined]
        "people": presence.others(Ref.of(deal), user=user),
        "log": request.GET.get("log", ""),
        "closing": request.GET.get("lost", ""),
        "next_day": _working_day_after(today),
        "draft": draft,
        **giving(request),
    }


def facts(
    deal: Opportunity,
    names: Iterable[str],
    *,
    edit: str,
    draft: Draft,
    fresh: Mapping[str, timeline.Entry],
    viewer: Any,
) -> list[Fact]:
    found = []
    for name in names:
        open_input = None
        if edit == name:
            [open_input] = inputs.build(deal, [name], typed=draft.typed, faults=draft.faults, required=("stage",))
        entry = fresh.get(name)
        news = (
            entry is not None
            and timezone.now() - entry.at < FRESH
            and not (entry.by.is_person and entry.by.key == str(viewer.pk))
            and entry.version != 1
        )
        value = getattr(deal, Opportunity._meta.get_field(name).attname)  # type: ignore[union-attr]
        empty = value is None or value == "" or value == []
        found.append(Fact(name=name, input=open_input, fresh=entry if news else None, empty=empty))
    return found


def story(request: HttpRequest, deal: Opportunity) -> dict[str, Any]:
    who = request.GET.get("who", "") or request.POST.get("who", "")
    who = who if who in ("people", "agents") else ""
    page = timeline.page(request, deal, who=who, before=_number(request, "before"), down_to=_number(request, "down_to"))
    return {"story": page, "who": who, "older": bool(_number(request, "before"))}


def path(deal: Opportunity, stages: list[Stage]) -> list[dict[str, Any]]:
    """The way of the deal: open stages and the won one; a lost deal ends in its own."""
    shown = [stage for stage in stages if stage.kind != StageKind.LOST or stage.pk == deal.stage_id]
    if deal.stage.kind == StageKind.LOST:
        shown = [stage for stage in shown if stage.kind != StageKind.WON]
    return [
        {"stage": stage, "current": stage.pk == deal.stage_id, "done": stage.position < deal.stage.position}
        for stage in shown
    ]


def tasks(deal: Opportunity) -> dict[str, Any]:
    """Open ones by day, then the last few that were done."""
    rows = Task.objects.filter(opportunity=deal).select_related("owner", "claimed_by")
    found = list(rows.exclude(state=TaskState.CANCELLED).order_by("-done_at")[:200])
    undated = dt.date.max
    open_ones = [task for task in found if task.state == TaskState.OPEN]
    open_ones.sort(key=lambda t: (t.due_on or undated, t.due_at is None, t.due_at or timezone.now(), t.pk))
    done = [task for task in found if task.state == TaskState.DONE]
    return {"open": open_ones, "done": done[:DONE_SHOWN]}


def giving(request: HttpRequest) -> dict[str, Any]:
    """The task that is about to be given to somebody (`?give=12`), and to whom it can be; asked for only then."""
    task = _number(request, "give")
    people = User.objects.filter(is_active=True).order_by("first_name", "last_name", "username")
    return {"give": task, "colleagues": people[: inputs.MOST] if task else ()}


def address(deal: Opportunity) -> str:
    return reverse("deal", args=[deal.pk])


def _editing(request: HttpRequest) -> list[str]:
    """What the page has open, as it says itself."""
    return (request.GET.get("editing", "") or request.POST.get("editing", "")).split(",")


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "") or request.POST.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _working_day_after(day: dt.date) -> dt.date:
    following = day + dt.timedelta(days=1)
    while following.weekday() >= 5:
        following += dt.timedelta(days=1)
    return following
