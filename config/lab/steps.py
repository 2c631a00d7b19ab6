"""Steps that wait for others: run by several threads at once, each as soon as all it waits for are done.

Guarantees that a step is run once, after what it waits for, and that the first failure ends the run and is raised.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from queue import SimpleQueue
from threading import Lock

from config.lab.crew import WAIT, Crew

SEATS = 4


def run[K: Hashable](steps: Mapping[K, Callable[[], None]], waits_for: Mapping[K, set[K]]) -> None:
    """Raises what a step raised; RuntimeError if steps wait for each other in a circle."""
    left = {key: len(waits_for.get(key, ())) for key in steps}
    wanted_by: dict[K, list[K]] = defaultdict(list)
    for key, others in waits_for.items():
        for other in others:
            wanted_by[other].append(key)
    ready: SimpleQueue[K | None] = SimpleQueue()
    open_steps, lock = len(steps), Lock()

    def end() -> None:
        for _ in range(SEATS):
            ready.put(None)

    def work() -> None:
        nonlocal open_steps
        try:
            while (key := ready.get(timeout=WAIT)) is not None:
                steps[key]()
                with lock:
                    open_steps -= 1
                    for other in wanted_by[key]:
                        left[other] -= 1
                        if left[other] == 0:
                            ready.put(other)
                    if open_steps == 0:
                        end()
        except BaseException:
            end()
            raise

    for key, count in left.items():
        if count == 0:
            ready.put(key)
    if not steps:
        return
    with Crew(SEATS) as crew:
        for working in [crew.start(seat, work) for seat in range(SEATS)]:
            working.result()
    if open_steps:
        raise RuntimeError(f"{open_steps} steps wait for each other.")
