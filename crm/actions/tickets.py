"""What can be done to a ticket: take it, hand it on, move it, close it, write on it.

Guarantees that a ticket which a person has taken is that person's: no agent moves it, closes it or gives it to somebody
else (it may still correct what the ticket says: its name, a tag, a priority that no person has set); that of two who
take it one has it and the other is told by whom; and that what was closed is opened again by `ticket.reopen` alone,
never by a note. Next in the flow: `crm/tickets.py` (the next one), `crm/views/ticket.py`.
"""

from typing import Annotated, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import Field, model_validator

from conflicts import actors
from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.exceptions import GoalMet, RuleBroken
from conflicts.sentences import Sentence, actor
from conflicts.work import Work
from crm.actions.fields import Key, Name, Params, Tags, Text
from crm.models import Contact, Opportunity, Ticket, TicketNote, User
from crm.models.ticket import TicketState
from crm.models.user import Role
from crm.permissions import permits_deal, permits_ticket
from crm.sentences_governed import said

NOT_CHANGED = Sentence("ticket_not_changed")
PEOPLE = related("claimed_by", "team")

PriorityIn = Annotated[int, Field(ge=1, le=4)]
States = Literal["open", "in_progress", "waiting", "closed"]


class Create(Params):
    name: Name
    text: Text = ""
    company: Key = None
    contact: Key = None
    opportunity: Key = None
    team: Key = None
    priority: PriorityIn = 2
    assignee: Key = None
    tags: Tags = []

    @model_validator(mode="after")
    def _is_somebodys(self) -> "Create":
        if not (self.company or self.contact):
            raise ValueError(str(_("Say whose it is: a company or a contact.")))
        return self


class Edit(Params):
    name: Name = ""
    text: Text = ""
    company: Key = None
    contact: Key = None
    opportunity: Key = None
    priority: PriorityIn = 2
    tags: Tags = []


class Assign(Params):
    assignee: Key = None
    team: Key = None
    """The queue; none: everybody's."""


class Move(Params):
    state: States
    resolution: Text = ""
    """How it ended; needed to close it."""


class Nothing(Params):
    pass


class Reopen(Params):
    reason: Text = ""


class Note(Params):
    text: Annotated[Text, Field(min_length=1)]
    from_customer: bool = False


# --- checks -----------------------------------------------------------------------------------------------------------


def check_is_theirs(work: Work) -> None:
    """What a person took, that person moves, ends and hands on; a colleague may, a machine may not."""
    ticket: Ticket = work.subject
    if ticket.claimed_by and work.by.kind is not Kind.PERSON:
        who = actor(actors.person(ticket.claimed_by))
        raise RuleBroken("ticket_claimed", state="manual_action_detected", who=who)


def _check_deal(work: Work, *, deal: int | None, team: int | None) -> None:
    """A deal is named only where all who see the ticket may see it: one of its own queue's team, or of nobody's."""
    found = Opportunity.objects.select_related("team").filter(pk=deal).first() if deal else None
    if found is None:
        return
    if refusal := permits_deal(work.by, found):
        raise RuleBroken(refusal.code, **refusal.facts)
    if found.team_id is not None and found.team_id != team:
        raise RuleBroken("ticket_deal_of_another_queue", team=str(found.team))


def _check_closed(work: Work) -> None:
    if not work.subject.is_open:
        raise RuleBroken("ticket_closed", state="terminal_state_found", who=_who_closed(work))


def _who_closed(work: Work) -> dict[str, str]:
    closing = [c for c in work.moved if c.aspect == "state" and c.new == TicketState.CLOSED.value]
    return actor(closing[-1].by if closing else work.subject.changed_by)


def _check_edit(work: Work) -> None:
    wanted = work.writes
    company, contact = (wanted.get(name, getattr(work.subject, f"{name}_id")) for name in ("company", "contact"))
    if not (company or contact):
        raise RuleBroken("ticket_is_nobodys")
    _check_deal(work, deal=wanted.get("opportunity"), team=work.subject.team_id)


def _check_assign(work: Work) -> None:
    check_is_theirs(work)
    _check_closed(work)
    if "team" in work.writes:
        _check_deal(work, deal=work.subject.opportunity_id, team=work.writes["team"])
    wanted = work.writes.get("assignee")
    if wanted and not User.objects.filter(pk=wanted, is_active=True).exists():
        raise RuleBroken("nobody_to_give_it_to")


def _check_claim(work: Work) -> None:
    _check_closed(work)
    if not work.by.is_person:
        raise RuleBroken("only_people_take")
    taken = work.subject.claimed_by
    if taken and str(taken.pk) == work.by.key:
        raise GoalMet("ticket_yours_already")
    if taken:
        raise RuleBroken("ticket_taken", state="manual_action_detected", who=actor(actors.person(taken)))


def _check_take_next(work: Work) -> None:
    """Asked for any, not for this one: whoever is too late here goes on to the next, and nobody has to decide."""
    ticket: Ticket = work.subject
    if not work.by.is_person:
        raise RuleBroken("only_people_take")
    if ticket.claimed_by:
        raise GoalMet("ticket_taken", who=actor(actors.person(ticket.claimed_by)))
    if ticket.state != TicketState.OPEN:
        raise GoalMet("ticket_not_free", status=said(ticket), who=actor(ticket.changed_by))


def _check_release(work: Work) -> None:
    ticket: Ticket = work.subject
    if ticket.claimed_by is None:
        raise GoalMet("ticket_free_already")
    own = work.by.is_person and str(ticket.claimed_by_id) == work.by.key
    if not own and not _manages(work):
        raise RuleBroken("ticket_not_yours", who=actor(actors.person(ticket.claimed_by)))


def _manages(work: Work) -> bool:
    user = work.by.account
    return bool(work.by.is_person and user and (user.sees_everything or user.role == Role.MANAGER))


def _check_move(work: Work) -> None:
    ticket: Ticket = work.subject
    check_is_theirs(work)
    if not ticket.is_open:
        if work.params.state == TicketState.CLOSED:
            raise GoalMet("ticket_closed_already", who=_who_closed(work))
        _check_closed(work)
    if work.params.state == TicketState.CLOSED and not work.params.resolution:
        raise RuleBroken("needs_resolution")


def _check_reopen(work: Work) -> None:
    if work.subject.is_open:
        raise GoalMet("ticket_open_already", status=said(work.subject))


# --- what is written --------------------------------------------------------------------------------------------------


def _create(work: Work) -> None:
    p: Create = work.params
    values = p.model_dump()
    relations = {f"{name}_id": values.pop(name) for name in ("company", "contact", "opportunity", "team", "assignee")}
    if relations["contact_id"] and not relations["company_id"]:
        found = Contact.objects.filter(pk=relations["contact_id"]).values_list("company_id", flat=True)
        relations["company_id"] = found.first()
    work.new(Ticket(**values, **relations))


def _edit(work: Work) -> None:
    work.set(**work.writes)


def _assign(work: Work) -> None:
    ticket: Ticket = work.subject
    work.set(**work.writes)
    if ticket.claimed_by_id and "assignee" in work.writes and ticket.assignee_id != ticket.claimed_by_id:
        _let_go(work)


def _claim(work: Work) -> None:
    person = int(work.by.key)
    work.set(claimed_by=person, claimed_at=work.now, assignee=person, state=TicketState.IN_PROGRESS.value)


def _release(work: Work) -> None:
    _let_go(work)
    work.set(assignee=None)


def _let_go(work: Work) -> None:
    work.set(claimed_by=None, claimed_at=None)
    if work.subject.state == TicketState.IN_PROGRESS:
        work.set(state=TicketState.OPEN.value)


def _move(work: Work) -> None:
    state = TicketState(work.writes.get("state", work.subject.state))
    work.set(state=state.value)
    if state is TicketState.CLOSED:
        work.set(resolution=work.params.resolution, closed_at=work.now)


def _reopen(work: Work) -> None:
    work.set(state=TicketState.OPEN.value, closed_at=None, claimed_by=None, claimed_at=None)
    if work.params.reason:
        work.add(TicketNote(ticket=work.subject, at=work.now, by=str(work.by), text=work.params.reason))


def _note(work: Work) -> None:
    p: Note = work.params
    ticket: Ticket = work.subject
    work.add(TicketNote(ticket=ticket, at=work.now, by=str(work.by), from_customer=p.from_customer, text=p.text))
    if p.from_customer:
        work.set(customer_wrote_at=work.now)
        if ticket.state == TicketState.WAITING:
            # It waited for exactly this. What is closed stays closed: opening it again is somebody's decision.
            work.set(state=(TicketState.IN_PROGRESS if ticket.claimed_by_id else TicketState.OPEN).value)


register(
    Action(
        name="ticket.create",
        subject=Ticket,
        params=Create,
        words=_("Add a ticket"),
        check=lambda work: _check_deal(work, deal=work.params.opportunity, team=work.params.team),
        apply=_create,
        permits=permits_ticket,
        creates=True,
    )
)
register(
    Action(
        name="ticket.edit",
        subject=Ticket,
        params=Edit,
        words=_("Change the ticket"),
        check=_check_edit,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_ticket,
        avoided=NOT_CHANGED,
        loads=(PEOPLE,),
    )
)
register(
    Action(
        name="ticket.assign",
        subject=Ticket,
        params=Assign,
        words=_("Give the ticket to somebody"),
        check=_check_assign,
        apply=_assign,
        writes=lambda p: p.given(),
        permits=permits_ticket,
        avoided=NOT_CHANGED,
        loads=(PEOPLE,),
    )
)
register(
    Action(
        name="ticket.move",
        subject=Ticket,
        params=Move,
        words=_("Move the ticket"),
        check=_check_move,
        apply=_move,
        writes=lambda p: {"state": p.state},
        permits=permits_ticket,
        avoided=NOT_CHANGED,
        loads=(PEOPLE,),
    )
)
for name, params, words, check, apply, aspect in (
    ("claim", Nothing, _("Take the ticket"), _check_claim, _claim, "claimed_by"),
    ("take_next", Nothing, _("Take the next ticket"), _check_take_next, _claim, "claimed_by"),
    ("release", Nothing, _("Give the ticket back"), _check_release, _release, "claimed_by"),
    ("reopen", Reopen, _("Open the ticket again"), _check_reopen, _reopen, "state"),
    ("note", Note, _("Write on the ticket"), lambda work: None, _note, TicketNote.aspect),
):
    register(
        Action(
            name=f"ticket.{name}",
            subject=Ticket,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({aspect}),
            permits=permits_ticket,
            avoided=NOT_CHANGED,
            loads=(PEOPLE,),
        )
    )
