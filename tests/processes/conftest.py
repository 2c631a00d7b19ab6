"""A directory, and workers that end with the test, whatever became of it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from config import embedded
from conflicts import bell
from tests.processes.workers import Worker


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    """The test run's own Redis, empty before and after; the test may stop it."""
    with embedded_redis() as client:
        client.flushall()
        monkeypatch.setattr(bell, "_quiet_until", 0.0)
        yield client
        if not embedded.redis.running(embedded.home()):
            embedded.redis.start(embedded.home(), say=lambda line: None)
        client.flushall()


def embedded_redis() -> Redis:
    return Redis(unix_socket_path=str(embedded.home().redis_socket))


@pytest.fixture
def start(place: Path, broker: Redis) -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def one(name: str, **more: Any) -> Worker:
        started.append(Worker(name, place=place, **more))
        return started[-1]

    yield one
    for worker in started:
        worker.end()
    if os.environ.get("VIGENTE_TEST_LOUD"):
        for worker in started:
            print(worker.said())
