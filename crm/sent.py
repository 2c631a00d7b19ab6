"""Sent: which of our messages have really left, told by the outbox."""

from collections.abc import Iterable

from conflicts.models.outbox import Delivery, OutboxMessage


def delivered_keys(keys: Iterable[str]) -> set[str]:
    """Those of these outbox keys whose message was sent."""
    wanted = list(keys)
    if not wanted:
        return set()
    return set(OutboxMessage.objects.filter(key__in=wanted, state=Delivery.SENT).values_list("key", flat=True))
