"""Recommenders: pure functions from (snapshot, now) to one answer. Same snapshot, same clock, same answer.

Guarantees that no deal is passed over in silence: each gets a `Suggestion`, or `LeftAlone` with a reason and, where
time alone can change it, the day it is looked at again. Nothing in here reads the database or the wall clock.
Next in the flow: `agents/recommendations.py`.
"""

import datetime as dt

from agents.context import Snapshot
from agents.recommenders import gates, rules
from agents.recommenders.answers import Answer


def decide(snapshot: Snapshot, *, now: dt.datetime) -> Answer:
    """The first gate that fires ends it; else the first rule that matches speaks."""
    wish = rules.first_match(snapshot, now=now)
    return gates.first_that_fires(snapshot, wish, now=now) or wish
