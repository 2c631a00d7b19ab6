"""Round: one run of a race on records of its own, with the seed's dice, and what its callers were told.

Guarantees that a scenario says in both modes only who reads and who writes what: meeting, order, errors and the
callers' answers are kept here. What was told is compared with what the database holds by `config/lab/checker.py`.
"""

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.lab.checker import Answer, Told
from config.lab.crew import Contestant, Crew
from config.lab.world import World
from conflicts import actions, gate
from conflicts.actors import Actor
from conflicts.leases import Claim
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref


@dataclass
class Round:
    number: int
    world: World
    deal: Ref
    others: tuple[Ref, ...] = ()
    """Further records of this round."""
    suggestion: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    """What this round is about beyond its records (which of several stories, ids)."""

    rng: random.Random = field(default_factory=random.Random)
    crew: Crew = field(default=None)  # type: ignore[assignment]
    stage: Any = None
    """What the scenario set up for all its rounds."""
    guarded: bool = False
    answers: list[Answer] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """What a caller saw as a stack trace."""

    @property
    def refs(self) -> tuple[Ref, ...]:
        return (self.deal, *self.others)

    @property
    def duplicates(self) -> int:
        """Callers who were given the first answer again."""
        return sum(1 for outcome in self.outcomes if outcome.result is Result.DUPLICATE)

    def mark(self, who: str) -> str:
        """A text that nobody else writes, so that what became of it can be told."""
        return f"{who} in round {self.number}"

    def race(self, *contestants: Contestant, at_once: bool = False) -> None:
        self.crew.run([self._caught(one) for one in contestants], rng=self.rng, at_once=at_once)

    def commit(self, mark: str, wish: Proposal) -> Outcome:
        """As gate.commit; its caller's answer is kept."""
        return self.commit_many([mark], [wish])[0]

    def commit_many(self, marks: Sequence[str], wishes: Sequence[Proposal]) -> list[Outcome]:
        outcomes = gate.commit_many(wishes)
        for mark, wish, outcome in zip(marks, wishes, outcomes, strict=True):
            self.keep(mark, wish, outcome)
        return outcomes

    def keep(self, mark: str, wish: Proposal, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.answers.append(answer_to(mark, wish, outcome))

    def done(self, mark: str) -> None:
        """A naive caller was told that it is done."""
        self.answers.append(Answer(mark=mark, told=Told.DONE, subject=self.deal))

    def told_done(self) -> list[str]:
        return [answer.mark for answer in self.answers if answer.told is Told.DONE]

    def _caught(self, contestant: Contestant) -> Contestant:
        def run() -> Generator[str]:
            try:
                yield from contestant()
            except Exception as error:
                self.errors.append(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")

        return run


def answer_to(mark: str, wish: Proposal, outcome: Outcome) -> Answer:
    """What the gate told this caller, in the checker's terms."""
    settled = outcome.settled
    done = outcome.done and not settled.unchanged
    action = actions.get(wish.action)
    return Answer(
        mark=mark,
        told=Told.DONE if done else Told.SO_ALREADY if outcome.done else Told.TURNED_AWAY,
        subject=settled.subject,
        version=settled.version,
        read=wish.basis[0].version if wish.basis else 0,
        record=outcome.record or settled.record,
        by=str(wish.by),
        writes=frozenset(action.writes(actions.validate(action, wish.params))),
        merged=settled.result is Result.MERGED,
    )


def wish(
    action: str,
    read: Read,
    *,
    by: Actor,
    key: str = "",
    lease: Claim | None = None,
    **params: Any,
) -> Proposal:
    """A proposal on one record, as it was read."""
    return Proposal(action=action, by=by, params=params, basis=(read,), key=key, lease=lease)
