"""Real threads on real connections, met at barriers and never at a clock.

Each thread has a connection of its own, closed at its end. A thread that does not come back within WAIT is a failure of
the test and not a wait for ever.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

WAIT = 30


def in_a_thread[T](call: Callable[[], T]) -> T:
    return together(call)[0]


def together[T](*calls: Callable[[], T]) -> list[T]:
    """Each call in a thread; all begin at the same barrier. Results in order; the first exception is raised."""
    start = threading.Barrier(len(calls), timeout=WAIT)

    def run(call: Callable[[], T]) -> T:
        try:
            start.wait()
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(timeout=WAIT) for future in [pool.submit(run, call) for call in calls]]


class Meeting:
    """A point in the code at which `count` threads of a race wait for each other, once; then it lets everybody pass.

    `at(function)` wraps one so that the threads meet right before it is called, `after(function)` right behind it.
    """

    def __init__(self, count: int = 2) -> None:
        self._barrier = threading.Barrier(count, timeout=WAIT)
        self._left = count
        self._lock = threading.Lock()

    def wait(self) -> None:
        if threading.current_thread() is threading.main_thread():
            return  # the test itself, building what the threads race for
        with self._lock:
            mine, self._left = self._left > 0, self._left - 1
        if mine:
            self._barrier.wait()

    def at(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def met(*args: Any, **kwargs: Any) -> Any:
            self.wait()
            return function(*args, **kwargs)

        return met

    def after(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def met(*args: Any, **kwargs: Any) -> Any:
            answer = function(*args, **kwargs)
            self.wait()
            return answer

        return met


def results(outcomes: Sequence[Any]) -> list[str]:
    """The results, sorted: which thread came first is the scheduler's business."""
    return sorted(outcome.result.value for outcome in outcomes)
