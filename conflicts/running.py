"""Running jobs: claim, work, note the end; each step a compare-and-swap: whoever comes too late changes nothing.

Guarantees that of one subject one job runs at a time, in order; that a job whose worker died is neither lost nor done
twice; and that one that keeps failing ends in front of a person. Locks are taken in one order: job, lease, the rest.

Order. Of a subject, the job with the lowest number goes first among those that are due. A job that has failed and waits
for its next attempt keeps its place: what comes after it may rest on it. One that lies in the future and was never
tried holds nobody up. After its last attempt a job leaves the queue for a person, and the later ones go ahead: a person
may take days, each of them asks the gate by itself whether the world is still as it needs it, and what did not happen
stands in the review queue for all to see.

Next in the flow: the handlers (`conflicts/delivery.py` is one), and `conflicts/watching.py` for what was left behind.
"""

import datetime as dt
import logging
import time
from dataclasses import dataclass

from django.conf import settings
from django.db import connection, transaction

from conflicts import bell, jobs, leases, partitions, waiting
from conflicts.actors import SYSTEM
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import KernelError
from conflicts.heartbeat import Heartbeat
from conflicts.jobs import Kind, PutOff, tell
from conflicts.leases import Grant
from conflicts.models.job import Job, JobEventKind, JobState
from conflicts.models.lease import Renewal
from conflicts.sentences import Sentence
from conflicts.waiting import Matter

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
LONGEST_PAUSE = 300.0
"""Seconds between two attempts, at most."""


@dataclass(frozen=True, slots=True)
class Held:
    job: Job
    grant: Grant


def run_next(partition: int) -> Job | None:
    """Do the next job of the partition that can be done now, and note its end; None if there is none."""
    held = claim(partition)
    if held is None:
        return None
    job, grant = held.job, held.grant
    try:
        kind = _understood(held)
        if kind is not None:
            with Heartbeat(grant, most=kind.seconds):
                kind.handler(job, grant.claim)
            done(held)
    except PutOff as wish:
        put_off(held, wish.seconds)
    except Exception as error:  # whatever it was: the job is tried again, or handed to a person
        logger.warning("Attempt %d of %s failed.", job.attempts, job, exc_info=True)
        if connection.errors_occurred and not connection.in_atomic_block and not connection.is_usable():
            connection.close()  # a new one is made for noting the end
        failed(held, _short(error))
    return job


def drain(partition: int, *, seconds: float) -> int:
    """Jobs until none is left that can be done now, or the time is over; then somebody is told to go on."""
    ends, count = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        if run_next(partition) is None:
            return count
        count += 1
    for job in due(partition, limit=1):
        bell.ring(job.kind, job.key, slot=job.slot)
    return count


# ---- claiming

# Of a subject: nobody is running, and nobody who is due, or has failed and keeps its place, comes before. The lease has
# the last word (two such looks may pass each other); this keeps workers from asking for it in vain.
_DUE = """
    FROM conflicts_job j
   WHERE j.state = 'queued' AND j.due_at <= clock_timestamp() AND j.slot %% %(count)s = %(partition)s
     AND NOT (j.id = ANY(%(passed_over)s))
     AND (j.subject = '' OR NOT EXISTS (
          SELECT FROM conflicts_job e
           WHERE e.subject = j.subject AND e.id <> j.id AND (e.state = 'running'
              OR e.state = 'queued' AND e.sequence < j.sequence
                 AND (e.attempts > 0 OR e.due_at <= clock_timestamp()))))
   ORDER BY j.due_at, j.id LIMIT %(limit)s
"""


def due(partition: int, *, limit: int) -> list[Job]:
    """What could be claimed now, earliest first; nothing is locked."""
    return list(Job.objects.raw(f"SELECT j.* {_DUE}", _params(partition, limit=limit)))


def claim(partition: int) -> Held | None:
    """The earliest job that can be done now, with its lease; None if there is none."""
    passed_over: list[int] = []
    while True:
        with transaction.atomic():
            found = list(
                Job.objects.raw(
                    f"SELECT j.* {_DUE} FOR UPDATE OF j SKIP LOCKED", _params(partition, passed_over=passed_over)
                )
            )
            if not found:
                return None
            job = found[0]
            seconds = jobs.claim_seconds()
            grant = leases.acquire(
                job.lane,
                by=SYSTEM,
                unit=job.key,
                reason=job.kind,
                seconds=seconds,
                renewal=Renewal.HEARTBEAT,
                release_when="the job has ended",
            )
            if isinstance(grant, Grant):
                job.state, job.attempts = JobState.RUNNING, job.attempts + 1
                job.holder, job.fence = grant.claim.holder, grant.claim.fence
                Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
                    state=job.state,
                    attempts=job.attempts,
                    holder=job.holder,
                    fence=job.fence,
                    started_at=ClockTimestamp(),
                )
                return Held(job, grant)
        passed_over.append(job.pk)  # its subject is being worked on


def _params(partition: int, *, limit: int = 1, passed_over: list[int] | None = None) -> dict[str, object]:
    return {
        "count": partitions.count(),
        "partition": partition,
        "passed_over": passed_over or [],
        "limit": limit,
    }


def _understood(held: Held) -> Kind | None:
    """The kind, if there is something to do. A newer release's job is left to its workers; a gone subject ends it."""
    job = held.job
    kind = jobs.kind_of(job)
    if kind is None:
        raise KernelError("Not known to this release.")
    if job.subject and not waiting.is_there(job.subject):
        if _end(held, JobState.FAILED, error="The subject is gone."):
            tell(job.key, JobEventKind.SUBJECT_GONE, subject=job.subject)
        return None
    return kind


# ---- ending


def done(held: Held) -> bool:
    """False if the claim was lost meanwhile: then this end is not the one that counts."""
    return _end(held, JobState.DONE)


def put_off(held: Held, seconds: float) -> bool:
    after = ClockTimestamp() + _seconds(seconds)
    return _end(held, JobState.QUEUED, due_at=after, attempts=held.job.attempts - 1, finished_at=None)


def failed(held: Held, error: str) -> bool:
    job = held.job
    with transaction.atomic():
        if job.attempts >= MOST_ATTEMPTS:
            return _end(held, JobState.REVIEW, error=error) and hand_over(job, error)
        pause = pause_after(job.attempts)
        ended = _end(held, JobState.QUEUED, error=error, due_at=ClockTimestamp() + _seconds(pause), finished_at=None)
        if ended:
            tell(job.key, JobEventKind.FAILED, attempt=job.attempts, error=error)
            transaction.on_commit(
                lambda: bell.ring(job.kind, job.key, slot=job.slot, after=pause) and None, robust=True
            )
    return ended


def pause_after(attempts: int) -> float:
    return min(float(settings.VIGENTE_BACKOFF_SECONDS) * 2.0 ** (attempts - 1), LONGEST_PAUSE)


def hand_over(job: Job, error: str) -> bool:
    """The last attempt has failed: a person decides. In the transaction that moves the job to review."""
    tell(job.key, JobEventKind.REVIEW, attempts=job.attempts, error=error)
    waiting.open_for_a_person(
        Matter(
            key=job.key,
            subject=job.subject,
            action=f"job:{job.kind}",
            params=job.payload,
            by=job.by,
            source=f"job:{job.pk}",
        ),
        Sentence(jobs.POISON, {"attempts": job.attempts, "error": error}),
        avoided=Sentence("job.poison.avoided"),
        next_step=Sentence("next.retry_or_drop"),
    )
    return True


def _end(held: Held, state: JobState, **values: object) -> bool:
    """Compare-and-swap on state, holder and token, with the lease in force: only its holder says how a job ended."""
    job, wanted = held.job, held.grant.claim
    with transaction.atomic():
        mine = Job.objects.select_for_update().filter(
            pk=job.pk, state=JobState.RUNNING, holder=wanted.holder, fence=wanted.fence
        )
        if mine.first() is None or not leases.in_force([wanted]):
            leases.lost(wanted, unit=job.key)
            tell(job.key, JobEventKind.LOST, wanted=state.value, attempt=job.attempts)
            return False
        leases.release(held.grant)
        mine.update(**{"finished_at": ClockTimestamp(), **values, "state": state})
    job.state = state
    return True


def _seconds(seconds: float) -> dt.timedelta:
    return dt.timedelta(seconds=seconds)


def _short(error: Exception) -> str:
    """Its kind; its words only where they are ours. A stranger's may hold an address with a password in it."""
    name = type(error).__name__
    return (f"{name}: {error}" if isinstance(error, KernelError) else name)[:200]
