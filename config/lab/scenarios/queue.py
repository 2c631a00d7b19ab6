"""Work and the message that rings for it: lost, too early, or for work that was taken back."""

from collections.abc import Generator

from django.db import transaction

from config.lab import reserved
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.lease_holders import mail_naively, mailed_once
from config.lab.scenarios.parts import activities, deals, lines, open_tasks
from config.lab.world import SOON, person
from conflicts import jobs, partitions, running
from conflicts.jobs import Cancelled
from conflicts.models import Job
from crm.models import Task
from crm.models.task import TaskState


def _enqueue(one: Round) -> Job:
    return jobs.enqueue(reserved.KIND, f"lab:{one.deal}", one.deal)


def _work(one: Round) -> None:
    """A worker of the deal's partition does what it finds."""
    slot = partitions.slot_of(str(one.deal))
    while running.run_next(partitions.partition_of(slot)):
        pass


def _note_to_mail(one: Round) -> Task:
    return Task.objects.create(opportunity_id=one.deal.pk, title="Mail the offer", due_on=SOON, made_by="lab")


# --- committed, but never queued --------------------------------------------------------------------------------------


def _ring_while_the_broker_is_away() -> None:
    raise ConnectionError("Connection refused.")


def _never_queued_naively(one: Round) -> None:
    """First the commit, then the message; and the broker is away."""
    broker: list[int] = []

    def caller() -> Generator[str]:
        _note_to_mail(one)
        try:
            _ring_while_the_broker_is_away()
            broker.append(1)
        except ConnectionError:
            pass  # logged; the work is committed, so the page says that all is well
        yield "committed"

    def worker() -> Generator[str]:
        yield "committed"
        yield "the broker is back"
        for _ in broker:
            mail_naively(one, "offer")

    one.race(caller, worker)


def _never_queued_guarded(one: Round) -> None:
    def caller() -> Generator[str]:
        _enqueue(one)  # nobody rings: the broker is away
        yield "committed"

    def worker() -> Generator[str]:
        yield "committed"
        yield "the broker is back"
        _work(one)

    one.race(caller, worker)


register(
    Scenario(
        slug="committed_but_never_queued",
        title="the commit is done and the broker is away",
        prepare=deals,
        naive=_never_queued_naively,
        guarded=_never_queued_guarded,
        judge=mailed_once,
    )
)

# --- queued before the commit -----------------------------------------------------------------------------------------


def _too_early_naively(one: Round) -> None:
    """The message leaves while the transaction is open; the worker finds nothing to do."""
    broker: list[int] = []

    def caller() -> Generator[str]:
        with transaction.atomic():
            broker.append(_note_to_mail(one).pk)
            yield "the message has left"
            yield "a worker has it"

    def worker() -> Generator[str]:
        yield "the message has left"
        if Task.objects.filter(pk=broker.pop(), state=TaskState.OPEN).exists():
            mail_naively(one, "offer")

    one.race(caller, worker)


def _too_early_guarded(one: Round) -> None:
    """A message that comes too early finds nothing; the row is found as soon as it is there."""

    def caller() -> Generator[str]:
        with transaction.atomic():
            _enqueue(one)
            yield "a message has left"
            yield "a worker has it"

    def worker() -> Generator[str]:
        yield "a message has left"
        _work(one)
        yield "a worker has it"
        yield "committed"
        _work(one)

    one.race(caller, worker)


register(
    Scenario(
        slug="queued_before_commit",
        title="the message is there before the commit is",
        prepare=deals,
        naive=_too_early_naively,
        guarded=_too_early_guarded,
        judge=mailed_once,
    )
)

# --- cancelled, yet sent ----------------------------------------------------------------------------------------------


def _cancelled_naively(one: Round) -> None:
    task = _note_to_mail(one)

    def worker() -> Generator[str]:
        is_open = Task.objects.filter(pk=task.pk, state=TaskState.OPEN).exists()
        yield "it has looked"
        if is_open:
            mail_naively(one, "offer")

    def alice() -> Generator[str]:
        yield "it has looked"
        Task.objects.filter(pk=task.pk).update(state=TaskState.CANCELLED)
        one.facts["told"] = Cancelled.BEFORE

    one.race(worker, alice)


def _cancelled_guarded(one: Round) -> None:
    job = _enqueue(one)

    def worker() -> Generator[str]:
        yield "the work is due"
        _work(one)

    def alice() -> Generator[str]:
        yield "the work is due"
        one.facts["told"] = jobs.cancel(job.key, by=person(one.world.alice), why="Rui called")

    one.race(worker, alice)


def _told_the_truth(one: Round) -> Judgement:
    sent, told = len(activities(one)), one.facts["told"]
    wrong = lines(
        (told == Cancelled.BEFORE and sent > 0, "cancelled, and sent all the same"),
        (told == Cancelled.TOO_LATE and sent == 0, "too late to cancel, and nothing was sent"),
        (sent > 1, f"sent {sent} times"),
        (one.guarded and bool(open_tasks(one)), "something is left open"),
    )
    return Judgement(effects=sent, wrong=wrong)


register(
    Scenario(
        slug="cancelled_yet_sent",
        title="work is taken back at the moment it is begun",
        prepare=deals,
        naive=_cancelled_naively,
        guarded=_cancelled_guarded,
        judge=_told_the_truth,
    )
)
