"""Running: a scenario in one mode, round after round, and one line of figures for it.

Guarantees that both modes get the same dice, that the judge of a round sees only what the database holds, and that in
guarded mode the whole history of its records is compared with what each caller was told. Next: `config/lab/report.py`.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum

from config.lab import checker, scratch, world
from config.lab.crew import Crew
from config.lab.rounds import Round
from config.lab.scenario import Scenario
from conflicts.models import Conflict
from conflicts.outcomes import Result


class Mode(StrEnum):
    NAIVE = "naive"
    GUARDED = "guarded"


@dataclass(frozen=True, kw_only=True)
class Line:
    """What came of a scenario in one mode."""

    scenario: str
    mode: Mode
    rounds: int
    effects: int
    """What the rounds left behind in the database: writes, tasks, messages."""
    wrong: int
    """Consequences that should not be there."""
    conflicts: int
    """Records of wishes that were turned away: a person or a fresh look decides, or a rule forbade it."""
    merged: int
    """Records of wishes that were put together with what had changed meanwhile."""
    superseded: int
    """Records of wishes that the world had made needless."""
    duplicates: int
    """Callers who were given the first answer again."""
    seconds: float
    seed: int
    reasons: tuple[str, ...] = field(default=(), compare=False)

    @property
    def as_it_should_be(self) -> bool:
        """Guarded, nothing may go wrong; naive, something must, or the race was not run."""
        return (self.wrong > 0) is (self.mode is Mode.NAIVE)


def run(
    scenario: Scenario,
    mode: Mode,
    *,
    rounds: int,
    seed: int,
    tick: Callable[[], object] = lambda: None,
    out: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Line:
    """In the database at hand, which is emptied first: it must be the lab's own.

    `out` takes something out of the house while the races are run (config/lab/mutants.py), not while they are prepared.
    """
    world.empty()
    began = time.perf_counter()
    prepared = scenario.prepare(world.build(), rounds)
    race = scenario.guarded if mode is Mode.GUARDED else scenario.naive
    effects, duplicates = 0, 0
    reasons: list[str] = []
    off = out if mode is Mode.GUARDED else scratch.unguarded
    with Crew() as crew, off(), scenario.stage() as stage:
        for one in prepared:
            one.rng, one.crew = random.Random(f"{seed}:{scenario.slug}:{one.number}"), crew
            one.guarded, one.stage = mode is Mode.GUARDED, stage
            race(one)
            judgement = scenario.judge(one)
            effects += judgement.effects
            duplicates += one.duplicates
            reasons += [*judgement.wrong, *one.errors, *(_broken_promises(one) if one.guarded else ())]
            tick()
        records = Counter(Conflict.objects.values_list("result", flat=True))
    return Line(
        scenario=scenario.slug,
        mode=mode,
        rounds=len(prepared),
        effects=effects,
        wrong=len(reasons),
        conflicts=records[Result.CONFLICT] + records[Result.REFUSED],
        merged=records[Result.MERGED] + records[Result.REBASED],
        superseded=records[Result.SUPERSEDED],
        duplicates=duplicates,
        seconds=round(time.perf_counter() - began, 2),
        seed=seed,
        reasons=tuple(reasons),
    )


def _broken_promises(one: Round) -> list[str]:
    return [line for ref in one.refs for line in checker.check(ref, one.answers)]
