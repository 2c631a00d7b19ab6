"""A replay from the beginning to the end: an empty workspace, the hall, the customers, and what the rows say after it.

Guarantees that both ways get the same lines at the same moments, the same persons, the same kills. It is over when
nothing is due and nothing is on its way; what is not over by then counts as unanswered.
"""

import dataclasses
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from queue import Empty, SimpleQueue
from typing import Any

from config.embedded.processes import until
from config.lab import scratch, world
from config.lab.chat import plan
from config.lab.chat.hall import Hall
from config.lab.chat.log import Chat
from config.lab.chat.pace import Pace
from config.lab.chat.tally import Tally, tally
from config.lab.crew import WAIT
from config.lab.processes import Process
from config.lab.running import Mode
from conflicts import actors, gate
from conflicts.models import OutboxMessage
from conflicts.models.outbox import Delivery
from conflicts.proposals import Proposal
from crm.models import Message, ReplyTimer

PATIENCE = 90.0
"""Seconds that are given to what is left when the last line was said."""
SILENCE = 10.0
"""Seconds without anything new after which the naive way, which has no rows to say what is due, counts as over."""


class Customers(Process):
    talks = True

    def __init__(self, hall: Hall, *, mode: Mode, parts: Sequence[plan.Part]) -> None:
        super().__init__([sys.executable, "-m", "config.lab.chat.customers"], env=hall.env)
        self._heard: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self._child.stdin is not None
        task = {"mode": mode, "parts": [dataclasses.asdict(part) for part in parts]}
        self._child.stdin.write(json.dumps(task) + "\n")
        self._child.stdin.flush()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._heard.put(line)
        self._heard.put("")

    def until_done(self, *, seconds: float, tick: Callable[[], object] = lambda: None) -> None:
        """Raises RuntimeError if they fail or fall silent."""
        while True:
            try:
                line = self._heard.get(timeout=seconds + WAIT)
            except Empty:
                raise RuntimeError("The replay's customers fell silent.") from None
            if not line:
                raise RuntimeError(f"The replay's customers have ended: {self.last_words()}")
            said: dict[str, Any] = json.loads(line)
            if "failed" in said:
                raise RuntimeError(f"The replay's customers failed: {said['failed']}")
            if "done" in said:
                return
            tick()


def replay(
    chats: Sequence[Chat],
    mode: Mode,
    pace: Pace,
    *,
    kills: int = 0,
    stops: int = 0,
    tick: Callable[[], object] = lambda: None,
) -> Tally:
    """In the database at hand, which is emptied first: it must be the lab's own."""
    world.empty()
    world.build()
    account(pace)
    parts = plan.lay_out(chats, pace)
    length = plan.seconds(parts)
    with nullcontext() if mode is Mode.GUARDED else scratch.unguarded(), Hall(pace, mode=mode) as hall:
        began = time.perf_counter()
        with Customers(hall, mode=mode, parts=parts) as customers:
            trouble = hall.trouble(kills=kills, stops=stops, seconds=length)
            customers.until_done(seconds=length, tick=tick)
        trouble.wait(length)
        wait_for_the_end(hall, mode)
        seconds = time.perf_counter() - began
    return tally(pace, mode=mode, seconds=seconds, killed=hall.killed, stopped=hall.stopped)


def account(pace: Pace) -> None:
    values = {"name": "Chat", "provider": "webchat", "medium": "webchat", "address": "lab"}
    wish = {"quiet_seconds": pace.real(pace.window), "cap_seconds": pace.real(pace.cap)}
    outcome = gate.commit(Proposal(action="channel.create", by=actors.SYSTEM, params=values | wish))
    if not outcome.done:
        raise RuntimeError(str(outcome.sentence))


def wait_for_the_end(hall: Hall, mode: Mode) -> None:
    if mode is Mode.GUARDED:
        until(_nothing_due, seconds=PATIENCE, every=0.2)
        return
    last, since = -1, time.monotonic()
    while not hall.idle() and time.monotonic() - since < SILENCE:
        if (count := Message.objects.count()) != last:
            last, since = count, time.monotonic()
        time.sleep(0.2)


def _nothing_due() -> bool:
    on_the_way = [Delivery.QUEUED, Delivery.SENDING, Delivery.OUTCOME_UNKNOWN]
    return not (
        OutboxMessage.objects.filter(state__in=on_the_way).exists()
        or ReplyTimer.objects.filter(due_at__isnull=False).exists()
    )
