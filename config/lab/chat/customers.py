"""The customers and the salespeople of a replay, as a process: says every line at its time, and keeps their order.

Started as `python -m config.lab.chat.customers` with one line of JSON on its standard input; prints a line for each
line that was said, and at the end what it has to say about its own delay.
"""

import heapq
import itertools
import json
import sys
import threading
import time
from typing import Any

import django

THREADS = 12


class Stage:
    """The parts yet to be said, earliest first; a conversation's next line only after the one before."""

    def __init__(self, parts: list[dict[str, Any]], say: Any) -> None:
        self._say, self._order, self._lock = say, itertools.count(), threading.Condition()
        self._due = [(part["lines"][0]["at"], next(self._order), part["name"], part["lines"]) for part in parts]
        heapq.heapify(self._due)
        self._going, self.latest, self.failed = 0, 0.0, ""
        self._began = time.monotonic()

    def run(self) -> None:
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        from django.db import connections

        try:
            while (found := self._next()) is not None:
                name, lines = found
                self._say(name, lines[0])
                self._put_back(name, lines[1:])
        except BaseException as error:
            with self._lock:
                self.failed = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                self._lock.notify_all()
        finally:
            connections.close_all()

    def _next(self) -> tuple[str, list[dict[str, Any]]] | None:
        with self._lock:
            while not self.failed and (self._due or self._going):
                now = time.monotonic() - self._began
                if self._due and self._due[0][0] <= now:
                    at, _, name, lines = heapq.heappop(self._due)
                    self._going += 1
                    self.latest = max(self.latest, now - at)
                    return name, lines
                self._lock.wait(self._due[0][0] - now if self._due else None)
            self._lock.notify_all()
            return None

    def _put_back(self, name: str, lines: list[dict[str, Any]]) -> None:
        with self._lock:
            self._going -= 1
            if lines:
                heapq.heappush(self._due, (lines[0]["at"], next(self._order), name, lines))
            self._lock.notify()
            if not lines and not self._due:
                self._lock.notify_all()


def main() -> None:
    task = json.loads(sys.stdin.readline())
    django.setup()
    from config.lab.chat import guarded, naive
    from config.lab.chat.pace import Pace
    from config.lab.chat.plan import Voice, text_of
    from conflicts import actors
    from crm.models import ChannelAccount, User

    Pace.at_hand().set()
    way: Any = {"guarded": guarded, "naive": naive}[task["mode"]]
    account = ChannelAccount.objects.get()
    people = [actors.person(user) for user in User.objects.order_by("pk")]

    def say(name: str, line: dict[str, Any]) -> None:
        person = people[(ord(line["who"][:1] or "B") - ord("B")) % len(people)]
        number, text = line["number"], text_of(name, line["number"])
        match line["voice"]:
            case Voice.CUSTOMER:
                if line["given_back"]:
                    way.give_back(account, name, people[0])
                way.receive(account, name, number, text)
            case Voice.SCREEN:
                way.send(account, name, number, f"A person: {text}", person)
            case Voice.PHONE:
                way.echo(account, name, number, f"On the phone: {text}", person)
        _tell({"said": 1})

    stage = Stage(task["parts"], say)
    stage.run()
    _tell({"failed": stage.failed} if stage.failed else {"done": True, "latest": stage.latest})


def _tell(line: dict[str, Any]) -> None:
    """In one write: several threads speak."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
