"""`manage.py`: one line for a database that is away or was never prepared."""

import pytest

from config.embedded.homes import Home
from tests.config.conftest import manage, values

pytestmark = pytest.mark.process


def test_a_database_that_does_not_answer_gets_one_line() -> None:
    done = manage(
        "sweep", DATABASE_URL="postgres://a:secret@127.0.0.1:1/x", REDIS_URL="redis://127.0.0.1:1", SECRET_KEY="x"
    )
    assert done.returncode == 1
    assert done.stderr.startswith("The database does not answer: ")
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_a_database_that_was_never_prepared_gets_one_line(place: Home) -> None:
    done = manage("sweep", **values(place.path))
    assert done.returncode == 1
    assert done.stderr.endswith("Run manage.py migrate; `make run` does it by itself.\n")
    assert "Traceback" not in done.stderr
