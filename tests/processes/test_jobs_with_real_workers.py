"""Real workers, killed and stopped in the middle of their work: all of it is done, each once, within 45 seconds."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from redis import Redis

from config import embedded
from conflicts import bell, jobs, partitions
from conflicts.models import Conflict, Job, JobEvent, LeaseEvent
from conflicts.refs import Ref
from crm.models import Activity
from tests import cast
from tests.processes import work
from tests.processes.workers import Worker, promptly

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]

Start = Callable[..., Worker]


def log(key: str, deal: Ref, *, after: float = 0.0, **payload: Any) -> Job:
    return jobs.enqueue(work.LOG, key, deal, payload, after=after)


def state(key: str) -> str:
    return Job.objects.get(key=key).state


def written(key: str) -> int:
    return Activity.objects.filter(text=key).count()


def all_done() -> bool:
    return not Job.objects.exclude(state="done").exists()


def file(place: Path, pattern: str) -> Callable[[], bool]:
    return lambda: any(place.glob(pattern))


THE_PRODUCTS_OWN = {
    "VIGENTE_CLAIM_SECONDS": "",
    "VIGENTE_WATCH_SECONDS": "",
    "VIGENTE_BACKOFF_SECONDS": "",
    "VIGENTE_RESTORE_SECONDS": "",
}
"""Settings: the defaults, under which the promise of 45 seconds is made; the other tests have shorter ones."""


@pytest.mark.parametrize("settings", [{}, THE_PRODUCTS_OWN], ids=["short", "as_installed"])
def test_a_worker_killed_in_the_middle_of_its_work(start: Start, place: Path, settings: dict[str, str]) -> None:
    deal = Ref.of(cast.deal())
    first = start("first", **settings).ready()
    log("held", deal, hold=True)
    assert promptly(file(place, "begun-1-*"))
    first.kill()
    (place / "go").touch()
    start("second", **settings)
    assert promptly(lambda: state("held") == "done")
    assert (written("held"), Job.objects.get(key="held").attempts) == (1, 2)
    assert JobEvent.objects.get().kind == "recovered"


def test_a_child_of_a_worker_killed_in_the_middle_of_its_work(start: Start, place: Path) -> None:
    """As the kernel does when memory runs out: the worker makes a new child and goes on."""
    deal = Ref.of(cast.deal())
    worker = start("only").ready()
    log("held", deal, hold=True)
    assert promptly(file(place, "begun-1-*"))
    worker.kill_child()
    (place / "go").touch()
    assert promptly(lambda: state("held") == "done")
    assert (written("held"), Job.objects.get(key="held").attempts) == (1, 2)


def test_a_stopped_worker_that_wakes_after_the_other_has_finished_writes_nothing(start: Start, place: Path) -> None:
    deal = Ref.of(cast.deal())
    zombie = start("zombie").ready()
    log("held", deal, hold=True)
    assert promptly(file(place, "begun-1-*"))
    zombie.send(signal.SIGSTOP)
    (place / "go").touch()
    start("other")
    assert promptly(lambda: state("held") == "done")
    version = deal.model._base_manager.get(pk=deal.pk).version
    Conflict.objects.all().delete()
    zombie.send(signal.SIGCONT)
    assert promptly(file(place, "wrote-1-*"))
    # By its key it would get the first answer, which is harmless; with another key it would be refused. See below.
    assert promptly(lambda: JobEvent.objects.filter(kind="lost").exists())
    assert (written("held"), deal.model._base_manager.get(pk=deal.pk).version) == (1, version)
    assert (state("held"), Job.objects.get(key="held").attempts) == ("done", 2)
    assert LeaseEvent.objects.filter(kind="taken_over").exists()


def test_a_zombies_other_writes_are_refused_by_its_token(start: Start, place: Path) -> None:
    """The same with a key of each attempt's own, so that only the fencing token stands between it and the deal."""
    deal = Ref.of(cast.deal())
    zombie = start("zombie").ready()
    log("held", deal, hold=True, key_per_attempt=True)
    assert promptly(file(place, "begun-1-*"))
    zombie.send(signal.SIGSTOP)
    (place / "go").touch()
    start("other")
    assert promptly(lambda: state("held") == "done")
    zombie.send(signal.SIGCONT)
    assert promptly(file(place, "wrote-1-*"))
    assert [path.name for path in sorted(place.glob("wrote-*"))] == ["wrote-1-refused", "wrote-2-applied"]
    assert written("held") == 1
    assert Conflict.objects.get().state == "lease_expired"


def test_one_that_kills_its_worker_stops_after_five(start: Start, place: Path) -> None:
    deal, other = Ref.of(cast.deal()), Ref.of(cast.deal("Other"))
    log("poison", deal, poison=True)
    log("behind", deal)
    log("elsewhere", other)
    start("only")
    assert promptly(lambda: state("poison") == "review" and state("behind") == "done", times=5)
    assert (Job.objects.get(key="poison").attempts, state("elsewhere")) == (5, "done")
    assert Conflict.objects.waiting().get().key == "poison"


def test_a_message_delivered_again_while_its_first_copy_runs(start: Start, place: Path) -> None:
    deal = Ref.of(cast.deal())
    start("pair", concurrency=2).ready()
    log("held", deal, hold=True)
    assert promptly(file(place, "begun-1-*"))
    before = Job.objects.get(key="held")  # a watching worker may have rung beside the first bell already
    assert bell.ring(work.LOG, "held", slot=before.slot)
    assert promptly(lambda: Job.objects.get(key="held").late_bells > before.late_bells)
    (place / "go").touch()
    assert promptly(lambda: state("held") == "done")
    assert (written("held"), Job.objects.get(key="held").attempts) == (1, 1)
    assert len(list(place.glob("begun-*"))) == 1


def test_a_message_that_never_came_is_made_up_for(start: Start, broker: Redis) -> None:
    """Committed but never queued: the broker had forgotten everything by the time that a worker came."""
    log("forgotten", Ref.of(cast.deal()))
    broker.flushall()
    start("only")
    assert promptly(lambda: state("forgotten") == "done")


def test_strange_messages_do_no_harm(start: Start, broker: Redis) -> None:
    start("only").ready()
    for args, kwargs in [
        ((work.LOG, "never was"), {}),
        ((work.LOG, "new", 1, 2), {"priority": "high"}),
        ((), {}),
        ((None, {"a": 1}), {"kind_of": ["x"]}),
    ]:
        current_app.send_task(partitions.WORK, args=args, kwargs=kwargs)
    log("after", Ref.of(cast.deal()))
    assert promptly(lambda: state("after") == "done")
    assert promptly(lambda: JobEvent.objects.filter(kind="unknown_message").count() == 4)
    assert JobEvent.objects.filter(kind="unknown_fields").count() == 2


def test_a_broker_flushed_and_restarted_and_a_worker_killed_in_the_middle_of_the_work(
    start: Start, broker: Redis
) -> None:
    """N items are under way when Redis forgets everything, goes away, and a worker dies: each is done, each once."""
    count = int(os.environ.get("VIGENTE_TEST_ITEMS", "200"))
    deals = [Ref.of(cast.deal(f"Deal {number}")) for number in range(10)]
    first = start("first", concurrency=2).ready()
    start("second").ready()
    keys = [f"item:{number}" for number in range(count)]
    for number, key in enumerate(keys):
        log(key, deals[number % len(deals)])
        if number == count // 2:
            assert promptly(lambda: Job.objects.filter(state="done").count() > count // 10)
            broker.flushall()
            embedded.redis.stop(embedded.home())
            first.kill()
    embedded.redis.start(embedded.home(), say=lambda line: None)
    start("third")
    assert promptly(all_done), Job.objects.exclude(state="done").values("key", "state", "attempts", "error")[:10]
    texts = list(Activity.objects.order_by("id").values_list("text", flat=True))
    assert sorted(texts) == sorted(keys)
    for deal in deals:
        of_deal = list(Activity.objects.filter(opportunity_id=deal.pk).order_by("id").values_list("text", flat=True))
        assert of_deal == sorted(of_deal, key=lambda key: int(key.partition(":")[2]))


def test_a_worker_asked_to_stop_finishes_what_it_has_begun(start: Start, place: Path) -> None:
    deal = Ref.of(cast.deal())
    worker = start("only").ready()
    log("held", deal, hold=True)
    assert promptly(file(place, "begun-1-*"))
    os.kill(worker.process.pid, signal.SIGTERM)
    assert promptly(lambda: "Warm shutdown" in worker.said())
    (place / "go").touch()
    assert worker.process.wait(60) == 0
    assert (state("held"), written("held"), Job.objects.get(key="held").attempts) == ("done", 1, 1)


def test_a_database_restarted_in_the_middle_of_the_work(start: Start, place: Path) -> None:
    deal = Ref.of(cast.deal())
    start("only").ready()
    log("held", deal, hold=True)
    assert promptly(file(place, "begun-1-*"))
    connection.close()
    embedded.postgres.stop(embedded.home())
    embedded.postgres.start(embedded.home(), say=lambda line: None)
    (place / "go").touch()
    assert promptly(lambda: state("held") == "done")
    assert written("held") == 1


def test_work_is_taken_while_the_broker_is_away(start: Start, broker: Redis) -> None:
    embedded.redis.stop(embedded.home())
    log("unrung", Ref.of(cast.deal()))
    assert state("unrung") == "queued"
    embedded.redis.start(embedded.home(), say=lambda line: None)
    start("only")
    assert promptly(lambda: state("unrung") == "done")
