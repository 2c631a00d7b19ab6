"""What can be done to a deal itself: create, edit, move to a stage. Tasks and activities have files of their own."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.exceptions import Clash, RuleBroken
from conflicts.sentences import Sentence, date
from conflicts.work import Work
from crm.actions.fields import Amount, Currency, Key, Line, Name, Params, Tags, Text
from crm.clock import today_for
from crm.models import Activity, Opportunity, Pipeline, Stage, User
from crm.models.activity import ActivityKind
from crm.models.opportunity import Status
from crm.models.pipeline import StageKind
from crm.permissions import permits_deal

NOT_CHANGED = Sentence("deal_not_changed")


class Create(Params):
    name: Name
    external_id: str | None = None
    company: Key = None
    contact: Key = None
    product: Key = None
    stage: Key = None
    """Default: the first stage of the default pipeline."""
    amount: Amount = None
    currency: Currency | None = None
    owner: Key = None
    opened_on: dt.date | None = None
    expected_close: dt.date | None = None
    closed_on: dt.date | None = None
    lost_reason: Line = ""
    decision: Text = ""
    tags: Tags = []


def _create(work: Work) -> None:
    p: Create = work.params
    stage = _stage(work, p.stage)
    status = Status(stage.kind)
    today = _today(work, p.owner)
    check_closing_day(work, p.closed_on)
    deal = Opportunity(
        name=p.name,
        external_id=p.external_id,
        company_id=p.company,
        contact_id=p.contact,
        product_id=p.product,
        pipeline_id=stage.pipeline_id,
        stage=stage,
        stage_since=(p.closed_on if status is not Status.OPEN else p.opened_on) or today,
        status=status,
        lost_reason=p.lost_reason,
        amount=p.amount,
        currency=p.currency or settings.VIGENTE_CURRENCY,
        owner_id=p.owner,
        team_id=_team_of(work, p.owner),
        opened_on=p.opened_on or (today if status is Status.OPEN and work.by.kind is Kind.PERSON else None),
        expected_close=p.expected_close,
        closed_on=(p.closed_on or today) if status is not Status.OPEN else None,
        decision=p.decision,
        tags=p.tags,
    )
    work.new(deal)


def _stage(work: Work, pk: int | None) -> Stage:
    """The stage of that key, else the first of the default pipeline. Raises RuleBroken: there is none."""
    stage = work.once(("stage", pk), lambda: _find_stage(pk))
    if stage is None:
        raise RuleBroken("stage_unknown")
    return stage


def _find_stage(pk: int | None) -> Stage | None:
    stages = Stage.objects.select_related("pipeline")
    if pk is None:
        return stages.filter(pipeline__is_default=True).order_by("position").first()
    return stages.filter(pk=pk).first()


def _team_of(work: Work, owner: int | None) -> int | None:
    """A deal belongs to its owner's team."""
    found = _owner(work, owner)
    return found.team_id if found else None


def _today(work: Work, owner: int | None) -> dt.date:
    """The day it is where the deal is worked on: in the evening west of Greenwich, UTC says tomorrow already."""
    return today_for(_owner(work, owner), now=work.now)


def _owner(work: Work, pk: int | None) -> User | None:
    return work.once(("owner", pk), lambda: User.objects.filter(pk=pk).first()) if pk else None


class Edit(Params):
    """The stage has an action of its own, since a move has consequences."""

    name: Name = ""
    company: Key = None
    contact: Key = None
    product: Key = None
    amount: Amount = None
    currency: Currency = settings.VIGENTE_CURRENCY
    owner: Key = None
    opened_on: dt.date | None = None
    expected_close: dt.date | None = None
    decision: Text = ""
    tags: Tags = []


def _check_edit(work: Work) -> None:
    if work.by.kind is Kind.AGENT and not work.subject.is_open:
        raise RuleBroken(
            "deal_closed",
            state="terminal_state_found",
            status=work.subject.get_status_display(),
        )


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "owner" in work.writes:
        work.set(team=_team_of(work, work.writes["owner"]))


class Move(Params):
    stage: Key
    reason: Line = ""
    """Needed for a lost stage."""
    on: dt.date | None = None
    """The day it happened, where that was not today (what is told later, what comes from another system)."""


def check_closing_day(work: Work, day: dt.date | None) -> None:
    """A deal is not won or lost on a day that is still to come, wherever on earth it is tomorrow already."""
    if day and day > work.now.date() + dt.timedelta(days=1):
        raise RuleBroken("closes_in_the_future", day=date(day))


def _check_move(work: Work) -> None:
    deal, target = work.subject, _stage(work, work.params.stage)
    if target.pipeline_id != deal.pipeline_id:
        raise RuleBroken("stage_unknown")
    if target.is_terminal:
        check_closing_day(work, work.params.on)
    if target.kind == StageKind.LOST and not work.params.reason:
        raise RuleBroken("needs_lost_reason")
    if target.is_terminal and work.by.kind is Kind.AGENT:
        raise RuleBroken("agent_may_not_close")
    closed = [c for c in work.moved if c.aspect == "status" and not deal.is_open]
    if closed and target.is_terminal and target.kind != deal.status:
        # Exclusive transitions: won and lost at the same moment. The first stands, a person settles the second.
        raise Clash(
            "closed_meanwhile",
            state="terminal_state_found",
            who=closed[-1].by.split(":", 2)[-1],
            status=deal.get_status_display(),
        )


def _move(work: Work) -> None:
    deal: Opportunity = work.subject
    before, target = deal.stage, _stage(work, work.params.stage)
    status = Status(target.kind)
    day = work.params.on or _today(work, deal.owner_id)
    at = dt.datetime.combine(day, dt.time(12), tzinfo=dt.UTC) if work.params.on else work.now
    days = max((day - deal.stage_since).days, 0)
    work.set(
        stage=target.pk,
        stage_since=day,
        status=status.value,
        closed_on=day if status is not Status.OPEN else None,
        lost_reason=work.params.reason if status is Status.LOST else "",
    )
    facts: dict[str, Any] = {"from": before.name, "to": target.name, "days": days}
    work.add(
        Activity(
            opportunity=deal,
            kind=ActivityKind.STAGE,
            at=min(at, work.now),
            by=str(work.by),
            text=work.params.reason,
            facts=facts,
        )
    )


register(
    Action(
        name="opportunity.create",
        subject=Opportunity,
        params=Create,
        words=_("Add a deal"),
        apply=_create,
        permits=permits_deal,
        creates=True,
    )
)
register(
    Action(
        name="opportunity.edit",
        subject=Opportunity,
        params=Edit,
        words=_("Change the deal"),
        check=_check_edit,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_deal,
        avoided=NOT_CHANGED,
    )
)
register(
    Action(
        name="opportunity.move",
        subject=Opportunity,
        params=Move,
        words=_("Move the deal"),
        check=_check_move,
        apply=_move,
        writes=lambda p: {"stage": p.stage},
        permits=permits_deal,
        avoided=NOT_CHANGED,
        loads=(related("stage"),),
    )
)


def default_pipeline() -> Pipeline | None:
    return Pipeline.objects.filter(is_default=True).first()
