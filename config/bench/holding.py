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
JOBS, SUBJECTS = 400, 100
WAITS = 0.02
"""Seconds that a job of the second kind waits, as for an answer over the network."""
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
    """The same UPDATE without triggers, with the guard, and with guard and history, in turns.

    Once as it is sent, each in a transaction of its own, where most of the time is waiting for the commit; and once a
    hundred in one transaction, which shows what the triggers themselves cost.
    """
    made = gate.commit(Proposal(action="opportunity.create", by=BENCH, params={"name": "Bench"}))
    assert made.subject is not None
    pk = made.subject.pk

    def update(times: int = 1) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            for _ in range(times):
                cursor.execute("UPDATE crm_opportunity SET version = version + 1, decision = 'x' WHERE id = %s", [pk])

    return [
        *_ratios("update", update),
        *_ratios("100 updates in one transaction", lambda: update(100)),
    ]


def _ratios(name: str, act: Callable[[], object]) -> list[Figure]:
    bare, guarded, whole = [], [], []
    for _ in range(TURNS):
        whole.append(_rate(act, seconds=0.5))
        with _silent("pgtrigger_%_update_%"):
            guarded.append(_rate(act, seconds=0.5))
            with _silent("pgtrigger_guard_%"):
                bare.append(_rate(act, seconds=0.5))
    with_guard = sorted(b / g for b, g in zip(bare, guarded, strict=True))[TURNS // 2]
    with_all = sorted(b / w for b, w in zip(bare, whole, strict=True))[TURNS // 2]
    return [
        Figure(name=f"{name}, guarded / bare", value=with_guard, unit="x the time"),
        Figure(name=f"{name}, guard and history / bare", value=with_all, unit="x the time"),
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
    """One consumer per partition, as workers are added with them, and two kinds of work.

    Empty work costs what claiming, order and noting cost. One consumer spends that time waiting for the disk at each
    commit; several wait side by side, until the one interpreter of this bench is busy (the note says how busy) and more
    partitions bring nothing more. Work that waits for somebody outside, as deliveries and agents do, is what
    partitions are for: its rate grows with them until it meets that of empty work.
    """
    jobs.register("bench", _nothing)
    jobs.register("bench.waits", _waits)
    subjects = _deals()
    figures, least = [], 0.0
    before = settings.VIGENTE_PARTITIONS
    try:
        for kind, words, number in (("bench", "empty", JOBS), ("bench.waits", f"waiting {WAITS * 1000:.0f} ms", 200)):
            for count in (1, 4, 16):
                settings.VIGENTE_PARTITIONS = count
                rate, python = _throughput(kind, number, subjects, consumers=count)
                least = rate if count == 1 else least
                figures.append(
                    Figure(
                        name=f"work {words}, {count} partition{'s' if count > 1 else ''}",
                        value=rate,
                        unit="jobs/s",
                        note=f"{rate / least:.1f} x one partition; {python:.0%} of a core is Python here",
                    )
                )
    finally:
        settings.VIGENTE_PARTITIONS = before
    return figures


def _deals() -> list[Ref]:
    wishes = [
        Proposal(action="opportunity.create", by=BENCH, params={"name": f"Bench {number}"})
        for number in range(SUBJECTS)
    ]
    return [outcome.subject for outcome in gate.commit_many(wishes) if outcome.subject]


def _nothing(job: Job, claim: Claim) -> None:
    return None


def _waits(job: Job, claim: Claim) -> None:
    time.sleep(WAITS)


def _throughput(kind: str, number: int, subjects: list[Ref], *, consumers: int) -> tuple[float, float]:
    """Jobs per second, and the part of that time in which this process itself was at work."""
    run = uuid.uuid4().hex
    with patch.object(bell, "ring", lambda *args, **more: None):
        for place in range(number):
            jobs.enqueue(kind, f"{run}:{place}", subjects[place % len(subjects)], by=BENCH)
    start, worked = time.perf_counter(), time.process_time()
    threads = [threading.Thread(target=_consume, args=(partition,)) for partition in range(consumers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    left = Job.objects.filter(key__startswith=run).exclude(state="done").count()
    assert not left, left
    return number / seconds, (time.process_time() - worked) / seconds


def _consume(partition: int) -> None:
    try:
        while running.run_next(partition):
            pass
    finally:
        connections.close_all()
