"""Jobs on real threads: one at a time per subject, in order, once each, and nobody held up by a stuck neighbour."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction

from config.embedded.processes import until
from conflicts import jobs, leases, partitions, running, watching
from conflicts.jobs import Cancelled
from conflicts.leases import Claim
from conflicts.models import Job, Lease
from conflicts.refs import Ref
from crm.models import Activity
from tests import cast
from tests.conflicts.chores import chore, doing, now, partition, told
from tests.conflicts.test_jobs import log
from tests.races.threads import WAIT, Meeting, together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_messages(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """These workers are threads that look by themselves; one partition, so that all of them meet in it."""
    monkeypatch.setattr(current_app, "send_task", lambda *args, **how: None)
    settings.VIGENTE_PARTITIONS = 1


def worker(ended: Callable[[], bool]) -> Callable[[], int]:
    """Takes work until `ended`; how many jobs it did."""

    def work() -> int:
        count = 0
        while not ended():
            count += running.run_next(0) is not None
        return count

    return work


def all_ended() -> bool:
    return not Job.objects.filter(state__in=("queued", "running")).exists()


class Witness:
    """Sees each job begin and end, and whether another one of its subject was under way."""

    def __init__(self) -> None:
        self.order: dict[str, list[str]] = {}
        self.under_way: Counter[str] = Counter()
        self.overlaps = 0
        self._lock = threading.Lock()

    def __call__(self, job: Job, claim: Claim) -> None:
        with self._lock:
            self.overlaps += self.under_way[job.subject] > 0
            self.under_way[job.subject] += 1
            self.order.setdefault(job.subject, []).append(job.key)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.002)")  # long enough for the others to look
        with self._lock:
            self.under_way[job.subject] -= 1


def test_three_workers_keep_the_order_of_every_subject_and_do_each_job_once() -> None:
    deals = [Ref.of(cast.deal(f"Deal {n}")) for n in range(5)]
    for number in range(12):
        for deal in deals:
            chore(f"{deal.pk}:{number:02}", deal)
    witness = Witness()
    with doing(witness):
        counts = together(*[worker(all_ended)] * 3)
    assert sum(counts) == 60
    assert witness.overlaps == 0
    assert {subject: order == sorted(order) for subject, order in witness.order.items()} == {
        str(deal): True for deal in deals
    }
    assert {len(order) for order in witness.order.values()} == {12}


def test_enqueuing_at_once_leaves_neither_gap_nor_twin_and_the_number_is_the_order_of_the_commits() -> None:
    deal = Ref.of(cast.deal())
    commits: list[str] = []

    def enqueue(key: str) -> Callable[[], int]:
        def call() -> int:
            with transaction.atomic():
                job = chore(key, deal)
                commits.append(key)  # nobody else of the subject is between here and our commit
            return job.sequence

        return call

    numbers = together(*[enqueue(f"k{n}") for n in range(16)])
    assert sorted(numbers) == list(range(1, 17))
    assert list(Job.objects.order_by("sequence").values_list("key", flat=True)) == commits


def test_the_same_key_enqueued_at_once_is_one_job() -> None:
    deal = Ref.of(cast.deal())
    found = together(*[lambda: chore("once", deal).pk] * 8)
    assert len(set(found)) == 1
    assert Job.objects.count() == 1


def test_two_who_look_past_each_other_are_parted_by_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """One claims the only job that is due; before it commits, an earlier one falls due and the other takes that."""
    deal = Ref.of(cast.deal())
    early, late = chore("early", deal, after=3600), chore("late", deal)
    meeting = Meeting(2)
    acquire = leases.acquire
    claimed: list[str] = []

    def slow(*args: Any, **how: Any) -> Any:
        grant = acquire(*args, **how)
        if how["unit"] == "late":
            meeting.wait()  # the other one may look now, and finds our job still queued, and locked
            assert until(waits_for_a_lock, seconds=WAIT)
        return grant

    def waits_for_a_lock() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(cursor.fetchone()[0])

    def first() -> None:
        held = running.claim(0)
        assert held is not None
        claimed.append(held.job.key)

    def second() -> None:
        meeting.wait()
        Job.objects.filter(pk=early.pk).update(due_at="2000-01-01T00:00Z")
        held = running.claim(0)
        claimed.extend([held.job.key] if held else [])

    monkeypatch.setattr(leases, "acquire", slow)
    together(first, second)
    assert claimed == ["late"]
    assert (now(early).state, now(late).state) == ("queued", "running")
    assert Lease.objects.get(key=late.lane).fence == 1


def test_a_stuck_subject_holds_nobody_else_of_its_partition() -> None:
    stuck, others = Ref.of(cast.deal("Stuck")), [Ref.of(cast.deal(f"Other {n}")) for n in range(4)]
    blocked, release = threading.Event(), threading.Event()
    first = chore("stuck", stuck)
    for number in range(3):
        chore(f"behind:{number}", stuck)
        for deal in others:
            chore(f"{deal.pk}:{number}", deal)

    def do(job: Job, claim: Claim) -> None:
        if job.key == "stuck":
            blocked.set()
            assert release.wait(WAIT)

    def others_ended() -> bool:
        return not Job.objects.filter(state="queued").exclude(subject=str(stuck)).exists()

    def one() -> None:
        running.run_next(0)

    def another() -> list[str]:
        """Goes on in the same partition while the first one is stuck."""
        assert blocked.wait(WAIT)
        worker(others_ended)()
        states = Job.objects.values_list("state", flat=True)
        found = [
            sorted(states.exclude(subject=str(stuck))),
            sorted(states.filter(subject=str(stuck))),
        ]
        release.set()
        return [state for group in found for state in group]

    with doing(do):
        _, seen = together(one, another)
    assert seen == ["done"] * 12 + ["queued"] * 3 + ["running"]
    assert now(first).state == "done"


def test_a_heartbeat_keeps_the_work_while_its_holder_lives(settings: Any) -> None:
    settings.VIGENTE_CLAIM_SECONDS = 0.3
    job = chore("long", Ref.of(cast.deal()))

    def long(job: Job, claim: Claim) -> None:
        was = Lease.objects.get(key=job.lane).expires_at
        assert until(lambda: clock() > was, seconds=WAIT)  # beyond the end of the first claim
        assert watching.watch().recovered == 0

    with doing(long):
        running.run_next(0)
    assert (now(job).state, now(job).attempts, told(job)) == ("done", 1, [])


def test_a_stuck_holder_loses_the_work_though_it_lives(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.VIGENTE_CLAIM_SECONDS = 0.3
    kind = jobs._KINDS["test.chore"]
    monkeypatch.setitem(
        jobs._KINDS, "test.chore", jobs.Kind(name=kind.name, handler=kind.handler, seconds=0.5, schema=1)
    )
    job = chore("stuck", Ref.of(cast.deal()))

    def stuck(job: Job, claim: Claim) -> None:
        assert until(lambda: watching.watch().recovered == 1, seconds=WAIT)

    with doing(stuck):
        running.run_next(0)
    assert (now(job).state, told(job)) == ("queued", ["recovered", "lost"])


def clock() -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def test_of_a_cancel_and_a_claim_at_once_one_wins_and_both_know() -> None:
    deal = cast.deal()
    ends: list[tuple[str, str]] = []
    for number in range(20):
        job = chore(f"k{number}", Ref.of(deal))

        def write(job: Job, claim: Claim) -> None:
            log(deal, claim, job.key)

        def cancel(job: Job = job) -> Cancelled:
            return jobs.cancel(job.key, by=cast.SYSTEM)

        with doing(write):
            _, how = together(lambda: running.run_next(0), cancel)
        state = now(job).state
        written = Activity.objects.filter(text=job.key).count()
        ends.append((how.value, state))
        assert state == ("done" if how is Cancelled.TOO_LATE else "cancelled")
        assert written == 0 if how is Cancelled.BEFORE else written <= 1
    assert {state for _, state in ends} <= {"done", "cancelled"}


def test_two_watches_at_once_take_up_each_job_once() -> None:
    held = []
    for number in range(6):
        chore(f"k{number}", Ref.of(cast.deal(f"Deal {number}")))
        held.append(running.claim(0))
    Lease.objects.update(expires_at="2000-01-01T00:00Z")
    rounds = together(watching.watch, watching.watch, watching.watch)
    assert sum(found.recovered for found in rounds) == 6
    assert {now(one.job).attempts for one in held if one} == {1}


@pytest.fixture
def _several(settings: Any) -> None:
    settings.VIGENTE_PARTITIONS = 4


@pytest.mark.usefixtures("_several")
def test_each_partition_is_served_by_itself() -> None:
    jobs_ = [chore(f"k{n}", Ref.of(cast.deal(f"Deal {n}"))) for n in range(12)]
    numbers = {partition(job) for job in jobs_}
    assert len(numbers) > 1
    together(*[lambda number=number: running.drain(number, seconds=WAIT) for number in numbers])
    assert {now(job).state for job in jobs_} == {"done"}
    assert partitions.count() == 4
