"""What a recommender answers: a Suggestion, or LeftAlone with the reason. Values; nothing is written by making one."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conflicts.proposals import Read
from conflicts.sentences import Sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Points:
    """One term of a priority, with what earned it."""

    count: int
    why: Sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    rule: str
    action: str
    params: Mapping[str, Any]
    title: Sentence
    why: Sentence
    basis: tuple[Read, ...]
    """The read set: exactly what this rests on, the deal first."""
    rests_on: tuple[str, ...]
    """The same for people: the lines of the card (agents/facts.py)."""
    due_on: dt.date
    score: tuple[Points, ...]
    expires_at: dt.datetime

    @property
    def priority(self) -> int:
        return sum(points.count for points in self.score)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftAlone:
    code: str
    """G1 to G8, R11, or Q (agents/backpressure.py)."""
    why: Sentence
    review_on: dt.date | None = None
    """The sweep leaves the deal alone until that day, or until it changes; None: it looks again each time."""


type Answer = Suggestion | LeftAlone
