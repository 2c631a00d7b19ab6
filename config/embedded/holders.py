"""Who uses the embedded servers: the first holder starts them, the last one stops them.

Each holder keeps a shared lock on `users.lock` for as long as it lives; the kernel lets go of it however it ends.
Starting and stopping happen under the exclusive `start.lock`, so two first holders start one set of servers, and nobody
joins while the last one is stopping them. Next in the flow: `config/embedded/postgres.py` and `redis.py`.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from config.embedded.homes import Home, reason
from config.embedded.problem import Problem

PATIENCE = 90.0  # seconds; a first start with initdb on a slow disk takes some 10


@contextmanager
def holding(home: Home, *, start: Callable[[bool], None], stop: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """`start` is told whether nobody else was here: then whatever runs is a leftover."""
    users = open_lock(home.path / "users.lock")
    try:
        with alone(home):
            first = free(users)
            take(users, fcntl.LOCK_SH)
            try:
                start(first)
            except BaseException:
                if free(users):
                    stop()
                raise

        def ensure() -> None:
            with alone(home):
                start(False)

        try:
            yield ensure
        finally:
            with alone(home):
                if free(users):
                    stop()
    finally:
        let_go(users)


@contextmanager
def alone(home: Home) -> Iterator[None]:
    lock = open_lock(home.path / "start.lock")
    try:
        take(lock, fcntl.LOCK_EX)
        yield
    finally:
        let_go(lock)


def free(users: int) -> bool:
    """Whether no other holder is left. Only under `start.lock`: turning a shared lock exclusive is two steps."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def nobody(home: Home) -> bool:
    users = open_lock(home.path / "users.lock")
    try:
        with alone(home):
            return free(users)
    finally:
        let_go(users)


def let_go(lock: int) -> None:
    """Unlock by name, not by closing: a forked child may share the descriptor and would keep the lock alive."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)


def open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Problem(f"{path} cannot be opened: {reason(error)}.") from None


def take(lock: int, kind: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Problem("Another process has been starting or stopping the servers for too long.") from None
            time.sleep(0.03)
        except OSError as error:
            raise Problem(f"VIGENTE_HOME lies on a disk without file locks: {reason(error)}.") from None
