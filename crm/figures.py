"""Figures: how many deals stand where and what they add up to, asked of the database, never of a page of cards.

Guarantees that money is only ever added to money of the same currency. Next in the flow: `crm/board.py`.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from crm.models.opportunity import NextStep, OpportunityQuerySet, Status


@dataclass(frozen=True, slots=True)
class Money:
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The deals of one stage in one currency."""

    stage: int
    currency: str
    deals: int
    total: Decimal | None
    """None where no deal says an amount."""
    next_steps: dict[str, int]
    """How many open deals per state of their next step, whatever `step` was chosen."""


def next_step_is(state: str, *, today: dt.date) -> Q:
    """The open deals whose next step is in that state, as `Opportunity.next_step_state` tells it for one."""
    days = {
        NextStep.OVERDUE: Q(next_step_on__lt=today),
        NextStep.TODAY: Q(next_step_on=today),
        NextStep.LATER: Q(next_step_on__gt=today),
        NextStep.NONE: Q(next_step_on=None),
    }
    return Q(status=Status.OPEN) & days[NextStep(state)]


def tallies(deals: OpportunityQuerySet, *, today: dt.date, step: str = "") -> list[Tally]:
    """One statement for the whole board. With `step`, deals and totals are of that state alone."""
    counted = next_step_is(step, today=today) if step else None
    rows: Any = (
        deals.order_by()
        .values("stage", "currency")
        .annotate(
            deals=Count("pk", filter=counted),
            total=Sum("amount", filter=counted),
            **{f"is_{state}": Count("pk", filter=next_step_is(state, today=today)) for state in NextStep},
        )
    )
    return [
        Tally(
            stage=row["stage"],
            currency=row["currency"],
            deals=row["deals"],
            total=row["total"],
            next_steps={state.value: row[f"is_{state}"] for state in NextStep},
        )
        for row in rows
    ]


def sums(tallied: Iterable[Tally]) -> list[Money]:
    """One amount per currency, the largest first."""
    by_currency: dict[str, Decimal] = {}
    for tally in tallied:
        if tally.total is not None:
            by_currency[tally.currency] = by_currency.get(tally.currency, Decimal(0)) + tally.total
    return [Money(amount, currency) for currency, amount in sorted(by_currency.items(), key=lambda pair: -pair[1])]
