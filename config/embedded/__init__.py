"""Which PostgreSQL and which Redis: those that DATABASE_URL and REDIS_URL name, else embedded ones under VIGENTE_HOME.

Importing this, and asking for settings, starts nothing. `servers()` holds the embedded servers for as long as its block
runs: it finds those of another process or starts them, and whoever leaves last stops them.
Next in the flow: `manage.py`, which holds them around a command, and `config/management/commands/run.py`.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.embedded import addresses, holders, homes, postgres, redis
from config.embedded.homes import PROJECT, Home
from config.embedded.problem import Problem

__all__ = [
    "Problem",
    "broker_url",
    "database_settings",
    "erase",
    "home",
    "redis_url",
    "secret_key",
    "servers",
    "wanted",
]


def load() -> environment.Environment:
    return environment.load(PROJECT / ".env")


def home(env: environment.Environment | None = None) -> Home:
    env = env or load()
    return homes.at(env.text("VIGENTE_HOME"), fast=env.boolean("VIGENTE_EMBEDDED_FAST"))


def wanted(env: environment.Environment) -> bool:
    """Whether this installation keeps its facts in the embedded database, that is: whether it is for trying out."""
    return not env.has("DATABASE_URL")


def secret_key(env: environment.Environment | None = None) -> str:
    try:
        return home(env).secret()
    except Problem as problem:
        raise ImproperlyConfigured(str(problem)) from None


def database_settings(env: environment.Environment) -> dict[str, Any]:
    pool = env.integer("VIGENTE_DATABASE_POOL", default=0, least=0, most=100)
    if env.has("DATABASE_URL"):
        return addresses.database(env.text("DATABASE_URL"), pool=pool)
    sockets = str(home(env).postgres_sockets)
    return addresses.settings(name=postgres.DATABASE, user=postgres.USER, host=sockets, port="5432", pool=pool)


def redis_url(env: environment.Environment) -> str:
    """As redis-py and RedBeat want it."""
    if env.has("REDIS_URL"):
        return addresses.redis(env.text("REDIS_URL"))
    return f"unix://{home(env).redis_socket}"


def broker_url(url: str) -> str:
    """The same place as Celery's broker wants it."""
    return f"redis+socket://{url.removeprefix('unix://')}" if url.startswith("unix://") else url


@contextmanager
def servers(
    env: environment.Environment | None = None, *, say: Callable[[str], None] = lambda line: None
) -> Iterator[Callable[[], None]]:
    """The block gets a function that looks whether the servers still run and starts again what does not."""
    env = env or load()
    place = home(env)
    kinds = [postgres] if wanted(env) else []
    kinds += [] if env.has("REDIS_URL") else [redis]
    if not kinds:
        yield lambda: None
        return

    def start(first: bool) -> None:
        for kind in kinds:
            if kind.running(place):
                if first:
                    say(f"{kind.NAME} still runs from an earlier start; using it.")
                continue
            if not first:
                say(f"{kind.NAME} had stopped; starting it again.")
            kind.start(place, say=say)

    def stop() -> None:
        for kind in reversed(kinds):
            kind.stop(place)

    place.prepare()
    with holders.holding(place, start=start, stop=stop) as ensure:
        yield ensure


def erase(path: Path) -> bool:
    """Delete a home with its data, unless somebody uses it; servers that nobody uses any more are stopped first."""
    place = Home(path)
    try:
        if not holders.nobody(place):
            return False
        for kind in (redis, postgres):
            kind.stop(place)
        postgres.erase(place)
    except Problem:
        return False  # not ours
    for directory in (place.sockets, place.path):
        shutil.rmtree(directory, ignore_errors=True)
    return True
