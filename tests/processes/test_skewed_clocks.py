"""Workers whose clock is an hour off: work is done when the database says it is due; no bell is thrown away."""

import shutil
from pathlib import Path

import pytest
from redis import Redis

from agents.models import SweepRun
from config.celery import app
from conflicts.models import Job
from conflicts.refs import Ref
from tests import cast
from tests.processes.test_jobs_with_real_workers import Start, log, state, written
from tests.processes.workers import promptly

pytestmark = [
    pytest.mark.process,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not shutil.which("faketime"), reason="faketime is not installed"),
    pytest.mark.parametrize("off", ["+1h", "-1h"]),
]


@pytest.fixture
def start_off(start: Start, off: str) -> Start:
    still = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    return lambda name, **more: start(name, before=("faketime", "-f", off), **still, **more)


def test_work_is_done_when_the_database_says_so(start_off: Start, broker: Redis, place: Path) -> None:
    deals = [Ref.of(cast.deal(f"Deal {number}")) for number in range(3)]
    start_off("off").ready()
    log("in half an hour", deals[0], after=1800)
    log("now", deals[1])
    assert promptly(lambda: state("now") == "done")
    log("unrung", deals[2])
    broker.flushall()
    # Found by the watch or by its bell: either way the worker has looked over all that it takes for due.
    assert promptly(lambda: state("unrung") == "done")
    far = Job.objects.get(key="in half an hour")
    assert (far.state, far.attempts, written("in half an hour"), written("now")) == ("queued", 0, 0, 1)


def test_the_bell_of_a_sweep_is_heard(start_off: Start) -> None:
    """As the schedule sends it, options and all."""
    entry = app.conf.beat_schedule["sweep"]
    start_off("off", queues="agents").ready()
    app.send_task(entry["task"], **entry["options"])
    assert promptly(lambda: SweepRun.objects.exclude(finished_at=None).exists())
