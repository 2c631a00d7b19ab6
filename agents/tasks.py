"""Celery: the doorbell of the sweep. A lost or doubled message does no harm; the rows are the truth."""

from celery import shared_task

from agents import sweeps

SECONDS = 90
"""Below the task's soft time limit; what a sweep leaves, the next one takes up."""


@shared_task(name="agents.tasks.sweep")
def sweep() -> None:
    sweeps.sweep(seconds=SECONDS)
