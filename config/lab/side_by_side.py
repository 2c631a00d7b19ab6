"""Side by side: scenarios on as many processes as there are cores, each with a database of its own.

Guarantees that no two races share a database (a judge sees its own round's rows only) and that the lines come in the
order of the plan, whoever ends first. Next in the flow: `config/lab/running.py`.
"""

import atexit
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack
from multiprocessing.queues import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import django

if TYPE_CHECKING:  # a process of the pool imports this file before it has set Django up
    from config.lab.running import Line, Mode

MOST = 4
"""Jobs that are started unasked: further ones wait for the one database server."""


class Errand(NamedTuple):
    slug: str
    mode: "Mode"
    rounds: int
    seed: int


def usual() -> int:
    return min(os.cpu_count() or 1, MOST)


def run(plan: Sequence[Errand], *, jobs: int, done: Callable[["Line"], object]) -> list["Line"]:
    """In copies of the scratch database at hand. `done` hears of each line as it comes."""
    from config.lab import scratch

    context = multiprocessing.get_context("spawn")  # a fork would share our connection
    with scratch.copies(jobs) as names:
        free: SimpleQueue[str] = context.SimpleQueue()
        for name in names:
            free.put(name)
        with ProcessPoolExecutor(jobs, mp_context=context, initializer=_take_seat, initargs=(free,)) as pool:
            try:
                futures = [pool.submit(_run, errand) for errand in plan]
                for future in as_completed(futures):
                    done(future.result())
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    return [future.result() for future in futures]


_seat = ExitStack()
"""Of a process of the pool, until it ends."""


def _take_seat(free: "SimpleQueue[str]") -> None:
    django.setup()
    from config.lab import scratch

    seat: AbstractContextManager[None] = scratch.database(use=free.get())
    _seat.enter_context(seat)
    atexit.register(_seat.close)


def _run(errand: Errand) -> "Line":
    from config.lab import running, scenario

    (found,) = scenario.find([errand.slug])
    return running.run(found, errand.mode, rounds=errand.rounds, seed=errand.seed)
