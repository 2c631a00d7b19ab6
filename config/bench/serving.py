"""The real web server on a free port, on the bench's database."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType

from django.conf import settings
from django.db import connection

NOTHING: Mapping[str, str] = MappingProxyType({})


@contextmanager
def server(env: Mapping[str, str] = NOTHING, *, workers: int = 1) -> Iterator[int]:
    """Its port. `env` is laid over our own environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ours = {"VIGENTE_BENCH_DATABASE": str(connection.settings_dict["NAME"])}
    options = ["--interface", "asginl", "--port", str(port), "--workers", str(workers)]
    command = [sys.executable, "-m", "granian", *options, "config.bench.asgi:application"]
    process = subprocess.Popen(
        command,
        env={**os.environ, **ours, **env},
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError("The web server did not start.")
