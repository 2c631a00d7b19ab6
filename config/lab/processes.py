"""Workers as processes of the lab's own, that it can stop, wake and kill, on the scratch database.

Guarantees that signals go only to processes that were started here, each in a session of its own, and that none
outlives the lab, however that ends. Talks to `config/lab/worker.py` in lines of JSON.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from types import MappingProxyType, TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode

import psutil
from django.conf import settings
from django.db import connection

from config.embedded.homes import PROJECT
from config.lab.crew import WAIT, Stuck


def address(*, host: str = "", port: int = 0) -> str:
    """DATABASE_URL of the database at hand, or of the same one behind another door."""
    db = connection.settings_dict
    where = urlencode({"host": host or db["HOST"]})
    who = quote(db["USER"] or "") + (f":{quote(db['PASSWORD'])}" if db["PASSWORD"] else "")
    return f"postgres://{who}@:{port or db['PORT'] or 5432}/{quote(db['NAME'])}?{where}"


NONE: Mapping[str, str] = MappingProxyType({})


def environment(more: Mapping[str, str] = NONE) -> dict[str, str]:
    ours = {
        "DATABASE_URL": address(),
        "SECRET_KEY": settings.SECRET_KEY,
        "REDIS_URL": "unix:///nobody/redis.sock",  # what is done here is told to nobody
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "LOG_LEVEL": "CRITICAL",
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, **ours, **more}


class Process:
    """A child in a session of its own, that ends when we do."""

    talks = False

    def __init__(self, words: list[str], *, before: tuple[str, ...] = (), env: Mapping[str, str] = NONE) -> None:
        """`before` is what the program is started with (`faketime -f +1h`)."""
        command = [sys.executable, "-m", "config.tied", str(os.getpid()), *before, *words]
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with its process
        pipe = subprocess.PIPE if self.talks else subprocess.DEVNULL
        self._child = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment(env),
            stdin=pipe,
            stdout=pipe,
            stderr=self._words,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, number)

    def last_words(self) -> str:
        """Of what it said to nobody in particular, the end."""
        self._words.seek(0)
        return " ".join(self._words.read().split()[-40:])

    def stop(self) -> None:
        """It stands still and notices nothing."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        self._signal(signal.SIGCONT)

    def ask_to_end(self) -> None:
        """As a supervisor does first: SIGTERM, to the program itself."""
        if self._child.poll() is None:
            self._child.terminate()

    def ended(self, *, seconds: float) -> bool:
        """By itself, within that time."""
        try:
            self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def pid(self) -> int:
        return self._child.pid

    def kill_children(self) -> int:
        """-9, to the processes it has made; itself lives on. How many there were."""
        children = psutil.Process(self._child.pid).children()
        for child in children:
            child.kill()
        return len(children)

    def kill(self) -> None:
        """-9, with all its children."""
        self._signal(signal.SIGKILL)
        self._child.wait(WAIT)
        for pipe in (self._child.stdin, self._child.stdout, self._words):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # what it never read


class Worker(Process):
    """A `config.lab.worker`: takes one task at a time, and stands at each named point until it is told to go on."""

    talks = True

    def __init__(self, *, before: tuple[str, ...] = (), env: Mapping[str, str] = NONE) -> None:
        super().__init__([sys.executable, "-m", "config.lab.worker"], before=before, env=env)
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._listen, name="worker's lines", daemon=True).start()

    def begin(self, role: str, **task: Any) -> None:
        """Without waiting for anything."""
        self._say({"role": role, **task})

    def go(self) -> None:
        self._say({})

    def hear(self) -> Mapping[str, Any]:
        """The next thing it says: the point at which it stands, or its result. Raises Stuck."""
        try:
            line = self._lines.get(timeout=WAIT)
        except Empty:
            raise Stuck(f"A worker said nothing for {WAIT:.0f} seconds.") from None
        if not line:
            raise RuntimeError(f"A worker has ended: {self.last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise RuntimeError(f"A worker failed: {answer['failed']}")
        return answer

    def until(self, point: str) -> None:
        """Until it stands at that point."""
        heard = self.hear()
        if heard.get("at") != point:
            raise RuntimeError(f"A worker should stand at {point!r} and says {heard}.")

    def result(self) -> Mapping[str, Any]:
        """On to the end, past every point."""
        while "at" in (heard := self.hear()):
            self.go()
        return heard

    def do(self, role: str, **task: Any) -> Mapping[str, Any]:
        self.begin(role, **task)
        return self.result()

    def _say(self, line: Mapping[str, Any]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(line) + "\n")
        self._child.stdin.flush()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        try:
            for line in self._child.stdout:
                self._lines.put(line)
        except ValueError:
            pass  # it was killed, and its pipe closed
        self._lines.put("")
