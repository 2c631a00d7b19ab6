"""Suggestions for tests: an idle deal of Alice's, and the one suggestion that the sweep leaves for it."""

import datetime as dt
from typing import Any

from agents import approving, content, sweeps
from agents.models import Approval, Recommendation
from conflicts import actors
from crm.models import Opportunity, User
from tests import cast

NOW = dt.datetime(2031, 6, 6, 12, tzinfo=dt.UTC)
"""A Friday far ahead: a deal of today has been idle for years, and is due on cast.TUESDAY."""


def idle_deal(**params: Any) -> Opportunity:
    return cast.deal(contact=cast.contact("Rui Amaro").pk, **params)


def suggestion(deal: Opportunity | None = None, *, now: dt.datetime = NOW) -> Recommendation:
    deal = deal or idle_deal()
    sweeps.sweep(now=now)
    return Recommendation.objects.select_related("opportunity").get(opportunity=deal)


def shown(one: Recommendation, *, to: User) -> str:
    """What the card binds that person's yes to."""
    return content.of(one, reader=actors.person(to)).hash


def said_yes(one: Recommendation, *, by: User, now: dt.datetime = NOW) -> Approval:
    """The yes is kept, and then the process died: nothing is carried out yet."""
    giver = actors.person(by)
    given = approving.give(one, by=giver, now=now, content=content.of(one, reader=giver))
    assert given is not None
    one.refresh_from_db()
    return given
