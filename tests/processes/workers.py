"""Real workers, each in a process group of its own, which the test that started them may kill, stop and wake."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil

from config.embedded.homes import PROJECT
from config.embedded.processes import until
from conflicts import partitions

PATIENCE = 45.0
"""Seconds within which everything that was lost is found and done: the product's promise."""


class Worker:
    def __init__(
        self,
        name: str,
        *,
        place: Path,
        concurrency: int = 1,
        queues: str = "",
        before: tuple[str, ...] = (),
        **more: str,
    ) -> None:
        """`before` is what the program is started with (`faketime -f +1h`); `more` goes into its environment."""
        self.log = place / f"{name}.log"
        queues = queues or ",".join(partitions.queues())
        options = ["--hostname", f"{name}@test", "--queues", queues, "--loglevel", "INFO"]
        options += ["--concurrency", str(concurrency), "--without-gossip", "--without-mingle", "--without-heartbeat"]
        options += ["--include", "tests.processes.work"]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [*before, sys.executable, "-m", "celery", "-A", "config.celery", "worker", *options],
                cwd=PROJECT,
                env={
                    **os.environ,
                    "DJANGO_SETTINGS_MODULE": "tests.settings",
                    "VIGENTE_TEST_PLACE": str(place),
                    **more,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ready(self) -> "Worker":
        assert until(lambda: " ready." in self.said() or self.process.poll() is not None, seconds=60), self.said()
        assert self.process.poll() is None, self.said()
        return self

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def send(self, number: signal.Signals) -> None:
        """To the whole group: the worker and the processes of its pool."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.process.wait(30)

    def kill_child(self) -> None:
        """Only the process that does the work; the worker itself lives on."""
        for child in psutil.Process(self.process.pid).children():
            child.kill()

    def end(self) -> None:
        try:
            self.send(signal.SIGCONT)
            self.kill()
        except ProcessLookupError:
            self.process.wait(30)


def promptly(condition: Callable[[], bool], *, times: int = 1) -> bool:
    """Within the promise; `times` where the same thing has to be found and made up for so many times."""
    return until(condition, seconds=PATIENCE * times, every=0.05)
