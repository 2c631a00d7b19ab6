"""The schedule rings the sweep's bell, on the agents' own queue; a doubled message does no harm."""

import pytest

from agents import tasks
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
    tasks.sweep()

    assert Recommendation.objects.count() == 1
    assert SweepRun.objects.filter(finished_at__isnull=False).count() == 2
