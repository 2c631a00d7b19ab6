"""Scenario: one race, told twice, with one judge. The registry holds them in the order in which they are told.

Guarantees that a slug names one race for ever (figures and tests quote it). Next in the flow: `config/lab/rounds.py`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from config.lab.rounds import Round
from config.lab.world import World


class Kind(StrEnum):
    IN_PROCESS = "in-process"
    """Threads with connections of their own."""
    PROCESS = "process"
    """Workers that are started, stopped and killed."""


TOLD_FIRST = (
    "two_workers_same_version",
    "person_and_agent",
    "lease_expires_in_slow_call",
    "zombie_worker",
    "approval_then_change",
    "old_event_after_new",
    "compatible_edits",
    "exclusive_transitions",
    "restart_with_reserved_items",
    "lost_answer",
    "destination_without_conditional_write",
    "skewed_clocks",
)
"""The races that the rest of the house is built around; the others follow as they are registered."""

ROUNDS = {Kind.IN_PROCESS: 200, Kind.PROCESS: 5}


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What the database holds after a round. `wrong` has a line for each consequence that should not be there."""

    effects: int
    wrong: Sequence[str] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Scenario:
    slug: str
    title: str
    prepare: Callable[[World, int], list[Round]]
    """As many rounds, each with its own records, on a database that is empty but for the world."""
    naive: Callable[[Round], None]
    guarded: Callable[[Round], None]
    judge: Callable[[Round], Judgement]
    kind: Kind = Kind.IN_PROCESS
    stage: Callable[[], AbstractContextManager[Any]] = nullcontext
    """What stands for all rounds: workers, a proxy, a broker. Its value is each round's `stage`."""
    needs: Callable[[], str] = lambda: ""
    """What is missing on this machine to run it; empty if nothing is."""

    @property
    def rounds(self) -> int:
        return ROUNDS[self.kind]


class NoSuchScenario(Exception):
    """Names the slug and the ones there are."""


_SCENARIOS: dict[str, Scenario] = {}


def register(scenario: Scenario) -> Scenario:
    if scenario.slug in _SCENARIOS:
        raise ValueError(f"There is a scenario {scenario.slug!r} already.")
    _SCENARIOS[scenario.slug] = scenario
    return scenario


def known() -> list[Scenario]:
    from config.lab import scenarios  # noqa: F401 - each module of it registers its own

    first = {slug: place for place, slug in enumerate(TOLD_FIRST)}
    return sorted(_SCENARIOS.values(), key=lambda scenario: first.get(scenario.slug, len(first)))


def find(slugs: Sequence[str]) -> list[Scenario]:
    """Those named, in the order they are told; all for none. Raises NoSuchScenario."""
    all_of_them = known()
    slugs_known = {scenario.slug for scenario in all_of_them}
    if unknown := [slug for slug in slugs if slug not in slugs_known]:
        raise NoSuchScenario(
            f"There is no scenario {', '.join(map(repr, unknown))}. There are: {', '.join(sorted(slugs_known))}."
        )
    return [scenario for scenario in all_of_them if not slugs or scenario.slug in slugs]
