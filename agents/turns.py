"""Turns: who is woken for a due answer. A message on the broker is a hint; the timers' rows are the truth.

Guarantees that a due timer is found within a second by every worker that lives, whatever became of messages, schedule
and other workers: the rounds run in a thread of each worker, as the watch over jobs does, and not on the schedule,
whose lock outlives a killed scheduler by a minute. Next in the flow: `agents/replies.py`.
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connections
from django.dispatch import receiver

from conflicts import gate
from conflicts.actors import SYSTEM
from conflicts.proposals import Proposal, Read
from conflicts.signals import Committed, committed
from crm import timers
from crm.models import Conversation

logger = logging.getLogger(__name__)

TASK = "agents.tasks.turn"
AT_ONCE = 50
"""Conversations rung for in one round."""
MARGIN = 0.05
QUIET = 5.0
"""Seconds without ringing after the broker was found away."""

_quiet_until = 0.0


def ring(conversation: int, *, after: float = 0.0) -> bool:
    """True if the broker took the message. Never an error, and never a wait per conversation while it is away."""
    global _quiet_until
    began = time.monotonic()
    if began < _quiet_until:
        return False
    try:
        current_app.send_task(TASK, args=(conversation,), countdown=after + MARGIN if after > 0 else None)
    except Exception as error:  # whatever the transport raises: the timer is safe in its row
        _quiet_until = time.monotonic() + max(QUIET, 2 * (time.monotonic() - began))
        logger.warning("Nobody was told of conversation %s, a round will find it: %s", conversation, error)
        return False
    return True


@receiver(committed, dispatch_uid="agents.turns")
def hint(sender: Any, commits: Sequence[Committed], **kwargs: Any) -> None:
    """A countdown to the moment when an answer is due: after the commit, and only where something came or changed."""
    if pks := [commit.subject.pk for commit in commits if commit.subject.label == "crm.conversation"]:
        ring_for(pks)


def ring_for(conversations: Sequence[int]) -> None:
    """At the moment when an answer is due in each; nothing where none is."""
    for pk, after in timers.seconds_left(conversations).items():
        ring(pk, after=after)


def look_round() -> int:
    """Ring for every conversation that is due and that nobody works on; give back what nobody looks after."""
    due = timers.due(limit=AT_ONCE)
    for pk in due:
        ring(pk)
    return len(due)


def give_back_idle() -> int:
    """Conversations whose person has given no sign for as long as their channel says go back to the agent."""
    given = 0
    for pk in timers.idle(limit=AT_ONCE):
        conversation = Conversation.objects.get(pk=pk)
        outcome = gate.commit(
            Proposal(
                action="conversation.give_back",
                by=SYSTEM,
                basis=(Read.of(conversation),),
                params={"epoch": conversation.owner_epoch},
                key=f"give_back:{pk}:{conversation.owner_epoch}",
                source="idle",
            )
        )
        given += outcome.done
    return given


# ---- as a thread of a worker

_stop = threading.Event()
_thread: threading.Thread | None = None


def start() -> None:
    """Once per process: a worker is ready again after each loss of its broker."""
    global _thread
    if _thread is None or not _thread.is_alive():
        _stop.clear()
        _thread = threading.Thread(target=_rounds, name="turns", daemon=True)
        _thread.start()


def stop() -> None:
    _stop.set()


def _rounds() -> None:
    count = 0
    while True:
        try:
            look_round()
            if count % 10 == 0:
                give_back_idle()
        except Exception as error:  # the database is away, for instance: the next round sees
            logger.warning("A round over the timers failed: %s", type(error).__name__)
            connections.close_all()
        count += 1
        if _stop.wait(float(settings.VIGENTE_TURN_ROUND_SECONDS)):
            connections.close_all()
            return
