"""Questions about processes and ways to end them, shared by both servers and the supervisor.

Guarantees that a zombie counts as dead and that a reused process id is never taken for ours:
a process is ours only if a word of its command line says so.
"""

import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

# What a server writes before its words: when, and which process.
STAMP = re.compile(r"^\S+ \S+ (\w+ )?\[\d+\] ")
LARGEST_LOG = 5_000_000  # bytes, then one older file is kept beside it

# Held so that a server that outlives its starter is not reported as a leak when the object is collected.
_started: list[subprocess.Popen[bytes]] = []


def start(command: list[str], *, log: Path, **options: Any) -> subprocess.Popen[bytes]:
    """A process in a session of its own: Ctrl-C in a terminal reaches us, and we decide what it gets to hear."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **options,
        )
    _started.append(process)
    return process


def open_log(path: Path) -> int:
    """Make room in the log if it has grown; the size from which new lines count."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return 0
    if size < LARGEST_LOG:
        return size
    path.replace(path.with_suffix(".log.old"))
    return 0


def find(pid: int, *, word: str) -> psutil.Process | None:
    """The living process of that id, if its command line holds the word."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process if any(word in part for part in process.cmdline()) else None
    except (psutil.NoSuchProcess, psutil.AccessDenied, ValueError):
        return None


def end(process: psutil.Process, *, steps: list[tuple[signal.Signals, float]]) -> bool:
    """Send each signal in turn and give it its seconds; true as soon as the process is gone."""
    for number, seconds in steps:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            break
        if until(lambda: gone(process), seconds=seconds):
            break
    reap()
    return gone(process)


def gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def reap() -> None:
    """Collect our own children that have ended."""
    _started[:] = [process for process in _started if process.poll() is None]


def until(condition: Callable[[], bool], *, seconds: float, every: float = 0.02) -> bool:
    """Ask until the answer is yes or the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True


def last_words(log: Path, *, of: tuple[str, ...], since: int) -> str:
    """The last line of the log, written after byte `since`, that names one of the words; for a message to a person."""
    try:
        with log.open("rb") as file:
            file.seek(since)
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    found = next((line for line in reversed(lines) if any(word in line for word in of)), "")
    return STAMP.sub("", found).strip()
