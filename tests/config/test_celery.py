"""The broker's settings reach the broker, and a message lands in one queue only."""

import re

import pytest
from django.conf import settings
from kombu import Connection
from redis import Redis

from config.celery import QUEUES, VISIBILITY, app
from config.embedded.homes import PROJECT


@pytest.fixture
def line() -> "Redis":  # type: ignore[misc]
    client = Redis.from_url(settings.REDIS_URL)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


def test_a_lost_worker_loses_no_task() -> None:
    conf = app.conf
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost, conf.worker_prefetch_multiplier) == (True, True, 1)
    assert conf.task_soft_time_limit < conf.task_time_limit < VISIBILITY / 2
    assert conf.worker_cancel_long_running_tasks_on_connection_loss
    assert conf.worker_soft_shutdown_timeout == 60
    assert conf.worker_enable_soft_shutdown_on_idle
    assert conf.task_ignore_result
    assert conf.accept_content == ["json"]
    assert conf.redbeat_lock_timeout == 60
    assert not conf.task_always_eager


def test_the_options_reach_the_channel(line: "Redis") -> None:
    with app.connection_for_write() as connection, connection.channel() as channel:
        assert channel.visibility_timeout == VISIBILITY
        assert channel.unacked_restore_interval == settings.VIGENTE_RESTORE_SECONDS == 1
        assert channel.unacked_restore_throttle == 1
        assert channel.client.ping()
        made_with = channel.client.connection_pool.connection_kwargs
        assert made_with["socket_timeout"] == 15
        assert made_with["health_check_interval"] == 25
        assert made_with["path"] == settings.REDIS_URL.removeprefix("unix://")


@pytest.mark.parametrize("queue", QUEUES)
def test_a_message_lands_in_its_own_queue_only(line: "Redis", queue: str) -> None:
    with app.connection_for_write() as connection:
        declare(connection)
        app.send_task("agents.tasks.sweep", queue=queue, connection=connection)
    assert {name: line.llen(name) for name in QUEUES} == {name: int(name == queue) for name in QUEUES}


def test_a_message_without_a_queue_lands_in_the_default_one(line: "Redis") -> None:
    with app.connection_for_write() as connection:
        declare(connection)
        app.send_task("some.task", connection=connection)
    assert {name: line.llen(name) for name in QUEUES} == {name: int(name == "default") for name in QUEUES}


def test_an_unknown_queue_is_refused() -> None:
    from celery.exceptions import QueueNotFound

    with pytest.raises(QueueNotFound):
        app.send_task("some.task", queue="agnets")


def declare(connection: Connection) -> None:
    """As workers of both queues do."""
    for queue in app.amqp.queues.values():
        queue(connection.default_channel).declare()


def test_the_schedule_can_be_written_to_redis(line: "Redis") -> None:
    from redbeat import RedBeatScheduler
    from redbeat.schedulers import get_redis

    scheduler = RedBeatScheduler(app, lazy=False)
    try:
        entry = scheduler.Entry.from_key("vigente:beat:sweep", app=app)
        assert (entry.task, entry.options["queue"]) == ("agents.tasks.sweep", "agents")
        assert "expires" not in entry.options, "judged by a worker's clock"
        assert scheduler.max_interval == 10
    finally:
        get_redis(app).close()


def test_the_workers_that_the_readme_starts_take_from_every_queue() -> None:
    lines = re.findall(r"celery -A config\.celery worker -Q (\S+)", (PROJECT / "README.md").read_text())
    assert {queue for line in lines for queue in line.split(",")} == set(QUEUES)
