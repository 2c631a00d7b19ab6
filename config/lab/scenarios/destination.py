"""An outside system that can only be overwritten, written to by two workers, with answers that get lost."""

from collections.abc import Generator
from itertools import pairwise

from django.db import transaction

from config.lab.mirror import MIRROR, SOMEBODY_ELSE, Fate, Place
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import deals, lines
from config.lab.world import load, person
from conflicts import outbox, partitions, running
from conflicts.clock import ClockTimestamp
from conflicts.models import Conflict, Job, OutboxMessage
from conflicts.models.job import JobState
from conflicts.models.outbox import Delivery
from conflicts.proposals import Read

OLDER, NEWER = 2, 3
"""The two versions of the deal that the mirror has to be told of."""


def _place(one: Round) -> Place:
    place = MIRROR.places[str(one.deal)] = Place()
    place.fates = {
        OLDER: one.rng.choice([Fate.ARRIVES, Fate.ANSWER_LOST, Fate.NEVER_ARRIVED]),
        NEWER: one.rng.choice([Fate.ARRIVES, Fate.ANSWER_LOST, Fate.OVERWRITTEN]),
    }
    return place


def _naively(one: Round) -> None:
    """Each worker sends what it has read, and sends it again when it hears nothing."""
    _place(one)

    def worker(version: int) -> Generator[str]:
        yield "both have read"
        try:
            MIRROR.send(f"{one.deal}@{version}", {})
        except TimeoutError:
            yield "no answer"
            MIRROR.send(f"{one.deal}@{version}", {})

    one.race(lambda: worker(OLDER), lambda: worker(NEWER))


def _guarded(one: Round) -> None:
    """Two commits with their messages; two workers that take whatever is due."""
    _place(one)
    for amount in ("110", "120"):
        with transaction.atomic():
            read = Read.of(load(one.deal))
            outcome = one.commit("", wish("opportunity.edit", read, by=person(one.world.alice), amount=amount))
            outbox.post(MIRROR.name, f"{one.deal}@{outcome.version}", {"amount": amount}, subject=one.deal)

    def worker() -> Generator[str]:
        yield "both are free"
        _work(one)

    one.race(worker, worker)
    while _due_later(one):
        _work(one)


def _work(one: Round) -> None:
    slot = Job.objects.filter(subject=str(one.deal)).values_list("slot", flat=True)[0]
    while running.run_next(partitions.partition_of(slot)):
        pass


def _due_later(one: Round) -> int:
    """Time passes: what was put off until later is due now. How many there are."""
    return Job.objects.filter(subject=str(one.deal), state=JobState.QUEUED).update(due_at=ClockTimestamp())


def _judge(one: Round) -> Judgement:
    place = MIRROR.places[str(one.deal)]
    ours = [version for version in place.arrived if version != SOMEBODY_ELSE]
    unknown = OutboxMessage.objects.filter(subject=str(one.deal), state=Delivery.OUTCOME_UNKNOWN)
    waiting = Conflict.objects.waiting().filter(pk__in=unknown.values("conflict")).count()
    wrong = [
        f"version {after} was written over version {before}" for before, after in pairwise(ours) if after <= before
    ]
    wrong += lines(
        (place.held != NEWER and not waiting, f"the mirror holds {place.held}, and nobody is asked"),
        (unknown.count() != waiting, "a sending nobody can tell of, and nobody is asked"),
    )
    left = OutboxMessage.objects.filter(subject=str(one.deal)).exclude(state__in=[Delivery.SENT, Delivery.FAILED])
    wrong += [f"{message} is {message.state}" for message in left if message.state != Delivery.OUTCOME_UNKNOWN]
    return Judgement(effects=len(ours), wrong=wrong)


register(
    Scenario(
        slug="destination_without_conditional_write",
        title="two workers write to an outside system that can only be overwritten",
        prepare=deals,
        naive=_naively,
        guarded=_guarded,
        judge=_judge,
    )
)
