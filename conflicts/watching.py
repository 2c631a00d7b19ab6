"""The watch: finds what nobody rang for and what a dead worker left behind.

Guarantees, in a thread of every worker and every few seconds, that due work is rung for and a claim that has ended is
taken up, whatever became of messages, schedule, broker and other workers. Any number may watch at once; each step is a
compare-and-swap. It begins with a round at once: after a restart there is most to find.
"""

import datetime as dt
import logging
import threading
from dataclasses import dataclass

from django.conf import settings
from django.db import connection, connections, transaction
from django.db.models import Q

from conflicts import bell, escalation, leases, partitions, running
from conflicts.clock import ClockTimestamp
from conflicts.jobs import tell
from conflicts.leases import Claim
from conflicts.models.job import Job, JobEventKind, JobState

logger = logging.getLogger(__name__)

BELLS = 3
"""Per partition and round: each bell brings a worker that goes on until nothing is left, and more would pile up."""

AGAIN_AFTER = 10.0
"""Seconds until the watch rings for the same job once more, however many of its rounds come at once."""

AT_ONCE = 200
"""Ended claims taken up in one round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    recovered: int
    """Jobs whose worker was gone, queued again."""
    reviewed: int
    """Those among them that had used up their attempts: a person decides."""
    rung: int
    escalated: int = 0
    """Conflicts that nobody decided in time, gone one step up."""


def watch() -> Round:
    ended = _ended()
    reviewed = [_take_up(pk) for pk in ended]
    rung = sum(_ring(partition) for partition in range(partitions.count()))
    return Round(
        recovered=reviewed.count(False), reviewed=reviewed.count(True), rung=rung, escalated=escalation.escalate_due()
    )


def _ring(partition: int) -> int:
    return sum(
        bell.ring(job.kind, job.key, slot=job.slot)
        for job in running.due(partition, limit=BELLS)
        if _first_to_ring(job)
    )


def _first_to_ring(job: Job) -> bool:
    lately = ClockTimestamp() - dt.timedelta(seconds=AGAIN_AFTER)
    silent = Job.objects.filter(Q(rung_at=None) | Q(rung_at__lte=lately), pk=job.pk, state=JobState.QUEUED)
    return silent.update(rung_at=ClockTimestamp()) == 1


def _ended() -> list[int]:
    """Running jobs whose claim is no longer in force: run out, broken, or taken over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT j.id FROM conflicts_job j WHERE j.state = 'running' AND NOT EXISTS ("
            " SELECT FROM conflicts_lease l WHERE l.key = CASE WHEN j.subject = '' THEN 'job:' || j.id"
            " ELSE 'work:' || j.subject END AND l.holder = j.holder AND l.fence = j.fence"
            " AND l.expires_at > clock_timestamp()) ORDER BY j.id LIMIT %s",
            [AT_ONCE],
        )
        return [pk for (pk,) in cursor.fetchall()]


def _take_up(pk: int) -> bool | None:
    """Queue it again; True if a person has to decide instead, None if there was nothing to take up after all."""
    with transaction.atomic():
        job = Job.objects.select_for_update(skip_locked=True).filter(pk=pk, state=JobState.RUNNING).first()
        if job is None:
            return None
        if leases.in_force([Claim(key=job.lane, holder=job.holder, fence=job.fence or 0)]):
            return None  # it has beaten meanwhile
        if job.attempts >= running.MOST_ATTEMPTS:
            error = "Its worker went silent."
            Job.objects.filter(pk=pk).update(state=JobState.REVIEW, error=error, finished_at=ClockTimestamp())
            return running.hand_over(job, error)
        Job.objects.filter(pk=pk).update(state=JobState.QUEUED, due_at=ClockTimestamp())
        tell(job.key, JobEventKind.RECOVERED, fence=job.fence, attempt=job.attempts)
    return False


# ---- as a thread of a worker

_stop = threading.Event()
_thread: threading.Thread | None = None


def keep_watch() -> None:
    """Start, once per process: a worker is ready again after each loss of its broker."""
    global _thread
    if _thread is None or not _thread.is_alive():
        _stop.clear()
        _thread = threading.Thread(target=_rounds, name="watch", daemon=True)
        _thread.start()


def stop_watching() -> None:
    _stop.set()


def _rounds() -> None:
    while True:
        try:
            watch()
        except Exception as error:  # the database is away, for instance: the next round sees
            logger.warning("A round of the watch failed: %s", type(error).__name__)
        finally:
            connections.close_all()  # none is open when the worker forks
        if _stop.wait(float(settings.VIGENTE_WATCH_SECONDS)):
            return
