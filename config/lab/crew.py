"""The crew: threads with a database connection of their own, used again from round to round.

Guarantees that contestants meet at named points and never at a clock: a step is begun when all have ended the one
before, in the order the seed says, or all at once. A thread that does not come back within WAIT is a failure and not a
wait for ever. Next in the flow: `config/lab/rounds.py`.
"""

import random
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from django.db import connection, connections

WAIT = 60.0

type Contestant = Callable[[], Generator[str]]
"""Works up to each `yield "named point"`; there all who are still in the race wait for each other."""


class Stuck(Exception):
    """A contestant did not come back from a step."""


class Crew:
    def __init__(self, size: int = 4) -> None:
        self._seats: list[SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]] = []
        self._threads: list[threading.Thread] = []
        for number in range(size):
            queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
            thread = threading.Thread(target=_work, args=(queue,), name=f"contestant-{number}", daemon=True)
            thread.start()
            self._seats.append(queue)
            self._threads.append(thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for seat in self._seats:
            seat.put(None)
        for thread in self._threads:
            thread.join(WAIT)

    def start[T](self, seat: int, call: Callable[[], T]) -> "Future[T]":
        future: Future[T] = Future()
        self._seats[seat].put((call, future))
        return future

    def run(self, contestants: Sequence[Contestant], *, rng: random.Random, at_once: bool = False) -> None:
        """All of them to their end, point by point. `at_once`: never one after another."""
        going = {seat: contestant() for seat, contestant in enumerate(contestants)}
        while going:
            order = list(going)
            rng.shuffle(order)
            together = at_once or rng.random() < 0.5
            ended = self._together(going, order) if together else self._in_turn(going, order)
            for seat in ended:
                del going[seat]

    def _in_turn(self, going: dict[int, Generator[str]], order: Sequence[int]) -> list[int]:
        return [seat for seat in order if not wait(self.start(seat, _step(going[seat])))]

    def _together(self, going: dict[int, Generator[str]], order: Sequence[int]) -> list[int]:
        start = threading.Barrier(len(order), timeout=WAIT)
        steps = {seat: self.start(seat, _step(going[seat], start)) for seat in order}
        return [seat for seat, step in steps.items() if not wait(step)]

    def pid(self, seat: int) -> int:
        """The server process behind a seat's connection."""

        def ask() -> int:
            connection.ensure_connection()
            return int(connection.connection.info.backend_pid)

        return wait(self.start(seat, ask))


def wait[T](future: "Future[T]") -> T:
    """Raises Stuck; the future is a step of the crew."""
    try:
        return future.result(timeout=WAIT)
    except TimeoutError:
        raise Stuck(f"A contestant did not come back within {WAIT:.0f} seconds.") from None


def blocked_or_done(future: "Future[Any]", pid: int) -> bool:
    """True once the server process waits for a lock of somebody else's, or the step is over. Asks, never sleeps."""
    with connection.cursor() as cursor:
        while not future.done():
            cursor.execute("SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s", [pid])
            row = cursor.fetchone()
            if row and row[0]:
                return True
    return True


def _step(going: Generator[str], start: threading.Barrier | None = None) -> Callable[[], bool]:
    """One step: False when the contestant has ended."""

    def step() -> bool:
        if start:
            start.wait()
        try:
            next(going)
        except StopIteration:
            return False
        return True

    return step


def _work(queue: "SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]") -> None:
    try:
        while (job := queue.get()) is not None:
            call, future = job
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)
    finally:
        connections.close_all()
