"""Partitions: N queues over which work is spread by its subject, so that one subject's work goes to one place.

Guarantees that a subject always has the same slot, on every machine and in every release; its partition is the slot
modulo N. Rows keep the slot, so N may change at any time, even while two releases with different N run side by side.

There is no global order, and none is promised. In order, one at a time, is the work of one subject, and that is held by
a lease and by rows (conflicts/running.py), not by a queue having a single consumer: several workers may take from one
partition, which is how a stuck subject is prevented from holding the others of its partition.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings

SLOTS = 32_768
"""As many as a small integer holds, and many times more than anybody will have partitions."""

WORK = "conflicts.tasks.work"
SLOT_HEADER = "vigente_slot"


def count() -> int:
    return int(settings.VIGENTE_PARTITIONS)


def slot_of(name: str) -> int:
    """Stable for ever, unlike hash(), which differs from process to process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % SLOTS


def partition_of(slot: int) -> int:
    return slot % count()


def queue_of(partition: int) -> str:
    return f"p{partition}"


def queues() -> list[str]:
    return [queue_of(partition) for partition in range(count())]


def route(
    name: str, args: Any, kwargs: Any, options: Mapping[str, Any], task: Any = None, **more: Any
) -> dict[str, str] | None:
    """Celery's router: a message goes to the queue of its subject's partition; all others where they went before.

    The slot travels in a header, because the message itself holds only kind and key.
    """
    if name != WORK:
        return None
    slot = (options.get("headers") or {}).get(SLOT_HEADER)
    if not isinstance(slot, int):
        slot = slot_of(str(args[1] if args and len(args) > 1 else ""))  # somebody rang by hand: any partition will do
    return {"queue": queue_of(partition_of(slot))}
