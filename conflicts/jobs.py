"""Jobs: work that is done later, by whoever has time, exactly in the state that a row says it is in.

Guarantees that work is enqueued in the caller's transaction or not at all; once per key; numbered within its subject in
the order in which the transactions commit; and that its worker is told after the commit, or found by the watch.
Next in the flow: `conflicts/running.py`.
"""

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from conflicts import bell, leases, partitions, waiting
from conflicts.actors import SYSTEM, Actor
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import BadJob
from conflicts.leases import Claim
from conflicts.models.job import Job, JobEvent, JobEventKind, JobState
from conflicts.refs import Ref
from conflicts.values import plain

POISON = "job.poison"
"""The rule, and the sentence, under which work waits for a person after its last attempt."""

LONGEST_RUN = 90.0
"""Seconds; below the soft time limit of the task in which a job runs."""


def claim_seconds() -> float:
    """How long a worker that went silent keeps its work."""
    return float(settings.VIGENTE_CLAIM_SECONDS)


type Handler = Callable[[Job, Claim], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is done for jobs of one kind.

    The handler gets the job and the claim under which it works, and puts the claim on every Proposal (`lease=claim`):
    that is what refuses a worker that lost it. It may run again after a crash, so its proposals carry idempotency keys
    derived from `job.key`. It keeps no transaction open, and raises when it could not do its work.
    """

    name: str
    handler: Handler
    seconds: float
    """The longest it may take; after that its claim is not renewed any more."""
    schema: int


class PutOff(Exception):
    """A handler's "not now": the job waits so many seconds, and it does not count as an attempt."""

    def __init__(self, seconds: float, why: str = "") -> None:
        super().__init__(why)
        self.seconds = seconds


_KINDS: dict[str, Kind] = {}


def register(name: str, handler: Handler, *, seconds: float = 60.0, schema: int = 1) -> None:
    """Raises ValueError if the name is taken: a stored name must never change its meaning."""
    if name in _KINDS and _KINDS[name].handler is not handler:
        raise ValueError(f"The kind of job {name!r} is already registered.")
    if not 0 < seconds <= LONGEST_RUN:
        raise ValueError(f"A job takes at most {LONGEST_RUN} seconds; cut longer work into several.")
    _KINDS[name] = Kind(name=name, handler=handler, seconds=seconds, schema=schema)


def kinds() -> list[Kind]:
    """Every kind that is registered, for the check at the start (conflicts/checks.py)."""
    return list(_KINDS.values())


def kind_of(job: Job) -> Kind | None:
    """None if this release does not know the kind, or not yet this form of it."""
    kind = _KINDS.get(job.kind)
    return kind if kind and job.schema <= kind.schema else None


def enqueue(
    kind: str,
    key: str,
    subject: Ref | None = None,
    payload: Mapping[str, Any] | None = None,
    *,
    due_at: dt.datetime | None = None,
    after: float = 0.0,
    by: Actor = SYSTEM,
) -> Job:
    """The job under `key`, in the caller's transaction. The same key and content again: the job that is there.

    `due_at` is a point in time, `after` so many seconds from now by the database's clock. Of several subjects in one
    transaction, enqueue in ascending order of subject, as everything here is locked. Raises BadJob.
    """
    if kind not in _KINDS:
        raise BadJob(f"There is no kind of job {kind!r}.")
    if not 0 < len(key) <= 255:
        raise BadJob("An idempotency key has 1 to 255 characters.")
    if not (math.isfinite(after) and after >= 0):
        raise BadJob("Work is done now or later, not before.")
    text, content = str(subject or ""), plain(dict(payload or {}))
    values: dict[str, str | int | float | dt.datetime | None] = {
        "kind": kind,
        "key": key,
        "subject": text,
        "slot": partitions.slot_of(text or key),
        "due_at": due_at,
        "after": after,
        "schema": _KINDS[kind].schema,
        "payload": json.dumps(content),
        "by": str(by),
    }
    with transaction.atomic():
        with connection.cursor() as cursor:
            if text:
                # Until our commit: whoever enqueues for this subject next gets the next number and commits after us.
                # A number from a sequence would be taken in one order and become visible in another.
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"vigente.job:{text}"])
            cursor.execute(_INSERT, values)
            new = cursor.fetchone() is not None
        job = Job.objects.get(key=key)
        if (job.kind, job.subject, job.payload) != (kind, text, content):
            raise BadJob(f"The key {key!r} names other work already.")
        if new:
            wait = _seconds_until(job) if due_at or after else 0.0
            transaction.on_commit(partial(bell.ring, kind, key, slot=job.slot, after=wait), robust=True)
    return job


_INSERT = """
    INSERT INTO conflicts_job (kind, key, subject, slot, sequence, due_at, state, attempts, schema, payload, error, by,
                               holder, late_bells)
    VALUES (%(kind)s, %(key)s, %(subject)s, %(slot)s,
            CASE WHEN %(subject)s = '' THEN 0
                 ELSE coalesce((SELECT max(sequence) FROM conflicts_job WHERE subject = %(subject)s), 0) + 1 END,
            coalesce(%(due_at)s, clock_timestamp() + make_interval(secs => %(after)s)), 'queued', 0, %(schema)s,
            %(payload)s, '', %(by)s, '', 0)
    ON CONFLICT (key) DO NOTHING
    RETURNING id
"""


class Cancelled(StrEnum):
    BEFORE = "before"
    """It had not begun and never will."""
    DURING = "during"
    """It was running: what it had written stands, it can write nothing more, and it is told so at its end."""
    TOO_LATE = "too_late"
    """It had ended."""
    UNKNOWN = "unknown"
    """There is no such work."""


def cancel(key: str, *, by: Actor, why: str = "") -> Cancelled:
    """Take work back. Of a cancel and a claim, or an end, at the same moment one wins, and both learn which."""
    with transaction.atomic():
        job = Job.objects.select_for_update().filter(key=key).first()
        if job is None:
            return Cancelled.UNKNOWN
        if job.state == JobState.RUNNING:
            how = Cancelled.DURING
            leases.break_(job.lane, by=by, why=why or "cancelled")
        elif job.state in (JobState.QUEUED, JobState.REVIEW):
            how = Cancelled.BEFORE
        else:
            return Cancelled.TOO_LATE
        Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED, finished_at=ClockTimestamp())
        tell(key, JobEventKind.CANCELLED, by=by, how=how.value, why=why)
        waiting.close(job.key, rule=POISON, by=by, resolution="dropped")
    return how


def retry(key: str, *, by: Actor) -> bool:
    """A person gives work in review another five attempts, at once. False if it is not in review (any more)."""
    with transaction.atomic():
        job = Job.objects.select_for_update().filter(key=key, state=JobState.REVIEW).first()
        if job is None:
            return False
        Job.objects.filter(pk=job.pk).update(
            state=JobState.QUEUED, attempts=0, due_at=ClockTimestamp(), finished_at=None
        )
        tell(key, JobEventKind.RETRIED, by=by)
        waiting.close(job.key, rule=POISON, by=by, resolution="retried")
        transaction.on_commit(partial(bell.ring, job.kind, job.key, slot=job.slot), robust=True)
    return True


def tell(key: str, kind: JobEventKind, /, *, by: Actor = SYSTEM, **detail: Any) -> None:
    """Keep what was odd, as evidence."""
    JobEvent.objects.create(key=key[:255], kind=kind, by=str(by), detail=plain(detail))


def _seconds_until(job: Job) -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM %s - clock_timestamp())::float", [job.due_at])
        return max(0.0, float(cursor.fetchone()[0]))
