"""Pruning: takes away what was kept only so that nothing is done twice, when nobody can ask for it any more.

Guarantees that what had an effect outside keeps its idempotency key for ever; that no fencing token and no number of a
subject's jobs ever begins anew; that nothing goes which unfinished work may still ask for; and that it disturbs nobody:
small transactions, locks in the order of everything here (job, lease), rows in use are passed over.

    ledger entries   older than the day, not `outbound`, written before the oldest unfinished work first began: its next
                     attempt may come with keys that its earlier ones have used
    jobs             ended before the day; of a subject all but the last, whose number the next one follows
    leases           `job:<pk>` of those jobs, together with them. The key of a job is never given to another one, so
                     nobody can acquire that lease again, and a holder from of old is refused: there is no row.
                     `conflict:<pk>`, a reviewer's claim, of conflicts that were settled before the day: what is settled
                     stays so, and its number is nobody else's. Every other lease protects a thing that comes back, and
                     stays, for its token lives in it.
    events           older than the day: those of leases, and those of jobs that are gone
"""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from django.db import connection, transaction
from django.db.models import CharField, Exists, Min, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from conflicts import claims
from conflicts.clock import ClockTimestamp
from conflicts.models import Conflict, Job, JobEvent, JobState, Lease, LeaseEvent, LedgerEntry

BATCH = 1000
LEAST_DAYS = 2
"""The API promises an answer under the same key for a day; whoever asks in its last minute is answered too."""
MOST_DAYS = 36_500

ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    ledger_entries: int = 0
    jobs: int = 0
    leases: int = 0
    lease_events: int = 0
    job_events: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        return Pruned(**{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)})


type Progress = Callable[[Pruned], None]


def prune(*, days: int, dry_run: bool = False, progress: Progress | None = None) -> Pruned:
    """Raises ValueError for days out of bounds. With `dry_run` only counts; an end in the middle loses nothing."""
    if not LEAST_DAYS <= days <= MOST_DAYS:
        raise ValueError(f"Between {LEAST_DAYS} and {MOST_DAYS} days, not {days}.")
    before = _clock() - dt.timedelta(days=days)
    total = Pruned()
    # Jobs before their events, which go only when their job has gone.
    for step in (_ledger, _jobs, _claims, _lease_events, _job_events):
        for part in step(before, dry_run):
            total += part
            if progress:
                progress(part)
    return total


def _clock() -> dt.datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]  # type: ignore[no-any-return]


def _ledger(before: dt.datetime, dry_run: bool) -> Iterator[Pruned]:
    unfinished = Job.objects.exclude(state__in=ENDED).exclude(started_at=None)
    oldest = unfinished.aggregate(oldest=Min("created_at"))["oldest"]
    until = min(before, oldest or before)
    rows = LedgerEntry.objects.filter(outbound=False, written_at__lt=until)
    return (Pruned(ledger_entries=count) for count in _each(rows, dry_run))


def _jobs(before: dt.datetime, dry_run: bool) -> Iterator[Pruned]:
    later = Job.objects.filter(subject=OuterRef("subject"), sequence__gt=OuterRef("sequence"))
    rows = Job.objects.filter(Q(subject="") | Exists(later), state__in=ENDED, finished_at__lt=before)
    for pks in _batches(rows):
        free = Lease.objects.filter(key__in=[f"job:{pk}" for pk in pks]).exclude(
            ~Q(holder=""), expires_at__gt=ClockTimestamp()
        )
        if dry_run:
            yield Pruned(jobs=len(pks), leases=free.count())
        else:
            leases = free.delete()[0]
            yield Pruned(jobs=Job.objects.filter(pk__in=pks).delete()[0], leases=leases)


def _claims(before: dt.datetime, dry_run: bool) -> Iterator[Pruned]:
    named = Concat(Value(claims.PREFIX), Cast("pk", CharField()))
    settled = Conflict.objects.filter(closed_at__lt=before).annotate(claim=named).filter(claim=OuterRef("key"))
    rows = Lease.objects.filter(Exists(settled), key__startswith=claims.PREFIX).exclude(
        ~Q(holder=""), expires_at__gt=ClockTimestamp()
    )
    return (Pruned(leases=count) for count in _each(rows, dry_run))


def _lease_events(before: dt.datetime, dry_run: bool) -> Iterator[Pruned]:
    rows = LeaseEvent.objects.filter(at__lt=before)
    return (Pruned(lease_events=count) for count in _each(rows, dry_run))


def _job_events(before: dt.datetime, dry_run: bool) -> Iterator[Pruned]:
    rows = JobEvent.objects.filter(~Exists(Job.objects.filter(key=OuterRef("key"))), at__lt=before)
    return (Pruned(job_events=count) for count in _each(rows, dry_run))


def _each(rows: QuerySet[Any], dry_run: bool) -> Iterator[int]:
    for pks in _batches(rows):
        yield len(pks) if dry_run else rows.model._base_manager.filter(pk__in=pks).delete()[0]


def _batches(rows: QuerySet[Any]) -> Iterator[list[int]]:
    """Keys of the rows, locked, a transaction for each batch; what is done with it is done before the next is asked."""
    last = 0
    while True:
        with transaction.atomic():
            found = rows.filter(pk__gt=last).order_by("pk").select_for_update(skip_locked=True, of=("self",))
            pks = list(found.values_list("pk", flat=True)[:BATCH])
            if not pks:
                return
            yield pks
        last = pks[-1]
