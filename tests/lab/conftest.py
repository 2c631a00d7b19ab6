"""What the tests of the lab share: nobody hears of what is done in them, and a short way to call `manage.py`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from config.embedded.homes import PROJECT
from config.lab import scratch

type Manage = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def unheard() -> Iterator[None]:
    with scratch.unheard():
        yield


@pytest.fixture
def manage() -> Manage:
    """On the test run's own servers: their addresses are in the environment."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, env=os.environ)

    return call
