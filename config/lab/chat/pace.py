"""Pace: how long windows, answers and leases are in a replay, and how many times faster than life it runs.

Guarantees that every span that the pipeline knows is shortened by the same factor, in each process that takes part;
only what a machine does at a fixed price keeps a floor (FLOOR, HEARTBEATS), so that the speed does not turn into load.
"""

import dataclasses
import datetime as dt
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

VARIABLE = "VIGENTE_LAB_PACE"

FLOOR = 0.25
"""Seconds between two looks at the timers, at least."""
HEARTBEATS = 1.0
"""Seconds of a delivery's claim, at least: it beats three times in it."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """In seconds of life, before they are divided by `speed`."""

    window: float = 4.0
    cap: float = 20.0
    fastest: float = 2.0
    slowest: float = 8.0
    """How long the model takes, at least and at most."""
    speed: float = 15.0
    seed: int = 1
    machine: float = 0.7
    """Real seconds that the machine may take for a turn beside the model; on a busy one, more."""

    @property
    def bound(self) -> float:
        """Nobody waits longer for an answer: the cap, two dropped drafts, and the one that goes out."""
        return self.cap + 3 * self.slowest

    @property
    def longest_pause(self) -> float:
        """After so long a silence everything has been said that will be."""
        return self.window + self.bound

    @property
    def lease(self) -> float:
        """Of a turn. Its holder stops by itself at two thirds: so long model and machine may take together."""
        return 1.5 * (self.slowest + self.machine * self.speed)

    def real(self, seconds: float) -> float:
        """As long as it takes here."""
        return seconds / self.speed

    def environment(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(dataclasses.asdict(self))}

    @classmethod
    def at_hand(cls, values: Mapping[str, str] = os.environ) -> Self:
        return cls(**json.loads(values[VARIABLE]))

    def set(self) -> None:
        """In this process, for good."""
        from django.conf import settings

        from agents import replies, turns
        from conflicts import bell, watching
        from crm import timers

        settings.VIGENTE_TURN_SECONDS = self.real(self.lease)
        settings.VIGENTE_TURN_ROUND_SECONDS = max(FLOOR, self.real(1.0))
        settings.VIGENTE_CLAIM_SECONDS = max(HEARTBEATS, self.real(15.0))
        settings.VIGENTE_WATCH_SECONDS = max(2 * FLOOR, self.real(5.0))
        settings.VIGENTE_BACKOFF_SECONDS = self.real(5.0)
        timers.RING_AGAIN = dt.timedelta(seconds=max(2 * FLOOR, self.real(timers.RING_AGAIN.total_seconds())))
        turns.MARGIN = self.real(turns.MARGIN)
        turns.QUIET = bell.QUIET = self.real(5.0)
        replies.PAUSE = self.real(replies.PAUSE)
        bell.MARGIN = self.real(bell.MARGIN)
        watching.AGAIN_AFTER = max(2 * FLOOR, self.real(watching.AGAIN_AFTER))
