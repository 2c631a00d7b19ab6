"""The embedded servers are shared by all processes of a home, stopped by the last, and recovered after a kill."""

import os
import signal
from collections.abc import Callable

import psutil
import pytest

from config import embedded
from config.embedded import postgres, processes, redis
from config.embedded.homes import Home
from config.environment import Environment
from tests.config.conftest import Holder, manage, values

pytestmark = pytest.mark.process


def pids(home: Home) -> tuple[int, int]:
    (queue,) = redis.left_over(home)
    server = postgres.postmaster(data(home))
    assert server is not None
    return server.pid, queue.pid


def data(home: Home) -> "os.PathLike[str]":
    return postgres.account.seat(home, binaries=postgres.binaries()).data  # type: ignore[no-any-return]


def stopped(home: Home) -> bool:
    return not postgres.running(home) and not redis.running(home)


def test_the_last_holder_stops_what_the_first_one_started(
    place: Home, env: Environment, holder: Callable[[], Holder]
) -> None:
    first = holder().wait_until_holding()
    before = pids(place)
    with embedded.servers(env):
        assert pids(place) == before
        first.let_go()
        assert pids(place) == before  # we are still here
        with postgres.connect(place, postgres.DATABASE) as connection:
            assert connection.execute("SELECT current_setting('listen_addresses')").fetchone() == ("",)
    assert stopped(place)


def test_a_command_has_the_servers_for_its_own_time(place: Home) -> None:
    done = manage("showmigrations", "auth", "--skip-checks", **values(place.path))
    assert done.returncode == 0, done.stderr
    assert "[ ] 0001_initial" in done.stdout
    assert stopped(place)
    assert postgres.postmaster(data(place)) is None


def test_two_starts_at_the_same_instant_start_one_set(place: Home, holder: Callable[[], Holder]) -> None:
    for one in [holder() for _ in range(3)]:
        one.wait_until_holding()
    assert len(redis.left_over(place)) == 1
    assert len([p for p in psutil.process_iter() if runs(p, str(data(place)))]) == 1


def runs(process: psutil.Process, path: str) -> bool:
    try:
        return path in process.cmdline()
    except psutil.Error:
        return False


def test_servers_of_a_killed_holder_are_used_again(place: Home, env: Environment, holder: Callable[[], Holder]) -> None:
    holder().wait_until_holding().kill()
    before = pids(place)
    said: list[str] = []
    with embedded.servers(env, say=said.append):
        assert pids(place) == before
    assert said == [f"{name} still runs from an earlier start; using it." for name in ("PostgreSQL", "Redis")]
    assert stopped(place)


def test_killed_servers_are_started_again(place: Home, env: Environment, holder: Callable[[], Holder]) -> None:
    holder().wait_until_holding().kill()
    for pid in pids(place):
        os.kill(pid, signal.SIGKILL)
    with embedded.servers(env) as look_after:
        assert postgres.running(place)
        assert redis.running(place)
        for pid in pids(place):
            os.kill(pid, signal.SIGKILL)
        assert processes.until(lambda: stopped(place), seconds=10)
        look_after()  # what the supervisor does every few seconds
        assert postgres.running(place)
        assert redis.running(place)


def test_a_stale_pid_file_that_names_a_stranger_is_no_obstacle(place: Home, env: Environment) -> None:
    with embedded.servers(env):
        pid_file = os.path.join(data(place), "postmaster.pid")
        with open(pid_file) as file:
            lines = file.read().splitlines()
    with open(pid_file, "w") as file:
        file.write("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    with embedded.servers(env):
        assert postgres.running(place)


def test_an_unreadable_snapshot_of_redis_is_put_aside(place: Home, env: Environment) -> None:
    place.prepare()
    (place.redis / "dump.rdb").write_bytes(b"REDIS9999 from the future")
    said: list[str] = []
    with embedded.servers(env, say=said.append):
        assert redis.running(place)
    assert said == ["Redis could not read its last snapshot, which was put aside; the facts are in the database."]
    assert (place.redis / "dump.unreadable").exists()


def test_data_of_another_version_gets_one_line(place: Home, env: Environment) -> None:
    place.prepare()
    place.postgres.mkdir()
    (place.postgres / "PG_VERSION").write_text("12\n")
    with (
        pytest.raises(embedded.Problem, match="was made by PostgreSQL 12, this is 18; move it away to begin anew"),
        embedded.servers(env),
    ):
        pass
