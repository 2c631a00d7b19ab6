"""A second home beside the test run's own, and a way to use it from other processes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config import embedded
from config.embedded.homes import PROJECT, Home
from config.environment import Environment
from tests.settings import PREFIX

# Holds the servers, says so, and lets go when its input closes.
HOLDER = """
import sys
from config import embedded
with embedded.servers(say=lambda line: print(line, flush=True)):
    print("holding", flush=True)
    sys.stdin.read()
print("let go", flush=True)
"""


def values(home: Path) -> dict[str, str]:
    return {"VIGENTE_HOME": str(home), "VIGENTE_EMBEDDED_FAST": "yes", "DATABASE_URL": "", "REDIS_URL": ""}


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Short enough for a socket and open to PostgreSQL's own user, which pytest's own directories are not."""
    path = Path(os.environ["VIGENTE_HOME"]).with_name(f"{PREFIX}{os.getpid()}-{time.monotonic_ns():x}")
    yield Home(path, fast=True)
    assert embedded.erase(path)


@pytest.fixture
def env(place: Home) -> Environment:
    return Environment(values(place.path))


class Holder:
    """Another process that holds the servers of a home."""

    def __init__(self, home: Path, **more: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER],
            cwd=PROJECT,
            env={**os.environ, **values(home), **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_until_holding(self) -> "Holder":
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())
            if line.strip() == "holding":
                return self
        raise AssertionError(self.lines)

    def let_go(self) -> None:
        self.process.communicate(timeout=30)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=30)


@pytest.fixture
def holder(place: Home) -> Iterator[Callable[[], Holder]]:
    started: list[Holder] = []

    def start() -> Holder:
        started.append(Holder(place.path))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


def manage(*words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """A command as a person would call it, on the settings of the product."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
