"""A PostgreSQL of the lab's own, with a copy of the database at hand, that a race may stop and kill.

Guarantees that the server which the settings name is never stopped: only this one is, and what is asked of "the
database" between begin and end of the block goes to it, also by processes that are started there.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode

from django.db import connection, connections

from config.embedded import Problem, account, postgres, processes
from config.embedded.homes import Home

KILL = [(signal.SIGKILL, 10.0)]
WAIT = 60


def missing() -> str:
    """What it takes and is not there; empty if nothing."""
    try:
        there = (postgres.binaries() / "bin" / "pg_dump").exists()
    except Problem as problem:
        return str(problem)
    return "" if there else "There is no `pg_dump` beside the embedded PostgreSQL."


class OwnDatabase:
    def __init__(self) -> None:
        place = Path(tempfile.mkdtemp(prefix="vigente-race-"))
        place.chmod(0o755)  # under root, PostgreSQL's own user has to pass
        self._home = Home(place)
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._home.prepare()
        postgres.start(self._home, say=_nobody_listens)
        self._copy()
        self._before = dict(connection.settings_dict)
        self._switch(
            NAME=postgres.DATABASE, USER=postgres.USER, HOST=str(self._home.postgres_sockets), PORT="5432", PASSWORD=""
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._switch(**self._before)
        postgres.stop(self._home)
        postgres.erase(self._home)
        for path in (self._home.sockets, self._home.path):
            shutil.rmtree(path, ignore_errors=True)

    def restart(self, *, crash: bool) -> None:
        """`crash`: as a power cut of its process, -9, and it recovers; else as for an update, sessions are ended."""
        if crash:
            server = postgres.postmaster(self._data)
            assert server is not None
            processes.end(server, steps=KILL)
        else:
            postgres.stop(self._home)
        postgres.start(self._home, say=_nobody_listens)
        connections.close_all()  # ours are as dead as everybody's

    @property
    def _data(self) -> Path:
        return account.seat(self._home, binaries=postgres.binaries()).data

    def _copy(self) -> None:
        tools = postgres.binaries() / "bin"
        db = connection.settings_dict
        source = _address(db["NAME"], db["USER"], db["HOST"], db["PORT"] or 5432)
        target = _address(postgres.DATABASE, postgres.USER, str(self._home.postgres_sockets), 5432)
        env = {**os.environ, "PGPASSWORD": db["PASSWORD"] or ""}
        dump = subprocess.run(
            [str(tools / "pg_dump"), "--no-owner", "--no-privileges", source],
            capture_output=True,
            env=env,
            timeout=WAIT,
            check=True,
        )
        subprocess.run(
            [str(tools / "psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", target],
            input=dump.stdout,
            capture_output=True,
            timeout=WAIT,
            check=True,
        )

    def _switch(self, **settings: Any) -> None:
        connections.close_all()
        connection.settings_dict.update(settings)


def _nobody_listens(line: str) -> None:
    return None


def _address(name: str, user: str, host: str, port: object) -> str:
    return f"postgres://{quote(user or '')}@:{port}/{quote(name)}?{urlencode({'host': host})}"
