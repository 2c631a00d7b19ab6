"""What can be done to the tasks of a deal: plan, follow up (the agents' way to plan), complete, move, cancel, claim,
reassign. A task that a person took is that person's: no agent ends it, moves it or gives it to somebody else.
"""

import datetime as dt
from typing import Literal

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.outcomes import Change
from conflicts.sentences import Sentence, actor
from conflicts.work import Work
from crm import contacting, follow_ups
from crm.actions.fields import Key, Name, Params, RequiredKey
from crm.clock import today_for
from crm.follow_ups import TALKS, Ground
from crm.models import Contact, Opportunity, Task, User
from crm.models.task import TaskState
from crm.next_steps import load_open_tasks, recalculate
from crm.permissions import permits_deal

NOT_ADDED = Sentence("task_not_added")
NOT_CHANGED = Sentence("deal_not_changed")

STAGE_AND_OWNER = related("stage", "owner")

Kinds = Literal["todo", "call", "meeting", "mail"]


class Plan(Params):
    title: Name
    kind: Kinds = "todo"
    due_on: dt.date | None = None
    due_at: dt.datetime | None = None
    owner: Key = None
    """Default: the owner of the deal, else the person who plans it."""


def _check_open(work: Work) -> None:
    if not work.subject.is_open:
        raise RuleBroken(
            "deal_closed",
            state="terminal_state_found",
            status=work.subject.get_status_display(),
        )


def add_task(work: Work) -> Task:
    """The task that the params describe, as a write of this Work; the deal's next step follows."""
    p = work.params
    deal: Opportunity = work.subject
    person = int(work.by.key) if work.by.is_person else None
    task = Task(
        opportunity=deal,
        title=p.title,
        kind=p.kind,
        due_on=p.due_on,
        due_at=p.due_at,
        owner_id=p.owner or deal.owner_id or person,
        made_by=str(work.by),
        source=work.proposal.source,
    )
    work.add(task)
    recalculate(work)
    return task


def _plan(work: Work) -> None:
    add_task(work)


class FollowUp(Plan):
    due_on: dt.date
    owner: Key = None


def check_follow_up(work: Work) -> None:
    """The questions of crm/follow_ups.py, asked of the state in force. Raises the first no."""
    if no := follow_ups.first_no(_ground(work)):
        raise no


def _ground(work: Work) -> Ground:
    deal: Opportunity = work.subject
    contact = next((obj for obj in work.basis.values() if isinstance(obj, Contact)), None)
    own = [change for change in work.moved if change.subject == work.proposal.subject]
    setter = next((change.by for change in reversed(own) if change.aspect == "tasks"), deal.changed_by)
    return Ground(
        kind=work.params.kind,
        today=today_for(deal.owner, now=work.now),
        status=deal.status,
        status_words=deal.get_status_display(),
        stage=deal.stage.name,
        contact_allowed=deal.stage.contact_allowed,
        next_step=deal.next_step,
        next_step_on=deal.next_step_on,
        planned_by=setter,
        owner=str(deal.owner or ""),
        owner_moved=_owner_moved(deal, own),
        contact=contact.name if contact else "",
        blocked=contact.blocked if contact else False,
        stated=_stated(contact, work.params.kind),
        answered=_answered(work, own),
    )


def _owner_moved(deal: Opportunity, own: list[Change]) -> bool:
    """Given away and back is nobody else's."""
    moves = [change for change in own if change.aspect == "owner"]
    return bool(moves) and moves[0].old != deal.owner_id


def _stated(contact: Contact | None, kind: str) -> str:
    channel = follow_ups.CHANNEL.get(kind)
    return contacting.stated(contact.pk, channel) if channel and contact else ""


def _answered(work: Work, moved: list[Change]) -> follow_ups.Answered | None:
    """By what was noted since the deal was read, or by a message that still waits for our answer."""
    talks = [c for c in moved if c.aspect == "activities" and isinstance(c.new, dict) and c.new["kind"] in TALKS]
    if talks:
        at = dt.datetime.fromisoformat(talks[-1].new["at"])
        return follow_ups.Answered(on=today_for(work.subject.owner, now=at), by=talks[-1].by)
    since = work.subject.customer_waits
    return follow_ups.Answered(on=today_for(work.subject.owner, now=since)) if since else None


class OneTask(Params):
    task: Key


class Reschedule(OneTask):
    due_on: dt.date | None
    due_at: dt.datetime | None = None


def _task(work: Work) -> Task:
    """The open task the params name. Raises RuleBroken, GoalMet: somebody settled or claimed it."""
    task = Task.objects.select_related("claimed_by").filter(pk=work.params.task, opportunity=work.subject).first()
    if task is None:
        raise RuleBroken("task_gone")
    if task.state != TaskState.OPEN:
        raise GoalMet("task_settled", who=actor(task.author))
    if task.claimed_by and work.by.kind is not Kind.PERSON:
        # A task that a person took is that person's to end.
        raise RuleBroken("task_claimed", state="manual_action_detected", who=str(task.claimed_by))
    return next((known for known in work.subject.open_tasks if known.pk == task.pk), task)


def _check_task(work: Work) -> None:
    _task(work)


def _check_reschedule(work: Work) -> None:
    _task(work)
    # Fields of a task are not merged: whoever moves it must have seen it as it is.
    theirs = [c for c in work.moved if c.aspect == Task.aspect and c.old == work.params.task]
    if theirs:
        raise Clash("task_changed", who=actor(theirs[-1].by))


def _complete(work: Work) -> None:
    work.change(_task(work), state=TaskState.DONE.value, done_at=work.now)
    recalculate(work)


def _cancel(work: Work) -> None:
    work.change(_task(work), state=TaskState.CANCELLED.value, done_at=work.now)
    recalculate(work)


def _reschedule(work: Work) -> None:
    work.change(_task(work), due_on=work.params.due_on, due_at=work.params.due_at)
    recalculate(work)


def _check_claim(work: Work) -> None:
    task = _task(work)
    if not work.by.is_person:
        raise RuleBroken("task_for_people")
    if task.claimed_by_id and str(task.claimed_by_id) != work.by.key:
        raise RuleBroken("task_claimed_by_other", who=str(task.claimed_by))


def _claim(work: Work) -> None:
    work.change(_task(work), claimed_by_id=int(work.by.key))


class Reassign(OneTask):
    owner: RequiredKey


def _check_reassign(work: Work) -> None:
    task = _task(work)
    theirs = [c for c in work.moved if c.aspect == Task.aspect and c.old == work.params.task]
    if theirs:
        raise Clash("task_changed", who=actor(theirs[-1].by))
    if task.owner_id == work.params.owner:
        raise GoalMet("task_same_owner")
    if not User.objects.filter(pk=work.params.owner, is_active=True).exists():
        raise RuleBroken("nobody_to_give_it_to")


def _reassign(work: Work) -> None:
    """A colleague who hands on what somebody had taken hands on the taking, too."""
    task = _task(work)
    claimed = {"claimed_by_id": None} if task.claimed_by_id not in (None, work.params.owner) else {}
    work.change(task, owner_id=work.params.owner, **claimed)


class Reopen(OneTask):
    pass


def _reopen(work: Work) -> None:
    task = Task.objects.filter(pk=work.params.task, opportunity=work.subject).exclude(state=TaskState.OPEN).first()
    if task is None:
        raise RuleBroken("task_gone")
    if task.claimed_by_id and not work.by.is_person:
        raise RuleBroken("task_claimed", state="manual_action_detected", who=str(task.claimed_by))
    work.change(task, state=TaskState.OPEN.value, done_at=None)
    recalculate(work)


register(
    Action(
        name="opportunity.plan_task",
        subject=Opportunity,
        params=Plan,
        words=_("Plan a task"),
        check=_check_open,
        apply=_plan,
        writes_aspects=frozenset({"tasks"}),
        permits=permits_deal,
        avoided=NOT_ADDED,
        loads=(load_open_tasks,),
    )
)
register(
    Action(
        name="opportunity.follow_up",
        subject=Opportunity,
        params=FollowUp,
        words=_("Plan a follow-up"),
        check=check_follow_up,
        apply=_plan,
        writes_aspects=frozenset({"tasks"}),
        permits=permits_deal,
        avoided=NOT_ADDED,
        loads=(load_open_tasks, STAGE_AND_OWNER, follow_ups.load_waiting),
    )
)
for name, params, words, check, apply in (
    ("complete_task", OneTask, _("Complete a task"), _check_task, _complete),
    ("cancel_task", OneTask, _("Cancel a task"), _check_task, _cancel),
    ("reschedule_task", Reschedule, _("Move a task"), _check_reschedule, _reschedule),
    ("claim_task", OneTask, _("Take a task"), _check_claim, _claim),
    ("reassign_task", Reassign, _("Give a task to somebody"), _check_reassign, _reassign),
    ("reopen_task", Reopen, _("Reopen a task"), lambda work: None, _reopen),
):
    register(
        Action(
            name=f"opportunity.{name}",
            subject=Opportunity,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({"tasks"}),
            permits=permits_deal,
            avoided=NOT_CHANGED,
            loads=(load_open_tasks,),
        )
    )
