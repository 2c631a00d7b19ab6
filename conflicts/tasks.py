"""Celery's side of the jobs: the doorbell. A message says "there is work" and names it by kind and key, nothing else.

Guarantees that a message which is late, doubled, unknown or from a newer release is recognised and recorded, and never
crashes a worker or comes back. Next in the flow: `conflicts/running.py`.
"""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.db.models import F

from conflicts import partitions, running, watching
from conflicts.jobs import tell
from conflicts.models.job import Job, JobEventKind, JobState

DRAIN_SECONDS = 20.0
"""How long one bell keeps a worker; with the longest job after it, below the task's soft time limit."""


@shared_task(name=partitions.WORK)  # type: ignore[untyped-decorator]
def work(kind: Any = "", key: Any = "", *more: Any, **unknown: Any) -> None:
    """Whatever is due in the partition of the job that is named; usually that job."""
    kind, key = _text(kind), _text(key)
    if more or unknown:
        # From a newer release. What it adds we cannot know; what it names is in our rows, or it is not.
        tell(
            key,
            JobEventKind.UNKNOWN_FIELDS,
            kind=kind,
            fields=[_text(name) for name in sorted(unknown)],
            more=len(more),
        )
    job = Job.objects.filter(key=key, kind=kind).first()
    if job is None:
        tell(key, JobEventKind.UNKNOWN_MESSAGE, kind=kind)
    elif job.state == JobState.QUEUED:
        running.drain(partitions.partition_of(job.slot), seconds=DRAIN_SECONDS)
    elif job.state in (JobState.RUNNING, JobState.DONE):
        # Common and harmless (another bell had brought somebody), so it is counted and not told.
        Job.objects.filter(pk=job.pk).update(late_bells=F("late_bells") + 1)
    else:
        tell(key, JobEventKind.LATE_MESSAGE, state=job.state)


@worker_ready.connect  # type: ignore[untyped-decorator]
def keep_watch(**signal: Any) -> None:
    """Every worker watches by itself: what was lost is found though schedule and broker are away or have forgotten."""
    watching.keep_watch()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def stop_watching(**signal: Any) -> None:
    watching.stop_watching()


def _text(value: Any) -> str:
    """As a column can hold it, whatever was sent."""
    return str(value).replace("\x00", "")[:255]
