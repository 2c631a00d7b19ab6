"""Snapshots as values, for tables of gates and rules: no database needed."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

from agents.context import ContactFacts, OwnerFacts, Snapshot, StageFacts

MONDAY = dt.date(2031, 6, 9)
NOW = dt.datetime(2031, 6, 9, 13, 0, tzinfo=dt.UTC)
"""A Monday, ten in the morning in São Paulo."""

RUI = ContactFacts(pk=7, version=3, name="Rui Amaro", blocked=False)
STAGE = StageFacts(name="Proposal", is_first=False, contact_allowed=True, limit=7)


def days_ago(count: int, *, hour: int = 12) -> dt.datetime:
    return NOW.replace(hour=hour) - dt.timedelta(days=count)


def values(snapshot: Snapshot) -> dict[str, Any]:
    """The plain values that the database would have given with it."""
    return {
        "status": snapshot.status,
        "stage": 2,
        "stage_since": snapshot.stage_since.isoformat(),
        "owner": snapshot.owner.pk if snapshot.owner else None,
        "contact": snapshot.contact.pk if snapshot.contact else None,
        "next_step": snapshot.next_step,
        "next_step_on": snapshot.next_step_on.isoformat() if snapshot.next_step_on else None,
        "last_contact_at": snapshot.last_contact_at.isoformat() if snapshot.last_contact_at else None,
        "opened_on": snapshot.opened_on.isoformat() if snapshot.opened_on else None,
        "expected_close": snapshot.expected_close.isoformat() if snapshot.expected_close else None,
        "amount": str(snapshot.amount) if snapshot.amount is not None else None,
    }


def snapshot(**facts: Any) -> Snapshot:
    """A deal of Alice's with Rui, spoken to yesterday, without a next step."""
    base = Snapshot(
        read_at=NOW,
        pk=12,
        version=31,
        changed_at=days_ago(1),
        name="Sensors for 14 cold rooms",
        company="Quillmere Hotels",
        status="open",
        amount=Decimal("48000.00"),
        stage=STAGE,
        stage_since=MONDAY - dt.timedelta(days=20),
        owner=OwnerFacts(pk=1, name="Alice Amaral"),
        zone="America/Sao_Paulo",
        language="en",
        contact=RUI,
        opened_on=MONDAY - dt.timedelta(days=40),
        expected_close=None,
        next_step="",
        next_step_on=None,
        last_contact_at=days_ago(1),
    )
    made = replace(base, **facts)
    return replace(made, values=values(made))
