"""Tickets: the list with “take the next one”, a new one, and the record with its notes.

Guarantees that every act carries the version it was shown with, that who was second is told on the page by whom, and
that the button and the gate ask one rule. Next in the flow: `crm/tickets.py`, `crm/actions/tickets.py`.
"""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
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
from crm import desk, inputs
from crm.models import Company, Contact, Opportunity, Team, Ticket, TicketNote, User
from crm.models.ticket import TRANSITIONS, Priority, TicketState
from crm.permissions import may_export, permits_ticket
from crm.tickets import take_next
from crm.timeline import Line
from crm.views import export, papers, records
from crm.views.companies import owners
from crm.views.records_history import told_by
from crm.views.submit import fresh_key, submit

NEW = ("name", "text", "company", "contact", "opportunity", "team", "priority", "assignee", "tags")
NOTES = 50


@require_GET
def tickets(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    filters = desk.Filters.read(request.GET, states=desk.TICKET_STATES)
    rows = desk.tickets(filters, user=user)
    if "export" in request.GET:
        return _exported(request, rows)
    page = desk.tickets_page(rows, after=request.GET.get("after", ""))
    context: dict[str, Any] = {"page": page, "filters": filters, "states": desk.TICKET_STATES, "key": fresh_key()}
    context["may_export"] = may_export(user)
    if not request.htmx:  # type: ignore[attr-defined]
        context |= {"owners": owners(), "teams": list(Team.objects.all()), "priorities": Priority.choices}
    return papers.answer_list(request, "desk/tickets.html", context)


FILE = ("name", "state", "priority", "company", "contact", "team", "assignee", "changed_at")


def _exported(request: HttpRequest, rows: QuerySet[Ticket]) -> HttpResponse:
    head = [Ticket._meta.get_field(name).verbose_name for name in FILE]  # type: ignore[union-attr]
    found = rows.order_by("pk")[: export.MOST]
    return export.csv_answer(request, "tickets.csv", head, [_line(row) for row in found])


def _line(row: Ticket) -> tuple[Any, ...]:
    words = (row.name, row.get_state_display(), row.get_priority_display())
    return (*words, row.company, row.contact, row.team, row.assignee, timezone.localtime(row.changed_at).isoformat())


@require_POST
def ticket_next(request: HttpRequest) -> HttpResponse:
    """Take the next one; `team` narrows it to one queue."""
    user: User = request.user  # type: ignore[assignment]
    team = request.POST.get("team", "")
    taken = take_next(
        user,
        key=request.POST.get("key", "")[:150],
        team=int(team) if desk.is_key(team) else None,
        source=request.path,
    )
    for outcome in taken.passed:
        messages.info(request, str(outcome.settled.sentence or ""))
    if taken.ticket is None:
        messages.info(request, _("Nothing is free in this queue. Everything has somebody."))
        return redirect("tickets")
    messages.success(request, _("Yours now: %(ticket)s.") % {"ticket": taken.ticket.name})
    return redirect("ticket", taken.ticket.pk)


# ------------------------------------------------------------------------------------------------------- the record


def find(pk: int) -> Ticket:
    related = ("company", "contact", "opportunity", "team", "assignee", "claimed_by")
    found = Ticket.objects.select_related(*related).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def seen(request: HttpRequest, pk: int) -> Ticket:
    """The ticket, if the person may see it. Raises Http404."""
    if not Ticket.objects.visible_to(request.user).filter(pk=pk).exists():  # type: ignore[arg-type]
        raise Http404
    return find(pk)


@require_safe
def ticket(request: HttpRequest, pk: int) -> HttpResponse:
    return records.show(request, KIND, seen(request, pk))


@require_safe
def ticket_parts(request: HttpRequest, pk: int) -> HttpResponse:
    return records.parts(request, KIND, seen(request, pk))


@require_POST
def ticket_edit(request: HttpRequest, pk: int) -> HttpResponse:
    return records.edit(request, KIND, seen(request, pk))


def _around(request: HttpRequest, ticket: Ticket) -> dict[str, Any]:
    user: User = request.user  # type: ignore[assignment]
    notes = list(ticket.notes.all()[: NOTES + 1])
    return {
        "ticket": ticket,
        "notes": notes[:NOTES],
        "more_notes": len(notes) > NOTES,
        "moves": {str(state) for state in TRANSITIONS[TicketState(ticket.state)]},
        "mine": ticket.claimed_by_id == user.pk,
        "why_not": str(permits_ticket(actors.person(user), ticket) or ""),
        "people": owners(),
        "teams": list(Team.objects.all()),
        "back": papers.Returned(),
    }


KIND = records.Kind(
    template="desk/ticket.html",
    action="ticket.edit",
    facts={
        "name": ("name",),
        "text": ("text",),
        "priority": ("priority",),
        "company": ("company",),
        "contact": ("contact",),
        "opportunity": ("opportunity",),
        "tags": ("tags",),
    },
    find=find,
    context=_around,
    address=lambda ticket: reverse("ticket", args=[ticket.pk]),
)


# ----------------------------------------------------------------------------------------------------- what is done


def _assign(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    params, found = inputs.read(request.POST, ("assignee", "team"), model=Ticket, subject=subject)
    faults.update(found)
    return params


def _move(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    params, found = inputs.read(request.POST, ("state",), model=Ticket, subject=subject)
    faults.update(found)
    if params.get("state") == TicketState.CLOSED:
        needed = _("Say how it ended.")
        params["resolution"] = papers.line(request, "resolution", faults, needed=needed, longest=2000)
    elif "state" not in params:
        faults.setdefault("state", [_("Choose one.")])
    return params


def _reopen(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    return {"reason": papers.line(request, "reason", faults, longest=2000)}


def _note(request: HttpRequest, subject: Any, faults: papers.Faults) -> dict[str, Any]:
    text = papers.line(request, "text", faults, needed=_("A note needs some text."), longest=20_000)
    return {"text": text, "from_customer": request.POST.get("from_customer") == "1"}


ACTS = {
    "take": papers.Act(action="ticket.claim", said=gettext_lazy("Yours now.")),
    "give-back": papers.Act(action="ticket.release", said=gettext_lazy("Given back; it is free for somebody else.")),
    "assign": papers.Act(action="ticket.assign", said=gettext_lazy("Handed on."), read=_assign),
    "move": papers.Act(action="ticket.move", said=gettext_lazy("Moved."), read=_move),
    "reopen": papers.Act(action="ticket.reopen", said=gettext_lazy("Open again."), read=_reopen),
    "note": papers.Act(action="ticket.note", said=gettext_lazy("Noted."), read=_note),
}


@require_POST
def ticket_act(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    if verb not in ACTS:
        raise Http404
    return papers.act(request, KIND, seen(request, pk), verb, ACTS[verb])


# ------------------------------------------------------------------------------------------------------- a new one


@require_http_methods(["GET", "POST"])
def ticket_new(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    blank = Ticket(**{"team": user.team, **_about(request)})
    if request.method == "GET":
        return _form(request, blank)
    _posted(request, blank)
    params, faults = inputs.read(request.POST, NEW, model=Ticket, subject=blank)
    if faults:
        return _form(request, blank, faults=faults, status=422)
    given = {name: value for name, value in params.items() if value not in (None, "", [])}
    submission = submit(request, action="ticket.create", params=given)
    outcome = submission.outcome
    if outcome is None:
        return _form(request, blank, faults=dict(submission.errors), status=422)
    if submission.done and outcome.settled.subject:
        messages.success(request, _("%(name)s is added.") % {"name": params["name"]})
        return redirect("ticket", outcome.settled.subject.pk)
    return _form(request, blank, refused=outcome, status=422)


def _about(request: HttpRequest) -> dict[str, Any]:
    """The company, the contact or the deal from whose page one came."""
    user: User = request.user  # type: ignore[assignment]
    if deal := records.number(request, "deal"):
        seen = Opportunity.objects.visible_to(user).select_related("company", "contact", "team")
        found = seen.filter(pk=deal).first()
        if found:
            return {"opportunity": found, "company": found.company, "contact": found.contact, "team": found.team}
    if contact := records.number(request, "contact"):
        person = Contact.objects.select_related("company").filter(pk=contact).first()
        return {"contact": person, "company": person.company} if person else {}
    if company := records.number(request, "company"):
        return {"company": Company.objects.filter(pk=company).first()}
    return {}


def _posted(request: HttpRequest, blank: Ticket) -> None:
    """The deals to choose from are those of the company and the queue that were typed."""
    found, _faults = inputs.read(request.POST, ("company", "team"), model=Ticket)
    if "company" in found:
        blank.company_id = found["company"]
    if "team" in found:
        blank.team_id = found["team"]


def _form(
    request: HttpRequest,
    blank: Ticket,
    *,
    faults: records.Faults | None = None,
    refused: Outcome | None = None,
    status: int = 200,
) -> HttpResponse:
    typed = {name: request.POST[name] for name in NEW if name in request.POST}
    context = {
        "fields": inputs.build(blank, NEW, typed=typed, faults=faults, required=("name", "priority")),
        "faults": faults or {},
        "whole_fault": " ".join((faults or {}).get("", ())),
        "refused": str(refused.settled.sentence or "") if refused else "",
        # A key that was refused has its answer; another try is another act.
        "key": fresh_key() if refused else request.POST.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "desk/ticket_new.html", context, status=status)


# ------------------------------------------------------------------------------------------------ told in its story


def _note_told(row: Any) -> Line:
    words = _("wrote down what the customer said") if row.from_customer else _("wrote a note")
    return Line(words=words, said=row.text, aspect=TicketNote.aspect)


told_by(TicketNote, _note_told)
