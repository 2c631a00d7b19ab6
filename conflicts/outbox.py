"""The outbox: effects outside, each a row in the transaction that decided on it.

Guarantees that nothing is sent whose reason was rolled back, and nothing is forgotten whose reason was committed: with
the row comes the job that delivers it, in order within its subject. Kept for ever: it is what was said to the world.
Next in the flow: `conflicts/delivery.py`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.db import transaction

from conflicts import destinations, jobs, waiting
from conflicts.actors import SYSTEM, Actor
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import BadJob
from conflicts.models.job import Job, JobState
from conflicts.models.outbox import Delivery, OutboxMessage
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.values import plain
from conflicts.waiting import Matter

DELIVER = "outbox.deliver"
"""The kind of job."""

UNKNOWN = "delivery.unknown"
"""The rule, and the sentence, under which a message waits for a person who can tell whether it arrived."""

LONGEST_KEY = 200


def post(
    destination: str, key: str, payload: Mapping[str, Any], *, subject: Ref | None = None, by: Actor = SYSTEM
) -> OutboxMessage:
    """The message under `key`, in the caller's transaction. The same key and content again: the one that is there.

    Raises BadJob for a key that names another message, or that is none.
    """
    if not 0 < len(key) <= LONGEST_KEY:
        raise BadJob(f"The key of a message has 1 to {LONGEST_KEY} characters.")
    values = {"destination": destination, "subject": str(subject or ""), "payload": plain(dict(payload))}
    with transaction.atomic():
        message, new = OutboxMessage.objects.get_or_create(key=key, defaults={**values, "by": str(by)})
        if any(getattr(message, name) != value for name, value in values.items()):
            raise BadJob(f"The key {key!r} names another message already.")
        if new:
            _deliver(message, by=by)
    return message


class Dropped(StrEnum):
    BEFORE = "before"
    """It was waiting and is never sent."""
    SENDING = "sending"
    """It is on its way, or nobody can tell: no longer ours to take back."""
    TOO_LATE = "too_late"
    """It had ended."""
    UNKNOWN = "unknown"
    """There is no such message."""


def drop(key: str, *, by: Actor, why: str) -> Dropped:
    """A person takes back what still waits. Of a drop and a sending at once one wins, and both learn which."""
    with transaction.atomic():
        message = OutboxMessage.objects.filter(key=key).first()
        if message is None:
            return Dropped.UNKNOWN
        job = job_of(message)
        if job is not None:  # locked first, as everywhere
            job = Job.objects.select_for_update().get(pk=job.pk)
        message = OutboxMessage.objects.select_for_update().get(pk=message.pk)
        if message.state != Delivery.QUEUED:
            return Dropped.TOO_LATE if message.state in (Delivery.SENT, Delivery.FAILED) else Dropped.SENDING
        sentence = Sentence("delivery.taken_back", {"who": by.name, "why": why})
        _ended(message, Delivery.FAILED, reason=sentence.as_json())
        waiting.note(matter(message), sentence, by=by, resolution="dropped")
        if job is not None and job.state in (JobState.QUEUED, JobState.REVIEW):
            jobs.cancel(job.key, by=by, why=why)  # one that runs finds its message ended
    return Dropped.BEFORE


def matter(message: OutboxMessage) -> Matter:
    """What a record of this message is about."""
    return Matter(
        key=message.key,
        subject=message.subject,
        action=f"send:{message.destination}",
        params=message.payload,
        by=message.by,
        source=f"outbox:{message.pk}",
    )


def job_of(message: OutboxMessage) -> Job | None:
    """The job of its present life: each time a person sends it again, there is a new one."""
    keys = [f"deliver:{attempt}:{message.key}" for attempt in range(message.attempt + 1)]
    return Job.objects.filter(key__in=keys).order_by("-id").first()


def settle(key: str, *, by: Actor, arrived: bool, send_again: bool = False) -> bool:
    """A person has looked at the destination and says what became of a message nobody could tell of.

    Compare-and-swap: False if it has been settled meanwhile.
    """
    with transaction.atomic():
        message = OutboxMessage.objects.select_for_update().filter(key=key, state=Delivery.OUTCOME_UNKNOWN).first()
        if message is None:
            return False
        if arrived:
            _ended(message, Delivery.SENT)
        elif send_again:
            OutboxMessage.objects.filter(pk=message.pk).update(state=Delivery.QUEUED, reason={}, conflict=None)
            _deliver(message, by=by)
        else:
            _ended(message, Delivery.FAILED, reason=Sentence("delivery.dropped", {"who": by.name}).as_json())
        waiting.close(
            key, rule=UNKNOWN, by=by, resolution="arrived" if arrived else "again" if send_again else "dropped"
        )
    return True


def arrived(key: str, *, by: Actor, remote_id: str) -> bool:
    """The destination itself says so after all, in a report that came late: nobody has to look any more.

    Compare-and-swap: False if it has been settled meanwhile.
    """
    with transaction.atomic():
        message = OutboxMessage.objects.select_for_update().filter(key=key, state=Delivery.OUTCOME_UNKNOWN).first()
        if message is None:
            return False
        _ended(message, Delivery.SENT, remote_id=remote_id, reason={})
        waiting.close(key, rule=UNKNOWN, by=by, resolution="arrived")
    return True


def _ended(message: OutboxMessage, state: Delivery, **values: Any) -> None:
    OutboxMessage.objects.filter(pk=message.pk).update(state=state, ended_at=ClockTimestamp(), **values)
    destinations.tell(message, state)


def _deliver(message: OutboxMessage, *, by: Actor) -> None:
    subject = Ref.parse(message.subject) if message.subject else None
    # One job per life of the message: what a person sends again is new work.
    jobs.enqueue(DELIVER, f"deliver:{message.attempt}:{message.key}", subject, {"message": message.key}, by=by)
