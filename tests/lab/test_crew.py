"""Contestants meet at named points, in an order that the seed alone decides, or all at once."""

import random
import threading
from collections.abc import Generator

import pytest

from config.lab import crew
from config.lab.crew import Crew

pytestmark = pytest.mark.django_db(transaction=True)


class InTurn(random.Random):
    """Dice that never say "all at once"."""

    def random(self) -> float:
        return 0.9

    def getrandbits(self, k: int, /) -> int:
        """Shuffling goes on by its own dice."""
        return super().getrandbits(k)


def course(seed: int) -> list[str]:
    """Who did which step, in order."""
    told: list[str] = []

    def runner(name: str) -> Generator[str]:
        told.append(f"{name} reads")
        yield "after reading"
        told.append(f"{name} writes")

    with Crew() as threads:
        threads.run([lambda: runner("a"), lambda: runner("b"), lambda: runner("c")], rng=InTurn(seed))
    return told


def test_nobody_writes_before_everybody_has_read() -> None:
    told = course(1)
    assert sorted(told[:3]) == ["a reads", "b reads", "c reads"]
    assert sorted(told[3:]) == ["a writes", "b writes", "c writes"]


def test_the_same_seed_is_the_same_course_and_another_one_another() -> None:
    assert course(1) == course(1)
    assert any(course(1) != course(seed) for seed in range(2, 8))


def test_at_once_is_at_once() -> None:
    """Each waits for the other inside its step: one after the other would never end."""
    met = threading.Barrier(2, timeout=crew.WAIT)

    def runner() -> Generator[str]:
        met.wait()
        yield "met"

    with Crew() as threads:
        threads.run([runner, runner], rng=random.Random(1), at_once=True)
    assert not met.broken


def test_a_contestant_has_one_thread_and_so_one_connection() -> None:
    seen: list[int] = []

    def runner() -> Generator[str]:
        seen.append(threading.get_ident())
        yield "once more"
        seen.append(threading.get_ident())

    with Crew() as threads:
        threads.run([runner], rng=random.Random(1))
        threads.run([runner], rng=random.Random(2))
        pids = {threads.pid(0), threads.pid(0)}
    assert len(set(seen)) == 1
    assert len(pids) == 1
