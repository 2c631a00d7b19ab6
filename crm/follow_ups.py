"""Is a follow-up still in order? Each question once, for the button, its tooltip, the gate and the delivery alike.

    still_open          the deal is open
    nothing_planned     its next step is absent or overdue
    stage_allows        its stage allows contact
    same_owner          whoever owned it when it was read owns it now
    customer_is_silent  the customer has not answered by another channel
    may_be_reached      consent and restrictions are in force: the question that a message is asked, too, in the queue
                        and at the line (crm/contacting.py)

That the approved version is the one in force is the gate's own question (conflicts/judging.py). A `Ground` is made from
the locked rows by the gate (crm/actions/tasks.py) and from a snapshot by a card (agents/freshness.py): the same facts,
the same answer. `first_no` asks them in this order. Next in the flow: `crm/actions/tasks.py`.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from conflicts.exceptions import GoalMet, RuleBroken, Verdict
from conflicts.sentences import actor, date
from crm import contacting
from crm.contacting import Barred
from crm.models import Activity, Conversation, Opportunity
from crm.models.activity import ActivityKind
from crm.models.contact import Channel
from crm.models.conversation import Status as Talk
from crm.models.opportunity import Status
from crm.models.task import TaskKind

CHANNEL: dict[str, Channel] = {TaskKind.CALL: Channel.PHONE, TaskKind.MAIL: Channel.EMAIL}
"""The channel whose consent a kind of task needs; the others reach nobody."""

TALKS = (ActivityKind.CALL, ActivityKind.MEETING)
"""Kinds in which the customer has spoken. An e-mail that was logged may be ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The customer has been heard since: who noted it, or nobody where they wrote themselves and still wait."""

    on: dt.date
    by: str = ""
    """The text form of an Actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a follow-up of this kind stands on, as it is now."""

    kind: str
    today: dt.date
    """Where the deal's owner works."""
    status: str
    status_words: str
    stage: str
    contact_allowed: bool
    next_step: str
    next_step_on: dt.date | None
    planned_by: str
    """Who set the next step, or touched the deal last; the text form of an Actor."""
    owner: str
    owner_moved: bool
    contact: str = ""
    """Whom it would reach; empty for nobody."""
    blocked: bool = False
    stated: str = ""
    """The contact's newest statement about the channel of this kind."""
    answered: Answered | None = None


def still_open(ground: Ground) -> Verdict | None:
    if ground.status == Status.OPEN:
        return None
    return RuleBroken("deal_closed", state="terminal_state_found", status=ground.status_words)


def nothing_planned(ground: Ground) -> Verdict | None:
    if ground.next_step_on is None or ground.next_step_on < ground.today:
        return None
    day = date(ground.next_step_on)
    return GoalMet("next_step_exists", who=actor(ground.planned_by), next_step=ground.next_step, day=day)


def stage_allows(ground: Ground) -> Verdict | None:
    if ground.contact_allowed or ground.kind not in CHANNEL:
        return None
    return RuleBroken("stage_forbids_contact", stage=ground.stage)


def same_owner(ground: Ground) -> Verdict | None:
    if not ground.owner_moved:
        return None
    return RuleBroken("owner_changed", state="needs_reevaluation", owner=ground.owner or "-")


def customer_is_silent(ground: Ground) -> Verdict | None:
    found = ground.answered
    if found is None:
        return None
    if found.by:
        return GoalMet("customer_answered", who=actor(found.by), day=date(found.on))
    return GoalMet("customer_waits", day=date(found.on))


def may_be_reached(ground: Ground) -> Verdict | None:
    if ground.kind not in CHANNEL or not ground.contact:
        return None
    bar = contacting.barred(blocked=ground.blocked, stated=ground.stated)
    if bar is Barred.BLOCKED:
        return RuleBroken("contact_blocked", contact=ground.contact)
    if bar is Barred.REFUSED:
        return RuleBroken("consent_refused", contact=ground.contact, channel=str(CHANNEL[ground.kind].label))
    return None


CHECKS: tuple[Callable[[Ground], Verdict | None], ...] = (
    still_open,
    nothing_planned,
    stage_allows,
    same_owner,
    customer_is_silent,
    may_be_reached,
)


def first_no(ground: Ground) -> Verdict | None:
    """The first of the questions that is answered with no; None while the follow-up is in order."""
    return next((no for check in CHECKS if (no := check(ground))), None)


# --- has the customer answered? ---------------------------------------------------------------------------------------


def waiting(deals: Iterable[int], contacts: Iterable[int]) -> tuple[dict[int, dt.datetime], dict[int, dt.datetime]]:
    """Since when a customer waits for our answer, by deal and by contact (in talks about no deal), in one query."""
    about = Q(opportunity__in=set(deals)) | Q(opportunity=None, contact__in=set(contacts))
    rows = Conversation.objects.filter(about, status=Talk.OPEN, waiting_since__isnull=False)
    by_deal: dict[int, dt.datetime] = {}
    by_contact: dict[int, dt.datetime] = {}
    for row in rows.order_by("-waiting_since").only("opportunity", "contact", "waiting_since"):
        since: Any = row.waiting_since
        if row.opportunity_id:
            by_deal[row.opportunity_id] = since
        else:
            by_contact[row.contact_id] = since
    return by_deal, by_contact


def heard_since(read: Mapping[int, int]) -> dict[int, tuple[str, dt.datetime]]:
    """Deal -> who noted a talk with the customer after the version that was read, and when it was, in one query."""
    asked = Q(pk__in=[])
    for deal, version in read.items():
        asked |= Q(opportunity=deal, subject_version__gt=version)
    rows = Activity.objects.filter(asked, kind__in=TALKS) if read else ()
    return {row.opportunity_id: (row.by, row.at) for row in rows}


def load_waiting(deals: Sequence[Opportunity]) -> None:
    """For `Action.loads`: since when the customer of each locked deal waits, as `deal.customer_waits`."""
    by_deal, by_contact = waiting([d.pk for d in deals], [d.contact_id for d in deals if d.contact_id])
    for deal in deals:
        found: Any = by_deal.get(deal.pk) or by_contact.get(deal.contact_id or 0)
        deal.customer_waits = found  # type: ignore[attr-defined]
