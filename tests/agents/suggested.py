"""Suggestions for tests: an idle deal of Alice's, and the one suggestion that the sweep leaves for it."""

import datetime as dt
from typing import Any

from agents import sweeps
from agents.models import Recommendation
from crm.models import Opportunity
from tests import cast

NOW = dt.datetime(2031, 6, 6, 12, tzinfo=dt.UTC)
"""A Friday far ahead: a deal of today has been idle for years, and is due on cast.TUESDAY."""


def idle_deal(**params: Any) -> Opportunity:
    return cast.deal(contact=cast.contact("Rui Amaro").pk, **params)


def suggestion(deal: Opportunity | None = None, *, now: dt.datetime = NOW) -> Recommendation:
    deal = deal or idle_deal()
    sweeps.sweep(now=now)
    return Recommendation.objects.select_related("opportunity").get(opportunity=deal)
