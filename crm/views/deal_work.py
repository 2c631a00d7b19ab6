"""Where the forms of the deal page go: facts, stage, tasks, the log. Each is read, checked, and put to the gate.

Guarantees that each of them needs its version, that a fault comes back beside its field with all that was typed, and
that a clash comes back as a choice. Next in the flow: `crm/views/submit.py`, then `crm/views/settle.py`.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from conflicts.sentences import aspect_label
from crm import inputs
from crm.models import Opportunity, Stage, Task
from crm.models.pipeline import StageKind
from crm.views.deal import EDITABLE, Draft, address, find, refreshed, returned
from crm.views.settle import settle_or
from crm.views.submit import submit, version_of

LONGEST = 20_000


@require_POST
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """One fact, or all of them."""
    deal = find(request, pk)
    version_of(request)
    names = [name for name in EDITABLE if name in request.POST]
    params, faults = inputs.read(request.POST, names, model=Opportunity, subject=deal)
    one = names[0] if len(names) == 1 and names[0] != "name" else "all"
    if not names:
        faults = {"": [_("Nothing was typed.")]}
    said = _("%(what)s saved.") % {"what": aspect_label("crm.opportunity", one).capitalize()} if one != "all" else ""
    return put(request, deal, "opportunity.edit", params, faults, form="edit", part="fact", edit=one, said=said)


@require_POST
def stage(request: HttpRequest, pk: int) -> HttpResponse:
    """A move along the path, won and lost."""
    deal = find(request, pk)
    version_of(request)
    params, faults = inputs.read(request.POST, ["stage"], model=Opportunity, subject=deal)
    if "stage" not in request.POST:
        faults = {"stage": [_("Choose one.")]}
    reason = request.POST.get("reason", "").strip()
    if len(reason) > 200:
        faults["reason"] = [_("At most %(n)d letters; this has %(has)d.") % {"n": 200, "has": len(reason)}]
    lost = any(key == request.POST.get("stage") for key in _lost_stages(deal))
    if lost and not reason:
        faults["reason"] = [_("Say why it was lost.")]
    params["reason"] = reason
    form = "lost" if lost else "stage"
    return put(request, deal, "opportunity.move", params, faults, form=form, part="closing", said=_("Moved."))


def _lost_stages(deal: Opportunity) -> list[str]:
    found = Stage.objects.filter(pipeline=deal.pipeline_id, kind=StageKind.LOST)
    return [str(pk) for pk in found.values_list("pk", flat=True)]


@require_POST
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    """The next step, or a task without a day (`form=task`)."""
    deal = find(request, pk)
    version_of(request)
    form = "task" if request.POST.get("form") == "task" else "plan"
    faults: dict[str, list[str]] = {}
    title = _words(request.POST, "title", faults, longest=200)
    due_on = _day(request.POST, "due_on", faults)
    if not title and "title" not in faults:
        faults["title"] = [_("Say what happens next.")]
    if form == "plan" and due_on is None and "due_on" not in faults:
        faults["due_on"] = [_("Choose the day.")]
    params = {"title": title, "due_on": due_on}
    part = "quick" if form == "plan" else "add_task"
    said = _("Next step set.") if form == "plan" else _("Task added.")
    return put(request, deal, "opportunity.plan_task", params, faults, form=form, part=part, said=said)


@require_POST
def log(request: HttpRequest, pk: int) -> HttpResponse:
    """What happened with the customer, and what comes next, in one act."""
    deal = find(request, pk)
    version_of(request)
    faults: dict[str, list[str]] = {}
    kind = request.POST.get("kind", "")
    if kind not in ("call", "meeting", "mail", "note"):
        faults["kind"] = [_("Choose one.")]
    params: dict[str, Any] = {
        "kind": kind,
        "text": _words(request.POST, "text", faults, longest=LONGEST),
        "at": _moment(request.POST, "at", faults),
        "next_title": _words(request.POST, "next_title", faults, longest=200),
        "next_on": _day(request.POST, "next_on", faults),
    }
    if kind == "note" and not params["text"] and "text" not in faults:
        faults["text"] = [_("A note needs some text.")]
    if params["next_on"] and not params["next_title"]:
        faults["next_title"] = [_("Say what comes next on that day.")]
    return put(request, deal, "opportunity.log", params, faults, form="log", part="log_form", said=_("Logged."))


VERBS: Mapping[str, tuple[str, Any]] = {
    "complete": ("opportunity.complete_task", gettext_lazy("Done: %(task)s.")),
    "reopen": ("opportunity.reopen_task", gettext_lazy("Open again: %(task)s.")),
    "cancel": ("opportunity.cancel_task", gettext_lazy("Cancelled: %(task)s.")),
    "take": ("opportunity.claim_task", gettext_lazy("Yours now: %(task)s.")),
    "put-off": ("opportunity.reschedule_task", gettext_lazy("Moved: %(task)s.")),
    "give": ("opportunity.reassign_task", gettext_lazy("Given on: %(task)s.")),
}


@require_POST
def task(request: HttpRequest, pk: int, task: int, verb: str) -> HttpResponse:
    """Complete, reopen, cancel, take a task, give it to somebody (`owner`), or move it to another day (`due_on`, empty
    for none).
    """
    deal = find(request, pk)
    version_of(request)
    found = Task.objects.filter(pk=task, opportunity=deal).first()
    if found is None or verb not in VERBS:
        raise Http404
    action, words = VERBS[verb]
    faults: dict[str, list[str]] = {}
    params: dict[str, Any] = {"task": found.pk}
    if verb == "put-off":
        params["due_on"] = _day(request.POST, "due_on", faults)
    if verb == "give":
        owner = request.POST.get("owner", "")
        params["owner"] = int(owner) if owner.isascii() and owner.isdigit() and len(owner) < 19 else None
        if params["owner"] is None:
            faults["owner"] = [_("Choose one.")]
    return put(
        request, deal, action, params, faults, form=f"task-{task}", part="task_list", said=words % {"task": found.title}
    )


def put(
    request: HttpRequest,
    deal: Opportunity,
    action: str,
    params: Mapping[str, Any],
    faults: Mapping[str, list[str]],
    *,
    form: str,
    part: str,
    edit: str = "",
    said: str = "",
) -> HttpResponse:
    typed = {name: value for name, value in request.POST.items() if isinstance(value, str)}
    if faults:
        return returned(request, deal, Draft(form=form, typed=typed, faults=faults), part=part, edit=edit)
    submission = submit(request, action=action, params=params, subject=deal)
    if submission.errors:
        draft = Draft(form=form, typed=typed, faults=submission.errors)
        return returned(request, deal, draft, part=part, edit=edit)
    answer = settle_or(
        request, submission, subject=deal, action=action, params=params, done_url=address(deal), said=said
    )
    return answer if answer is not None else refreshed(request, deal.pk)


def _words(posted: Mapping[str, str], name: str, faults: dict[str, list[str]], *, longest: int) -> str:
    text = posted.get(name, "").strip()
    if len(text) > longest:
        faults[name] = [_("At most %(n)d letters; this has %(has)d.") % {"n": longest, "has": len(text)}]
    return text


def _day(posted: Mapping[str, str], name: str, faults: dict[str, list[str]]) -> dt.date | None:
    return _parsed(posted, name, faults, dt.date.fromisoformat)


def _moment(posted: Mapping[str, str], name: str, faults: dict[str, list[str]]) -> dt.datetime | None:
    """A local time as the viewer typed it; the zone is the viewer's."""
    at = _parsed(posted, name, faults, dt.datetime.fromisoformat)
    if at is None:
        return None
    at = at if at.tzinfo else timezone.make_aware(at)
    if at > timezone.now() + dt.timedelta(minutes=5):
        faults[name] = [_("This has not happened yet; plan it as the next step.")]
    return at


def _parsed[T: dt.date](
    posted: Mapping[str, str], name: str, faults: dict[str, list[str]], read: Callable[[str], T]
) -> T | None:
    text = posted.get(name, "").strip()
    if not text:
        return None
    try:
        value = read(text)
    except ValueError:
        faults[name] = [_("There is no day “%(text)s”.") % {"text": text[:40]}]
        return None
    if not 1900 <= value.year <= 2200:
        faults[name] = [_("The year %(year)d is too far away.") % {"year": value.year}]
        return None
    return value
