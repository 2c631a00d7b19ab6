"""Which suggestions a person sees where: keyset pages by state, what is mine, what was overtaken lately.

Guarantees that nothing of a deal the person may not see is in any of them, and that a page costs the same for ten rows
as for a hundred thousand.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q
from django.utils.translation import gettext_lazy as _

from agents.cards import WITH
from agents.models import Recommendation, Verdict
from agents.states import State
from crm.models import Opportunity, User

PAGE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Tab:
    slug: str
    label: Any
    states: tuple[str, ...]


TABS = (
    Tab(slug="proposed", label=_("To decide"), states=(State.PROPOSED, State.APPROVED)),
    Tab(slug="overtaken", label=_("Overtaken"), states=(State.SUPERSEDED,)),
    Tab(slug="done", label=_("Done"), states=(State.APPLIED,)),
    Tab(slug="later", label=_("Later"), states=(State.SNOOZED,)),
    Tab(slug="declined", label=_("Declined"), states=(State.DECLINED,)),
    Tab(slug="not-done", label=_("Expired or not done"), states=(State.EXPIRED, State.FAILED)),
)
LEFT_ALONE = Tab(slug="left-alone", label=_("Left alone"), states=())


@dataclass(frozen=True, kw_only=True, slots=True)
class Page[Row]:
    rows: Sequence[Row]
    after: str = ""
    """Where the next page begins; empty on the last."""


def tab(slug: str) -> Tab | None:
    return next((one for one in (*TABS, LEFT_ALONE) if one.slug == slug), None)


def counts(user: User) -> dict[str, int]:
    """How many suggestions stand in each tab, in one query."""
    found = Recommendation.objects.visible_to(user).aggregate(
        **{one.slug: Count("pk", filter=Q(state__in=one.states)) for one in TABS}
    )
    return {slug: number or 0 for slug, number in found.items()}


def suggestions(user: User, of: Tab, *, after: str = "", mine: bool = False) -> Page[Recommendation]:
    """By priority where something is to be decided, else the newest first. `after`: `priority.key` or `key`."""
    rows = Recommendation.objects.visible_to(user).filter(state__in=of.states).select_related(*WITH)
    if mine:
        rows = rows.filter(opportunity__owner=user)
    first = [int(part) for part in after.split(".") if part.lstrip("-").isdigit()]
    if of.slug == "proposed":
        if len(first) == 2:
            rows = rows.filter(Q(priority__lt=first[0]) | Q(priority=first[0], pk__lt=first[1]))
        found = list(rows.order_by("-priority", "-pk")[: PAGE + 1])
    else:
        if len(first) == 1:
            rows = rows.filter(pk__lt=first[0])
        found = list(rows.order_by("-pk")[: PAGE + 1])
    if len(found) <= PAGE:
        return Page(rows=found)
    last = found[PAGE - 1]
    return Page(rows=found[:PAGE], after=f"{last.priority}.{last.pk}" if of.slug == "proposed" else str(last.pk))


def left_alone(user: User, *, after: str = "") -> Page[Verdict]:
    """Deals that got a reason instead of a suggestion, as far as it still speaks of the deal as it is."""
    rows = (
        Verdict.objects.filter(
            opportunity__in=Opportunity.objects.visible_to(user).open(), version_read=F("opportunity__version")
        )
        .exclude(code="G5")  # planned by a person: nothing the reader need know
        .exclude(opportunity__recommendations__state__in=[State.PROPOSED, State.APPROVED, State.SNOOZED])
        .select_related("opportunity__company")
    )
    if after.isdigit():
        rows = rows.filter(pk__gt=int(after))
    found = list(rows.order_by("pk")[: PAGE + 1])
    return Page(rows=found[:PAGE], after=str(found[PAGE - 1].pk) if len(found) > PAGE else "")


def mine(user: User, *, at_most: int = 5) -> tuple[list[Recommendation], int]:
    """What waits for this person's decision on their own deals: the first few, and how many there are."""
    rows = Recommendation.objects.filter(state=State.PROPOSED, opportunity__owner=user)
    return list(rows.select_related(*WITH).order_by("-priority", "-pk")[:at_most]), rows.count()


def overtaken_since(user: User, *, since: dt.datetime, at_most: int = 5) -> list[Recommendation]:
    """What people overtook lately in deals this person may see."""
    rows = Recommendation.objects.visible_to(user).filter(
        state=State.SUPERSEDED, decided_at__gte=since, overtaken_by__startswith="person:"
    )
    return list(rows.select_related(*WITH).order_by("-decided_at")[:at_most])
