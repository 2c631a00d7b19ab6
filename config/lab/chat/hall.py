"""The hall: a broker of the replay's own and real Celery workers on it, to be killed, stopped and woken by the seed.

Guarantees that a worker that is killed is replaced at once, as a supervisor does, that one that was stopped wakes after
its leases have run out, and that signals go to processes that were started here and to no others.
"""

import random
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from config.embedded.processes import until
from config.lab.broker import Broker
from config.lab.chat.pace import Pace
from config.lab.processes import Process
from conflicts import partitions

PLENTY = "model=1000000/second api=1000000/second channel=1000000/second"
TURNS = ("agents,default", "agents,default", "agents,default")
DELIVERIES = (",".join(partitions.queues()),) * 2
CHILDREN = {True: "5", False: "2"}
"""Answers mostly wait for the model; deliveries work."""


class Hall(Broker):
    def __init__(self, pace: Pace, *, mode: str) -> None:
        super().__init__()
        self.pace = pace
        self.env = {
            **pace.environment(),
            "REDIS_URL": self.url,
            "VIGENTE_LIMITS": PLENTY,
            "VIGENTE_RESPONDER": "config.lab.chat.model.Slow",
        }
        self._queues: Sequence[str] = TURNS if mode == "naive" else (*TURNS, *DELIVERIES)
        self._workers: list[Process] = []
        self._number = 0
        self._lock, self._over = threading.Lock(), threading.Event()
        self.killed = self.stopped = 0

    def __enter__(self) -> Self:
        super().__enter__()
        self._workers = [self._start(queues) for queues in self._queues]
        if not until(lambda: len(list(self.place.glob("ready-*"))) == len(self._workers), seconds=120):
            words = " ".join(worker.last_words() for worker in self._workers)
            self.__exit__(None, None, None)
            raise RuntimeError(f"The replay's workers did not start. {words}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._over.set()
            for worker in self._workers:
                worker.wake()
                worker.kill()
        super().__exit__(kind, error, trace)

    def idle(self) -> bool:
        return self.nothing_queued("agents", "default", *partitions.queues())

    def trouble(self, *, kills: int, stops: int, seconds: float) -> threading.Event:
        """So many kills and stops, spread over the time by the seed. The event is set when the last is over."""
        dice, over = random.Random(f"{self.pace.seed}:trouble"), threading.Event()
        acts = sorted((dice.uniform(0.05, 0.9) * seconds, act) for act in ["kill"] * kills + ["stop"] * stops)
        threading.Thread(target=self._make_trouble, args=(acts, dice, over), daemon=True).start()
        return over

    def _make_trouble(self, acts: list[tuple[float, str]], dice: random.Random, over: threading.Event) -> None:
        now = 0.0
        for at, act in acts:
            if self._over.wait(at - now):
                return
            now = at
            with self._lock:
                if not self._over.is_set():
                    self._hurt(dice.randrange(len(self._workers)), act)
        over.set()
        # To the kernel this thread is the parent of what it started: were it to end, so would they (config/tied.py).
        self._over.wait()

    def _hurt(self, place: int, act: str) -> None:
        worker = self._workers[place]
        if act == "kill":
            worker.kill()
            self._workers[place] = self._start(self._queues[place])
            self.killed += 1
            return
        worker.stop()
        self.stopped += 1
        # Longer than a turn's lease and a delivery's claim: somebody else will have taken its work.
        waking = threading.Timer(1.5 * self.pace.real(max(self.pace.lease, 15.0)), worker.wake)
        waking.daemon = True
        waking.start()

    def _start(self, queues: str) -> Process:
        self._number += 1
        children = CHILDREN["agents" in queues]
        words = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "config.lab.chat.workers",
            "worker",
            "-c",
            children,
            "-Q",
            queues,
        ]
        words += ["-n", f"w{self._number}@lab", "-l", "critical", "--without-gossip", "--without-mingle"]
        ready = {"VIGENTE_LAB_READY": str(self.place / f"ready-{self._number}")}
        return Process(words, env=self.env | ready)
