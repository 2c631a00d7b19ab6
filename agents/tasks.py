"""Celery: the doorbell of the sweep and of the turns. A lost or doubled message does no harm: rows are the truth."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from agents import replies, sweeps, turns

SECONDS = 90
"""Below the task's soft time limit; what a sweep leaves, the next one takes up."""


@shared_task(name="agents.tasks.sweep")
def sweep() -> None:
    """Bells pile up while no worker is there: what was just answered, by the database's clock, is not asked again."""
    if not sweeps.begun_within(settings.VIGENTE_SWEEP_SECONDS / 2):
        sweeps.sweep(seconds=SECONDS)


@shared_task(name=turns.TASK)
def turn(conversation: Any = None, *more: Any, **unknown: Any) -> None:
    """Answer what is due there. What a newer release adds to the message is in our rows, or is not for us."""
    if isinstance(conversation, int):
        replies.take_turn(conversation)


@worker_ready.connect
def start_rounds(**signal: Any) -> None:
    turns.start()


@worker_shutting_down.connect
def stop_rounds(**signal: Any) -> None:
    turns.stop()
