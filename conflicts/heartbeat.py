"""Heartbeat: keeps a claim alive while its holder is, so that claims can be short and a dead worker is missed soon.

Guarantees that the claim ends by itself when the process dies or stands still, when a beat comes too late, and when the
work takes longer than it may: a worker that is alive but stuck must not hold its subject for ever.
"""

import logging
import threading
import time
from types import TracebackType
from typing import Self

from django.db import connections

from conflicts import leases
from conflicts.exceptions import LeaseLost
from conflicts.leases import Grant

logger = logging.getLogger(__name__)

BEATS = 3
"""Per length of the claim: two may be missed."""


class Heartbeat:
    """Beats in a thread, on a connection of its own, from the beginning of the block to its end."""

    def __init__(self, grant: Grant, *, most: float) -> None:
        self._grant = grant
        self._ends = time.monotonic() + most
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heartbeat of {grant.claim.key}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.wait(self._grant.seconds / BEATS):
                if time.monotonic() >= self._ends:
                    logger.warning("%s takes too long; its claim is left to end.", self._grant.unit)
                    return
                self._grant = leases.renew(self._grant)
        except LeaseLost:
            logger.warning("%s lost its claim while it worked.", self._grant.unit)
        except Exception:  # no beat, for whatever reason, is a lost claim: it ends by itself
            logger.warning("%s has no heartbeat any more.", self._grant.unit, exc_info=True)
        finally:
            connections.close_all()  # this thread's only
