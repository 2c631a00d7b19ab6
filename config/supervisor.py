"""Keeps the processes of `manage.py run` alive, and ends them in order.

Guarantees that a child that dies is started again (with a growing pause and a line that says so), that stopping takes
seconds even when a child does not listen, and that nothing of a killed supervisor is alive after the next start.
A child's lines go whole into a file under VIGENTE_HOME/log; the console shows what a person has to know.
Next in the flow: `config/tied.py`, then the child itself.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from config.embedded import processes
from config.embedded.homes import PROJECT
from config.embedded.problem import Problem

LONGEST_PAUSE = 30.0  # seconds between two starts of a child that keeps dying
HEALTHY_AFTER = 60.0  # seconds of life after which earlier deaths are forgotten
NEWS = re.compile(r"WARNING|ERROR|CRITICAL|Traceback|^\w*(Error|Exception)\b")


@dataclass
class Child:
    name: str
    command: list[str]
    # What it hears at the end: signals with the seconds each may take. Then its whole process group is killed.
    ending: list[tuple[signal.Signals, float]]
    process: subprocess.Popen[str] | None = None
    deaths: int = 0
    started: float = 0.0
    due: float = 0.0
    lines: list[str] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Supervisor:
    def __init__(
        self, children: list[Child], *, log: Path, roster: Path, say: Callable[[str], None], loud: bool
    ) -> None:
        self.children = children
        self.log = log
        self.roster = roster
        self.say = say
        self.loud = loud
        self.asked_to_stop = threading.Event()
        self.impatient = threading.Event()

    def listen(self) -> None:
        """Ctrl-C, a closed terminal and `kill` ask for the end; asked twice, it is at once."""

        def stop(*_: object) -> None:
            (self.impatient if self.asked_to_stop.is_set() else self.asked_to_stop).set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, stop)

    def start(self) -> None:
        for child in self.children:
            self.launch(child)

    def launch(self, child: Child) -> None:
        """Only from the main thread: the kernel ties a child to the thread that made it."""
        processes.open_log(self.log / f"{child.name}.log")
        child.process = subprocess.Popen(
            [sys.executable, "-m", "config.tied", str(os.getpid()), *child.command],
            cwd=PROJECT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        child.started = time.monotonic()
        child.lines.clear()
        threading.Thread(target=self.read, args=(child, child.process), daemon=True).start()
        self.write_roster()

    def read(self, child: Child, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout, (self.log / f"{child.name}.log").open("a", buffering=1) as file:
            news = False
            for line in process.stdout:
                try:
                    file.write(line)
                except OSError:
                    pass  # a full disk must not stop the child at its next line
                child.lines[:] = [*child.lines[-19:], line.rstrip()]
                # A traceback's indented lines belong to the line that announced it.
                news = bool(NEWS.search(line)) or (news and line.startswith((" ", "\t")))
                if self.loud or news:
                    self.say(f"{child.name} | {line.rstrip()}")

    def watch(self, *, also: Callable[[], None], every: float = 0.5) -> None:
        """Until somebody asks for the end. `also` is called now and then: it looks after the servers."""
        rounds = 0
        while not self.asked_to_stop.wait(every):
            rounds += 1
            for child in self.children:
                self.revive(child)
            if rounds % 6 == 0:
                also()

    def revive(self, child: Child) -> None:
        now = time.monotonic()
        if child.alive:
            if now - child.started > HEALTHY_AFTER:
                child.deaths = 0
            return
        if child.process is not None:
            pause = 0.0 if child.deaths == 0 else min(2.0 ** (child.deaths - 1), LONGEST_PAUSE)
            child.deaths += 1
            child.due = now + pause
            when = f"in {pause:.0f} s" if pause else "now"
            self.say(f"{child.name} ended ({ending(child.process.returncode)}); starting it again {when}.")
            kill_group(child.process.pid)  # its own children must not work on without it
            child.process = None
        if now >= child.due:
            self.launch(child)

    def wait_for(self, child: Child, *, ready: Callable[[], bool], seconds: float) -> None:
        """The first start is watched: a child that cannot come up at all is the person's to mend, not ours to retry."""
        deadline = time.monotonic() + seconds
        while child.alive and time.monotonic() < deadline:
            if self.asked_to_stop.is_set() or ready():
                return
            time.sleep(0.05)
        if self.asked_to_stop.is_set():
            return
        words = next((line for line in reversed(child.lines) if line.strip()), "it said nothing")
        raise Problem(f"{child.name} did not start: {words} (see {self.log / child.name}.log)")

    def stop(self) -> None:
        """The children in their order; those that share a place in it end side by side."""
        threads = [threading.Thread(target=self.end, args=(child,)) for child in self.children]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.roster.unlink(missing_ok=True)

    def end(self, child: Child) -> None:
        process = child.process
        if process is None:
            return
        for number, seconds in child.ending:
            if process.poll() is not None:
                break
            process.send_signal(number)
            processes.until(lambda: process.poll() is not None or self.impatient.is_set(), seconds=seconds)
            if self.impatient.is_set():
                break
        if process.poll() is None:
            self.say(f"{child.name} does not end; killing it.")
        kill_group(process.pid)
        process.wait()

    def write_roster(self) -> None:
        lines = []
        for child in self.children:
            if child.process is not None and child.alive:
                try:
                    lines.append(f"{child.process.pid} {psutil.Process(child.process.pid).create_time()}\n")
                except psutil.NoSuchProcess:
                    continue
        self.roster.write_text("".join(lines))


def end_left_over(roster: Path, *, say: Callable[[str], None]) -> None:
    """Children of a supervisor that was killed: they are on their way out, or are helped along."""
    try:
        entries = [line.split() for line in roster.read_text().splitlines()]
    except OSError:
        return
    for pid, created in (entry for entry in entries if len(entry) == 2):
        try:
            process = psutil.Process(int(pid))
            if abs(process.create_time() - float(created)) > 0.01:  # the number has gone to somebody else
                continue
        except (psutil.NoSuchProcess, ValueError):
            continue
        if not processes.gone(process):
            say(f"Ending a process left over from an earlier start ({pid}).")
            processes.end(process, steps=[(signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)])
            kill_group(int(pid))
    roster.unlink(missing_ok=True)


def kill_group(pid: int) -> None:
    """Each child leads a session of its own, so its group is itself and what it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
