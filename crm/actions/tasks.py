"""What can be done to the tasks of a deal: plan, follow up (the agents' way to plan), complete, move, cancel, claim,
reassign. A task that a person took is that person's: no agent ends it, moves it or gives it to somebody else.
"""

import datetime as dt
from typing import Literal

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.sentences import Sentence, actor, date
from conflicts.work import Work
from crm.actions.fields import Key, Name, Params, RequiredKey
from crm.clock import today_for
from crm.models import Consent, Contact, Opportunity, Task, User
from crm.models.contact import Channel, ConsentStatus
from crm.models.task import TaskKind, TaskState
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
    """What a follow-up rests on, in the state in force: open, contact allowed, nothing planned, same owner, consent."""
    deal: Opportunity = work.subject
    _check_open(work)
    if deal.next_step_on and deal.next_step_on >= today_for(deal.owner, now=work.now):
        setter = next((c.by for c in reversed(work.moved) if c.aspect == "tasks"), deal.changed_by)
        raise GoalMet(
            "next_step_exists",
            who=actor(setter),
            next_step=deal.next_step,
            day=date(deal.next_step_on),
        )
    if work.params.kind in (TaskKind.CALL, TaskKind.MAIL) and not deal.stage.contact_allowed:
        raise RuleBroken("stage_forbids_contact", stage=deal.stage.name)
    if any(c.aspect == "owner" and c.subject == work.proposal.subject for c in work.moved):
        raise RuleBroken("owner_changed", state="needs_reevaluation", owner=str(deal.owner or "-"))
    check_consent(work)


def check_consent(work: Work) -> None:
    """A contact who is blocked, or refused the channel of this task, is not planned to be contacted."""
    channel = {"call": Channel.PHONE, "mail": Channel.EMAIL}.get(work.params.kind)
    contact = next((obj for obj in work.basis.values() if isinstance(obj, Contact)), None)
    if channel is None or contact is None:
        return
    if contact.blocked:
        raise RuleBroken("contact_blocked", contact=contact.name)
    latest = Consent.objects.filter(contact=contact, channel=channel).first()
    if latest and latest.status == ConsentStatus.REFUSED:
        raise RuleBroken("consent_refused", contact=contact.name, channel=str(channel.label))


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
        loads=(load_open_tasks, STAGE_AND_OWNER),
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
