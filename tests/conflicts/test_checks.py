"""The start is refused when work may take longer than what carries it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from celery import current_app

from conflicts import checks, jobs
from conflicts.jobs import Kind
from tests.conflicts.chores import nothing


def codes() -> set[str | None]:
    return {message.id for message in checks.work_ends_in_time(None)}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A kind that takes so long, as if somebody had put it past `register`."""

    def put(seconds: float) -> None:
        monkeypatch.setitem(
            jobs._KINDS, "test.long", Kind(name="test.long", handler=nothing, seconds=seconds, schema=1)
        )

    return put


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The task's times of the product, free to be changed."""
    names = ("task_soft_time_limit", "task_time_limit", "broker_transport_options")
    found = SimpleNamespace(**{name: getattr(current_app.conf, name) for name in names})
    monkeypatch.setattr(checks, "current_app", SimpleNamespace(conf=found))
    return found


def test_what_is_registered_ends_in_time() -> None:
    assert codes() == set()


def test_a_kind_that_outlives_its_claim_stops_the_start(known: Callable[[float], None]) -> None:
    known(jobs.LONGEST_RUN + 1)
    assert "conflicts.E005" in codes()


def test_a_kind_that_outlives_its_task_stops_the_start(known: Callable[[float], None], task: SimpleNamespace) -> None:
    known(60)
    task.task_soft_time_limit = 80
    assert codes() == {"conflicts.E006"}


@pytest.mark.parametrize("seconds", [0.1, 601])
def test_a_claim_that_no_heartbeat_can_keep_stops_the_start(seconds: float, settings: Any) -> None:
    settings.VIGENTE_CLAIM_SECONDS = seconds
    assert codes() == {"conflicts.E007"}


def test_a_message_that_comes_back_before_its_task_ends_stops_the_start(task: SimpleNamespace) -> None:
    task.task_time_limit = 1000
    assert codes() == {"conflicts.E008"}


@pytest.mark.parametrize(
    ("turn", "timeout", "found"),
    [
        (90, 30, []),
        (76, 30, []),
        (75, 30, ["conflicts.E009"]),  # two answers and the rest would fill it to the last second
        (90, 40, ["conflicts.E009"]),
        (601, 30, ["conflicts.E009"]),
    ],
)
def test_a_turn_that_ends_before_its_model_stops_the_start(
    turn: int, timeout: int, found: list[str], settings: Any
) -> None:
    settings.VIGENTE_TURN_SECONDS, settings.VIGENTE_MODEL_TIMEOUT = turn, timeout
    assert [message.id for message in checks.a_turn_outlasts_its_model(None)] == found


@pytest.mark.parametrize("name", ["model", "api:mailer"])
def test_a_limit_that_can_be_read_starts(name: str, settings: Any) -> None:
    settings.VIGENTE_LIMITS = {name: "5/minute"}
    assert checks.limits_can_be_read(None) == []


@pytest.mark.parametrize(
    ("name", "rate"), [("model", "often"), ("model", "5"), ("mdoel", "5/minute"), ("", "5/minute")]
)
def test_a_limit_that_says_nothing_stops_the_start(name: str, rate: str, settings: Any) -> None:
    settings.VIGENTE_LIMITS = {name: rate}
    assert [message.id for message in checks.limits_can_be_read(None)] == ["conflicts.E014"]
