"""A worker of the lab as a process: reads a task, works up to each named point, waits there for a word, and answers.

Started by `config/lab/processes.py` as `python -m config.lab.worker`. What it is told to do is mailing an offer once,
or answering a customer, under a lease or under the lock that is usually written.
"""

import json
import sys
import urllib.request
from collections.abc import Callable, Generator
from typing import Any

import django

type Role = Callable[..., Generator[str, None, dict[str, Any]]]

ROLES: dict[str, Role] = {}


def role(function: Role) -> Role:
    ROLES[function.__name__] = function
    return function


def main() -> None:
    django.setup()
    for line in sys.stdin:
        task = json.loads(line)
        try:
            _run(ROLES[task.pop("role")](**task))
        except Exception as error:
            _say({"failed": f"{type(error).__name__}: {error}"})


def _run(work: Generator[str, None, dict[str, Any]]) -> None:
    while True:
        try:
            _say({"at": next(work)})
        except StopIteration as end:
            _say({"done": True, **end.value})
            return
        sys.stdin.readline()


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def ask_the_model(url: str) -> None:
    """The slow call. Its time-out is longer than the lease: that is the point."""
    if url:
        with urllib.request.urlopen(url, timeout=60) as answer:
            answer.read()


@role
def mail(
    deal: str, text: str, seconds: float, model: str = "", wait: bool = True
) -> Generator[str, None, dict[str, Any]]:
    """Under a lease, through the gate. Without `wait`: only if nobody holds it."""
    from config.lab.rounds import wish
    from config.lab.world import AGENT, load
    from conflicts import gate, leases
    from conflicts.leases import Grant
    from conflicts.proposals import Read
    from conflicts.refs import Ref
    from crm.models import Activity

    ref = Ref.parse(deal)
    while True:
        grant = leases.acquire(deal, by=AGENT, unit=f"offer {deal}", reason="mail the offer", seconds=seconds)
        if isinstance(grant, Grant):
            break
        if not wait:
            return {"told": "busy"}
    if Activity.objects.filter(opportunity=ref.pk).exists():
        return {"told": "so_already"}
    read = Read.of(load(ref))
    ask_the_model(model)
    yield "about to write"
    outcome = gate.commit(wish("opportunity.log", read, by=AGENT, lease=grant.claim, kind="mail", text=text))
    leases.release(grant)
    return told(outcome)


@role
def mail_naively(
    deal: str, text: str, seconds: float, model: str = "", wait: bool = True
) -> Generator[str, None, dict[str, Any]]:
    """Under a row that says "locked until", by this machine's clock; looked at before the work and not again."""
    import datetime as dt

    from django.utils import timezone

    from config.lab.world import AGENT, SOON
    from conflicts.models import Lease
    from conflicts.refs import Ref
    from crm.models import Activity

    ref = Ref.parse(deal)
    while True:
        lock, now = Lease.objects.filter(key=deal).first(), timezone.now()
        if lock is None or lock.expires_at <= now:
            break
        if not wait:
            return {"told": "busy"}
    values = {"holder": "me", "granted_at": now, "beat_at": now, "expires_at": now + dt.timedelta(seconds=seconds)}
    texts = {"unit": "offer", "actor": "me", "reason": "offer", "release_when": "done"}
    Lease.objects.update_or_create(key=deal, defaults={**values, **texts, "seconds": seconds})
    if Activity.objects.filter(opportunity=ref.pk).exists():
        return {"told": "so_already"}
    ask_the_model(model)
    yield "about to write"
    Activity.objects.create(opportunity_id=ref.pk, kind="mail", at=f"{SOON}T12:00Z", by=str(AGENT), text=text)
    Lease.objects.filter(key=deal).update(expires_at=timezone.now())
    return {"told": "done"}


@role
def send_and_retry(deal: str, text: str, key: str) -> Generator[str, None, dict[str, Any]]:
    """With an idempotency key: whoever hears nothing asks again."""
    from django.db import OperationalError, connection

    from config.lab.rounds import wish
    from config.lab.world import AGENT, load
    from conflicts import gate
    from conflicts.proposals import Read
    from conflicts.refs import Ref

    offer = wish("opportunity.log", Read.of(load(Ref.parse(deal))), by=AGENT, key=key, kind="mail", text=text)
    yield "about to write"
    try:
        outcome = gate.commit(offer)
    except OperationalError:
        connection.close()
        outcome = gate.commit(offer)
    return told(outcome)


@role
def send_and_retry_naively(deal: str, text: str, key: str) -> Generator[str, None, dict[str, Any]]:
    from django.db import OperationalError, connection, transaction

    from config.lab.world import AGENT, SOON
    from conflicts.refs import Ref
    from crm.models import Activity

    def send() -> None:
        with transaction.atomic():
            Activity.objects.create(
                opportunity_id=Ref.parse(deal).pk, kind="mail", at=f"{SOON}T12:00Z", by=str(AGENT), text=text
            )

    connection.ensure_connection()
    yield "about to write"
    try:
        send()
    except OperationalError:
        connection.close()
        send()
    return {"told": "done"}


@role
def wait_for_a_worker() -> Generator[str, None, dict[str, Any]]:
    """Until one of the broker's workers answers."""
    from config.celery import app

    while not app.control.ping(timeout=10, limit=1):
        pass
    yield "a worker is there"
    return {}


@role
def wait_for_idle_workers() -> Generator[str, None, dict[str, Any]]:
    """Until none of them has anything in hand or put by."""
    from config.celery import app

    def in_hand() -> bool:
        asked = app.control.inspect(timeout=10, limit=1)
        answers = [asked.active(), asked.reserved(), asked.scheduled()]
        return not all(answers) or any(work for answer in answers for work in answer.values())

    while in_hand():
        pass
    yield "they are idle"
    return {}


@role
def enqueue(deals: list[str], model: str = "", after: float = 0.0) -> Generator[str, None, dict[str, Any]]:
    """A job for each deal; the bell rings for it on the lab's own broker."""
    from django.db import connection

    from config.lab import reserved
    from conflicts import jobs
    from conflicts.refs import Ref

    connection.close()  # the database may have been away since the last task
    for deal in deals:
        jobs.enqueue(reserved.KIND, f"lab:{deal}", Ref.parse(deal), {"model": model} if model else {}, after=after)
    yield "enqueued"
    return {}


@role
def enqueue_naively(deals: list[str], model: str = "", after: float = 0.0) -> Generator[str, None, dict[str, Any]]:
    """A message for each deal, and nothing else."""
    from config.celery import app
    from config.lab import reserved

    for deal in deals:
        app.send_task(reserved.NAIVE_TASK, args=(deal, model), queue="default", countdown=after or None)
    yield "enqueued"
    return {}


@role
def answer(
    conversation: int, word: str, seconds: float, model: str = "", claims_first: bool = False
) -> Generator[str, None, dict[str, Any]]:
    """A turn, as soon as nobody else has it."""
    from django.conf import settings

    from agents import replies
    from config.lab.scenarios.talks import Says
    from conflicts import limits

    limits.take = lambda *args, **more: limits.Allowance(allowed=True)  # no Redis: see config/lab/processes.py
    settings.VIGENTE_TURN_SECONDS = seconds
    yield "due"
    while True:
        end = replies.take_turn(conversation, responder=Says(word, during=lambda: ask_the_model(model)))
        if end is not replies.End.BUSY:
            return {"told": end.value}


@role
def answer_naively(
    conversation: int, word: str, seconds: float, model: str = "", claims_first: bool = False
) -> Generator[str, None, dict[str, Any]]:
    """Under a lock with a time, looked at before the work; or under a mark that is set when the work is begun."""
    from agents.identity import REPLY
    from config.lab import naive
    from config.lab.scenarios import talks
    from conflicts import leases
    from conflicts.refs import Ref
    from crm.models.conversation import Direction

    yield "due"
    key = f"naive:{conversation}"
    while isinstance(leases.acquire(key, by=REPLY, unit=key, reason="answer", seconds=seconds), leases.Busy):
        pass
    talk = naive.load(Ref(talks.LABEL, conversation))
    if talk.unanswered <= 0:
        return {"told": "not_due"}
    about = talks.pending(talk)
    talk.answered_count = talk.inbound_count
    if claims_first:
        naive.save(talk)
    ask_the_model(model)
    talks.write(talk, Direction.OUT, f"{word} about {', '.join(about)}.", by=str(REPLY), automatic=True)
    naive.save(talk)
    return {"told": "queued"}


def told(outcome: Any) -> dict[str, Any]:
    """What the gate answered, as the lab keeps it."""
    settled = outcome.settled
    return {
        "told": "done" if outcome.done else "turned_away",
        "result": outcome.result.value,
        "version": settled.version,
        "record": outcome.record or settled.record,
    }


if __name__ == "__main__":
    main()
