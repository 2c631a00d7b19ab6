"""A broker of the lab's own with Celery workers on it, both to be killed at will.

Guarantees that the Redis and the workers of an installation on the same machine are never touched.
"""

import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import redis as client

from config.embedded import processes, redis
from config.embedded.homes import Home
from config.lab.processes import Process, Worker
from conflicts import partitions

QUICK = {"VIGENTE_CLAIM_SECONDS": "2", "VIGENTE_WATCH_SECONDS": "1", "VIGENTE_RESTORE_SECONDS": "1"}
KILL = [(signal.SIGKILL, 10.0)]
CELERY = [sys.executable, "-m", "celery", "-A", "config.lab.reserved"]


class Broker:
    """A Redis of the lab's own."""

    def __init__(self) -> None:
        self._home = Home(Path(tempfile.mkdtemp(prefix="vigente-race-")), fast=True)
        self.url = f"unix://{self._home.redis_socket}"

    def __enter__(self) -> Self:
        self._home.prepare()
        redis.start(self._home, say=lambda line: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        redis.stop(self._home)
        for path in (self._home.sockets, self._home.path):
            shutil.rmtree(path, ignore_errors=True)

    def restart_redis(self) -> None:
        """-9, and back with nothing in it."""
        for process in redis.left_over(self._home):
            processes.end(process, steps=KILL)
        redis.start(self._home, say=lambda line: None)

    def flush_redis(self) -> None:
        """It forgets everything and goes on."""
        with self.redis() as broker:
            broker.flushall()

    def nothing_queued(self, *queues: str) -> bool:
        with self.redis() as broker:
            return not any(broker.llen(queue) for queue in queues or ("default",)) and not broker.hlen("unacked")

    def redis(self) -> "client.Redis":
        return client.Redis.from_url(self.url)

    @property
    def place(self) -> Path:
        return self._home.path


class Floor(Broker):
    """With workers for what the races enqueue, and somebody who enqueues it."""

    def __init__(self, **env: str) -> None:
        super().__init__()
        self._env = {**QUICK, "REDIS_URL": self.url, **env}

    def __enter__(self) -> Self:
        super().__enter__()
        self.caller = Worker(env=self._env)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.caller.kill()
        super().__exit__(kind, error, trace)

    def celery(self, *, concurrency: int = 2) -> Process:
        """A worker for all queues."""
        queues = ",".join([*partitions.queues(), "default"])
        words = [*CELERY, "worker", "-c", str(concurrency), "-Q", queues, "-l", "critical"]
        return Process([*words, "--without-gossip", "--without-mingle"], env=self._env)

    def schedule(self, *options: str) -> Process:
        """A scheduler; which kind, the options say."""
        return Process([*CELERY, "beat", "-l", "critical", *options], env=self._env)
