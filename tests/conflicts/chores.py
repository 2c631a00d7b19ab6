"""A kind of job whose work each test brings along, and short words for what the tests of jobs do again and again."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from conflicts import jobs, partitions, running
from conflicts.leases import Claim
from conflicts.models import Job, JobEvent, Lease
from conflicts.refs import Ref

CHORE = "test.chore"

type Do = Callable[[Job, Claim], None]


def nothing(job: Job, claim: Claim) -> None:
    return None


_do: list[Do] = [nothing]


def _handle(job: Job, claim: Claim) -> None:
    _do[-1](job, claim)


jobs.register(CHORE, _handle)


@contextmanager
def doing(do: Do) -> Iterator[None]:
    _do.append(do)
    try:
        yield
    finally:
        _do.pop()


def chore(key: str, subject: Ref | None = None, payload: Mapping[str, Any] | None = None, **when: Any) -> Job:
    return jobs.enqueue(CHORE, key, subject, payload, **when)


def partition(job: Job) -> int:
    return partitions.partition_of(job.slot)


def run_all(*, at_most: int = 100) -> list[str]:
    """Everything that can be done now, by one worker; the keys in the order in which they were done."""
    done: list[str] = []
    for number in range(partitions.count()):
        while (job := running.run_next(number)) is not None:
            done.append(job.key)
            assert len(done) <= at_most, done
    return done


def now(job: Job) -> Job:
    """The job as the database has it."""
    return Job.objects.get(pk=job.pk)


def told(job: Job) -> list[str]:
    return list(JobEvent.objects.filter(key=job.key).order_by("id").values_list("kind", flat=True))


def goes_silent(job: Job) -> None:
    """The time of its claim passes without a beat: what the clock would do, done to the row."""
    Lease.objects.filter(key=job.lane).update(expires_at="2000-01-01T00:00Z")
