"""Reading snapshots: a page of deals with all that lies around them, in a fixed number of queries.

Guarantees that what is read beside a deal (its contact's consents, its tasks) is read after the deal, so that a newer
child can only make the gate stricter, never blinder. Next in the flow: `agents/context.py`.
"""

import datetime as dt
import zoneinfo
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from django.conf import settings
from django.db.models import Min, Q

from agents.context import (
    DEAL,
    RESTS_ON,
    SUPPRESSED,
    ConsentFacts,
    ContactFacts,
    Conversation,
    Declined,
    OwnerFacts,
    Snapshot,
    StageFacts,
    StepFacts,
)
from agents.models import Override, Recommendation, RecommendationState
from agents.models.recommendation import OPEN_STATES
from conflicts.clock import database_now
from conflicts.models import Conflict
from conflicts.values import read
from crm import follow_ups
from crm.models import Activity, Consent, Opportunity, Stage, Task
from crm.models import Conversation as Talk
from crm.models.activity import TOUCHES, ActivityKind
from crm.models.conversation import Owner
from crm.models.task import TaskState


def load(pks: Iterable[int], *, now: dt.datetime | None = None, around: bool = True) -> list[Snapshot]:
    """The snapshots of these deals, in ascending order, in a fixed number of queries.

    Without `around` only what a card shows: the deal and its contact's consents, not what a decision needs besides.
    """
    read_at = now or database_now()
    # The deal first: what is read after it can only be newer than its version, and then the gate refuses.
    deals = list(
        Opportunity.objects.filter(pk__in=list(pks))
        .select_related("stage", "owner", "contact", "company")
        .order_by("pk")
    )
    more = _More(deals, read_at) if around else _Less(deals)
    return [_snapshot(deal, more, read_at) for deal in deals]


class _Less:
    """What a card shows beside the deal."""

    def __init__(self, deals: Sequence[Opportunity]) -> None:
        self.consents = _consents({deal.contact_id for deal in deals if deal.contact_id})
        self.talks = _talks(deals)
        self.first_stages: set[tuple[int, int]] = set()
        self.steps: dict[int, StepFacts] = {}
        self.touches: dict[int, list[str]] = {}
        self.open: dict[int, str] = {}
        self.declined: dict[int, list[Declined]] = defaultdict(list)
        self.unsettled: set[int | None] = set()


class _More(_Less):
    """What a decision needs: each kind in one query, and none where no deal needs it."""

    def __init__(self, deals: Sequence[Opportunity], read_at: dt.datetime) -> None:
        super().__init__(deals)
        pks = [deal.pk for deal in deals]
        self.talks = _with_people(self.talks, deals)
        self.first_stages = set(
            Stage.objects.filter(pipeline__in={deal.pipeline_id for deal in deals})
            .values("pipeline")
            .annotate(first=Min("position"))
            .values_list("pipeline", "first")
        )
        self.steps = _steps([deal.pk for deal in deals if deal.next_step_on])
        self.touches = _touches([deal.pk for deal in deals if deal.last_contact_at])
        for found in (
            Recommendation.objects.filter(opportunity__in=pks)
            .filter(
                Q(state__in=OPEN_STATES) | Q(state=RecommendationState.DECLINED, decided_at__gt=read_at - SUPPRESSED)
            )
            .order_by("pk")
            .values_list("opportunity", "state", "rule", "decided_at")
        ):
            deal, state, rule, decided_at = found
            if state == RecommendationState.DECLINED:
                self.declined[deal].append(Declined(rule=rule, at=decided_at or read_at))
            else:
                self.open[deal] = rule
        for deal, at in Override.objects.filter(
            subject_model=DEAL, subject_id__in=pks, at__gt=read_at - SUPPRESSED
        ).values_list("subject_id", "at"):
            self.declined[deal].append(Declined(rule="", at=at))
        self.unsettled = set(
            Conflict.objects.waiting()
            .filter(subject_model=DEAL, subject_id__in=pks, source__startswith="recommendation:")
            .exclude(subject_id=None)
            .values_list("subject_id", flat=True)
        )


def _talks(deals: Sequence[Opportunity]) -> dict[int, Conversation]:
    """Where a customer waits for our answer: by the one function that the gate asks too."""
    by_deal, by_contact = follow_ups.waiting([d.pk for d in deals], [d.contact_id for d in deals if d.contact_id])
    since = {deal.pk: by_deal.get(deal.pk) or by_contact.get(deal.contact_id or 0) for deal in deals}
    return {pk: Conversation(waiting_since=moment) for pk, moment in since.items() if moment}


def _with_people(talks: dict[int, Conversation], deals: Sequence[Opportunity]) -> dict[int, Conversation]:
    """And which of them a person has, with the last sign of that person."""
    contacts = {deal.contact_id: deal.pk for deal in deals if deal.contact_id}
    rows = Talk.objects.filter(
        Q(opportunity__in=[deal.pk for deal in deals]) | Q(opportunity=None, contact__in=contacts),
        owner_kind=Owner.PERSON,
        owner__isnull=False,
        last_human_at__isnull=False,
    )
    found = dict(talks)
    for row in rows.select_related("owner").order_by("last_human_at"):
        deal = row.opportunity_id or contacts[row.contact_id]
        found[deal] = replace(found.get(deal, Conversation()), human_since=row.last_human_at, human=str(row.owner))
    return found


def _consents(contacts: set[int]) -> dict[int, dict[str, ConsentFacts]]:
    found: dict[int, dict[str, ConsentFacts]] = defaultdict(dict)
    if contacts:
        rows = (
            Consent.objects.filter(contact__in=contacts)
            .order_by("contact", "channel", "-at", "-id")
            .distinct("contact", "channel")
        )
        for row in rows:
            found[row.contact_id][row.channel] = ConsentFacts(
                granted=row.status == "granted", on=row.at.astimezone(zoneinfo.ZoneInfo(settings.TIME_ZONE)).date()
            )
    return found


def _steps(deals: Sequence[int]) -> dict[int, StepFacts]:
    found: dict[int, StepFacts] = {}
    if deals:
        # The order of crm.next_steps.earliest: by day, a time before none, ties by key.
        rows = (
            Task.objects.filter(opportunity__in=deals, state=TaskState.OPEN, due_on__isnull=False)
            .select_related("claimed_by")
            .order_by("opportunity", "due_on", "due_at", "pk")
            .distinct("opportunity")
        )
        for row in rows:
            found[row.opportunity_id] = StepFacts(
                pk=row.pk, title=row.title, claimed_by=str(row.claimed_by) if row.claimed_by else ""
            )
    return found


def _touches(deals: Sequence[int]) -> dict[int, list[str]]:
    """The kinds of contact of each deal, newest first."""
    found: dict[int, list[str]] = defaultdict(list)
    if deals:
        rows = Activity.objects.filter(opportunity__in=deals, kind__in=TOUCHES).order_by("opportunity", "-at", "-pk")
        for deal, kind in rows.values_list("opportunity", "kind"):
            found[deal].append(kind)
    return found


def _snapshot(deal: Opportunity, more: _Less, read_at: dt.datetime) -> Snapshot:
    contact = deal.contact
    mails = takewhile(lambda kind: kind == ActivityKind.MAIL, more.touches.get(deal.pk, ()))
    return Snapshot(
        read_at=read_at,
        pk=deal.pk,
        version=deal.version,
        changed_at=deal.changed_at or read_at,
        name=deal.name,
        company=deal.company.name if deal.company else "",
        status=deal.status,
        amount=deal.amount,
        stage=StageFacts(
            name=deal.stage.name,
            is_first=(deal.pipeline_id, deal.stage.position) in more.first_stages,
            contact_allowed=deal.stage.contact_allowed,
            limit=deal.stage.stuck_after_days,
        ),
        stage_since=deal.stage_since,
        owner=OwnerFacts(pk=deal.owner.pk, name=str(deal.owner)) if deal.owner else None,
        zone=(deal.owner.time_zone if deal.owner else "") or settings.TIME_ZONE,
        language=(deal.owner.language if deal.owner else "") or settings.LANGUAGE_CODE,
        contact=ContactFacts(
            pk=contact.pk,
            version=contact.version,
            name=contact.name,
            blocked=contact.blocked,
            consents=more.consents.get(contact.pk, {}),
        )
        if contact
        else None,
        opened_on=deal.opened_on,
        expected_close=deal.expected_close,
        next_step=deal.next_step,
        next_step_on=deal.next_step_on,
        last_contact_at=deal.last_contact_at,
        step=more.steps.get(deal.pk),
        unanswered_mails=sum(1 for _ in mails),
        suggestion=more.open.get(deal.pk, ""),
        unsettled=deal.pk in more.unsettled,
        team=deal.team_id,
        conversation=more.talks.get(deal.pk),
        declined=tuple(more.declined.get(deal.pk, ())),
        values=read(deal, RESTS_ON),
    )
