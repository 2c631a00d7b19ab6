"""The schedule rings the sweep's bell, on the agents' own queue; a doubled message does no harm."""

import datetime as dt

import pytest
from django.conf import settings
from django.db.models import F

from agents import tasks
from agents.loading import database_now
from agents.models import Recommendation, SweepRun
from config.celery import app
from tests import cast

pytestmark = pytest.mark.django_db


def test_the_schedule_calls_the_sweep_on_the_queue_of_the_agents() -> None:
    entry = app.conf.beat_schedule["sweep"]

    assert entry["task"] == tasks.sweep.name
    assert entry["options"]["queue"] == "agents"
    assert "args" not in entry, "a message carries no facts: the rows do"


def test_a_message_that_comes_twice_leaves_one_suggestion() -> None:
    cast.deal()

    tasks.sweep()
    time_passes(dt.timedelta(seconds=settings.VIGENTE_SWEEP_SECONDS))
    tasks.sweep()

    assert Recommendation.objects.count() == 1
    assert SweepRun.objects.filter(finished_at__isnull=False).count() == 2


def test_messages_that_have_piled_up_bring_one_sweep() -> None:
    for _ in range(5):
        tasks.sweep()
    assert SweepRun.objects.count() == 1


def test_a_sweep_that_was_dated_ahead_does_not_stop_the_next() -> None:
    SweepRun.objects.create(started_at=database_now() + dt.timedelta(hours=1))
    tasks.sweep()
    assert SweepRun.objects.count() == 2


def time_passes(by: dt.timedelta) -> None:
    SweepRun.objects.update(started_at=F("started_at") - by)
