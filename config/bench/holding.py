"""What the protections cost: leases, the guard, and work in 1, 4 and 16 partitions."""

import threading
import time
import uuid
from collections.abc import Callable
from unittest.mock import patch

from django.conf import settings
from django.db import connection, connections, transaction

from config.bench import Figure
from conflicts import actors, bell, gate, jobs, leases, running
from conflicts.leases import Claim
from conflicts.models.job import Job
from conflicts.proposals import Proposal
from conflicts.refs import Ref

SECONDS = 2.0
TURNS = 5
WORKERS = 4
JOBS, SUBJECTS = 400, 100
BENCH = actors.agent("bench", "Bench")


def measure() -> list[Figure]:
    return [*_leases(), *_guard(), *_partitions()]


def _rate(act: Callable[[], object], *, seconds: float = SECONDS) -> float:
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        act()
        done += 1
    return done / (time.perf_counter() - start)


def _leases() -> list[Figure]:
    def once() -> None:
        grant = leases.acquire("bench", by=BENCH, unit="bench", reason="bench", seconds=30)
        assert isinstance(grant, leases.Grant)
        leases.release(grant)

    return [Figure(name="lease, acquire and release", value=_rate(once), unit="pairs/s")]


def _guard() -> list[Figure]:
    """The same UPDATE without triggers, with the guard, and with guard and history, in turns."""
    made = gate.commit(Proposal(action="opportunity.create", by=BENCH, params={"name": "Bench"}))
    assert made.subject is not None
    pk = made.subject.pk

    def update() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("UPDATE crm_opportunity SET version = version + 1, decision = 'x' WHERE id = %s", [pk])

    names = {"guard": "pgtrigger_guard_%", "history": "pgtrigger_%_update_%"}
    bare, guarded, whole = [], [], []
    for _ in range(TURNS):
        whole.append(_rate(update, seconds=0.5))
        with _silent(names["history"]):
            guarded.append(_rate(update, seconds=0.5))
            with _silent(names["guard"]):
                bare.append(_rate(update, seconds=0.5))
    with_guard = sorted(b / g for b, g in zip(bare, guarded, strict=True))[TURNS // 2]
    with_all = sorted(b / w for b, w in zip(bare, whole, strict=True))[TURNS // 2]
    return [
        Figure(name="update, guarded / bare", value=with_guard, unit="x the time"),
        Figure(name="update, guard and history / bare", value=with_all, unit="x the time"),
    ]


class _silent:  # noqa: N801 - reads as a word of the with statement
    """Triggers of the deals' table with names like `pattern` do not fire; only ever in the scratch database."""

    def __init__(self, pattern: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT tgname FROM pg_trigger WHERE tgrelid = 'crm_opportunity'::regclass AND tgname LIKE %s",
                [pattern],
            )
            self.names = [str(name) for (name,) in cursor.fetchall()]
        assert self.names, pattern

    def _set(self, how: str) -> None:
        with connection.cursor() as cursor:
            for name in self.names:
                cursor.execute(f"ALTER TABLE crm_opportunity {how} TRIGGER {connection.ops.quote_name(name)}")

    def __enter__(self) -> None:
        self._set("DISABLE")

    def __exit__(self, *error: object) -> None:
        self._set("ENABLE")


def _partitions() -> list[Figure]:
    """Jobs that do nothing, so that only claiming, order and noting are measured; four threads take from all."""
    jobs.register("bench", _nothing)
    figures = []
    before = settings.VIGENTE_PARTITIONS
    try:
        for count in (1, 4, 16):
            settings.VIGENTE_PARTITIONS = count
            figures.append(Figure(name=f"work, {count} partitions", value=_throughput(count), unit="jobs/s"))
    finally:
        settings.VIGENTE_PARTITIONS = before
    return figures


def _nothing(job: Job, claim: Claim) -> None:
    return None


def _throughput(count: int) -> float:
    run = uuid.uuid4().hex
    with patch.object(bell, "ring", lambda *args, **more: None):
        for number in range(JOBS):
            jobs.enqueue("bench", f"{run}:{number}", Ref("crm.opportunity", number % SUBJECTS + 1), by=BENCH)
    start = time.perf_counter()
    threads = [threading.Thread(target=_work, args=(range(first % count, count, WORKERS),)) for first in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    left = Job.objects.filter(key__startswith=run, state="queued").count()
    return (JOBS - left) / seconds


def _work(mine: range) -> None:
    try:
        for partition in mine:
            while running.run_next(partition):
                pass
    finally:
        connections.close_all()
