"""`manage.py run`: everything a person needs to try Vigente, in one process tree that ends with Ctrl-C.

Servers, migrations, a sample workspace in an empty database, then web, worker and schedule under a supervisor.
A real installation starts the same programs under its own supervisor; README.md says how.
Next in the flow: `config/supervisor.py`.
"""

import fcntl
import http.client
import io
import os
import signal
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor

from config import embedded, environment
from config.embedded.homes import Home
from config.supervisor import Child, Supervisor, end_left_over
from conflicts import partitions
from crm import sample

HOST = "127.0.0.1"


class Command(BaseCommand):
    help = "Start everything: servers, web, worker and schedule. Stop with Ctrl-C."
    requires_system_checks = ()  # asked below: what a person can mend at once comes first

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all-lines", action="store_true", help="show every line of every process")

    def handle(self, *args: Any, **options: Any) -> None:
        env = embedded.load()
        port = env.integer("VIGENTE_PORT", default=8000, least=1, most=65535)
        workers = env.integer("VIGENTE_WORKERS", default=min(2, os.cpu_count() or 1), least=1, most=64)
        home = embedded.home(env)
        home.prepare()
        with only_one(home, port=port):
            roster = home.path / "children"
            end_left_over(roster, say=say)
            check_port(port)
            self.check()
            children = [web(port, workers), schedule(), *work()]
            supervisor = Supervisor(children, log=home.log, roster=roster, say=say, loud=options["all_lines"])
            supervisor.listen()
            with embedded.servers(env, say=say) as look_after:
                announce_servers(env)
                prepare_database()
                try:
                    supervisor.start()
                    supervisor.wait_for(children[0], ready=lambda: answers(port), seconds=60)
                    if not supervisor.asked_to_stop.is_set():
                        welcome(home, port)
                    supervisor.watch(also=look_after)
                    say("Stopping ...")
                finally:
                    supervisor.stop()
        say("Stopped.")


def say(line: str) -> None:
    try:
        print(line, flush=True)
    except OSError:
        pass  # the terminal is gone; the end has been asked for


@contextmanager
def only_one(home: Home, *, port: int) -> Iterator[None]:
    """One `run` per home: two schedules and two webs on one set of data help nobody."""
    with (home.path / "run.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise embedded.Problem(f"Vigente already runs from {home.path}: {file.read().strip()}.") from None
        file.truncate(0)
        file.write(f"process {os.getpid()}, http://{HOST}:{port}/")
        file.flush()
        yield


def check_port(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError:
            raise embedded.Problem(f"Port {port} is not for ordinary users; VIGENTE_PORT names another.") from None
        except OSError:
            other = port + 1 if port < 65535 else 8000
            raise embedded.Problem(
                f"Port {port} is taken by another program; try VIGENTE_PORT={other} make run."
            ) from None


def answers(port: int) -> bool:
    """Whether a page comes back, whatever it says: an open port alone may still be loading the code."""
    line = http.client.HTTPConnection(HOST, port, timeout=20)
    try:
        line.request("HEAD", "/")
        return line.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        line.close()


def announce_servers(env: environment.Environment) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            version = str(cursor.fetchone()[0]).split()[0]
    except DatabaseError as error:
        raise embedded.Problem(f"The database does not answer: {first_line(error)}") from None
    say(f"PostgreSQL {version} ready{'' if embedded.wanted(env) else ' (from DATABASE_URL)'}")
    try:
        with redis.Redis.from_url(embedded.redis_url(env), socket_timeout=5) as queue:
            queue.ping()
    except redis.RedisError as error:
        raise embedded.Problem(f"Redis does not answer: {first_line(error)}") from None
    say(f"Redis ready{' (from REDIS_URL)' if env.has('REDIS_URL') else ''}")


def prepare_database() -> None:
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            say("Preparing the database ...")
            call_command("migrate", interactive=False, verbosity=0)
        if settings.VIGENTE_SAMPLE and not get_user_model()._default_manager.exists():
            say("Loading the sample workspace ...")
            call_command("load_sample")
            # So that the first page already has suggestions on it.
            call_command("sweep", verbosity=0, stdout=io.StringIO())
    except DatabaseError as error:
        raise embedded.Problem(f"The database could not be prepared: {first_line(error)}") from None
    finally:
        connections.close_all()


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def welcome(home: Home, port: int) -> None:
    say(f"\nVigente runs at http://{HOST}:{port}/")
    for role, username, password in logins():
        say(f"  {role:<14} {username} / {password}")
    if nobody():
        say("Nobody can sign in yet: .venv/bin/python manage.py createsuperuser makes the first account.")
    say(f"Ctrl-C stops it. What each process writes is in {home.log}.\n")


def nobody() -> bool:
    found = get_user_model()._default_manager.exists()
    connections.close_all()
    return not found


def logins() -> list[tuple[str, str, str]]:
    """Those of the sample workspace, as far as they are in this database."""
    users = get_user_model()._default_manager.values_list(get_user_model().USERNAME_FIELD, flat=True)
    known = set(users.filter(**{f"{get_user_model().USERNAME_FIELD}__in": [entry[1] for entry in sample.LOGINS]}))
    connections.close_all()
    return [(role, username, password) for role, username, password in sample.LOGINS if username in known]


def web(port: int, workers: int) -> Child:
    options = ["--interface", "asginl", "--host", HOST, "--port", str(port), "--workers", str(workers), "--no-ws"]
    options += ["--workers-kill-timeout", "3", "--access-log", "config.asgi:application"]
    return Child("web", [sys.executable, "-m", "granian", *options], ending=[(signal.SIGTERM, 6.0)])


def work() -> list[Child]:
    """Two, so that an agent which waits for a slow answer never keeps the work of the partitions waiting."""
    return [
        worker("worker", ["default", "agents"]),
        worker("partitions", partitions.queues()),
    ]


def worker(name: str, queues: list[str]) -> Child:
    options = ["worker", "--hostname", f"{name}@%h", "--queues", ",".join(queues)]
    # Two processes at least: while one is stuck with a subject, the other goes on with the rest of the partition.
    options += [
        "--concurrency",
        "2",
        "--loglevel",
        "INFO",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    ]
    # Warm (finish the task at hand), then cold; a message that was not finished is delivered again at the next start.
    return Child(name, celery(options), ending=[(signal.SIGTERM, 10.0), (signal.SIGQUIT, 5.0)])


def schedule() -> Child:
    return Child("schedule", celery(["beat", "--loglevel", "INFO"]), ending=[(signal.SIGTERM, 5.0)])


def celery(options: list[str]) -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "config.celery", *options]
