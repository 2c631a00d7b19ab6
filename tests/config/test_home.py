"""The home of the embedded servers: a short socket path, one secret, one line when it cannot be used."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.embedded import homes
from config.embedded.homes import LONGEST_NAME, LONGEST_SOCKET, PROJECT, Home
from config.embedded.problem import Problem
from tests.config.conftest import manage


def test_a_relative_home_counts_from_the_project() -> None:
    assert homes.at("").path == PROJECT / ".vigente"
    assert homes.at("elsewhere").path == PROJECT / "elsewhere"


def test_a_long_path_gets_short_sockets_of_its_own(tmp_path: Path) -> None:
    one, other = Home(tmp_path / ("long" * 40)), Home(tmp_path / ("tall" * 40))
    assert one.sockets != other.sockets
    assert len(os.fsencode(one.sockets)) + LONGEST_NAME <= LONGEST_SOCKET
    assert Home(Path("/srv/v")).sockets == Path("/srv/v/sockets")


def test_the_secret_is_made_once_and_kept_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with ThreadPoolExecutor(8) as threads:
        secrets = set(threads.map(lambda _: home.secret(), range(16)))
    assert len(secrets) == 1
    assert len(secrets.pop()) >= 50
    assert stat.S_IMODE((home.path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in home.path.iterdir()] == ["secret_key"]


def test_an_empty_secret_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch()
    with pytest.raises(Problem, match="holds no usable key"):
        Home(tmp_path).secret()


@pytest.mark.process
def test_a_home_that_cannot_be_made_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = manage("migrate", VIGENTE_HOME=str(tmp_path / "file" / "home"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "cannot be made: not a directory. VIGENTE_HOME may name another place." in done.stderr
