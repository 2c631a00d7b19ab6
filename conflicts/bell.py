"""The bell: tells the workers of a partition that there is work. A hint; the rows are the truth.

Guarantees that a broker which is away costs its caller a moment once, never an error and never a wait per row: after a
failure nobody rings for a while, and the watch (conflicts/watching.py) finds the work. Next in the flow:
`conflicts/tasks.py`.
"""

import logging
import time

from celery import current_app

from conflicts import partitions

logger = logging.getLogger(__name__)

LONGEST_COUNTDOWN = 60.0
"""Seconds. A message that waits longer than a broker's visibility timeout is delivered again and again."""

MARGIN = 0.25
"""A bell that rings a moment before its job is due would ring in vain."""

QUIET = 5.0
"""Seconds without ringing after the broker was found away; longer where it took long to find out."""

_quiet_until = 0.0


def ring(kind: str, key: str, *, slot: int, after: float = 0.0) -> bool:
    """True if the broker took the message. Work that is due later than in a minute needs none: the watch finds it."""
    global _quiet_until
    began = time.monotonic()
    if after > LONGEST_COUNTDOWN or began < _quiet_until:
        return False
    try:
        current_app.send_task(
            partitions.WORK,
            args=(kind, key),
            headers={partitions.SLOT_HEADER: slot},
            countdown=after + MARGIN if after > 0 else None,
        )
    except Exception as error:  # whatever the transport raises: the work is safe in its row
        ended = time.monotonic()
        _quiet_until = ended + max(QUIET, 2 * (ended - began))
        logger.warning("Nobody was told of %s %s, the watch will find it: %s", kind, key, type(error).__name__)
        return False
    return True
