"""Typing: who is writing in a conversation right now. A courtesy, kept in Redis alone and forgotten after seconds.

With Redis away nobody is shown as writing and nothing else changes.
"""

import logging
import time
from typing import Any

import redis

from conflicts.refs import Ref
from crm import live

logger = logging.getLogger(__name__)

TTL = 6
"""Seconds; a page in which somebody types gives a sign every 3."""

CUSTOMER = "customer"


def _key(conversation: int) -> str:
    return f"vigente:typing:{conversation}"


def mark(conversation: int, *, who: str) -> None:
    """A sign: `who` (CUSTOMER, or a person's key) is writing. Open pages are told when it begins."""
    try:
        before: Any = live.client().hget(_key(conversation), who)
        pipe = live.client().pipeline(transaction=False)
        pipe.hset(_key(conversation), who, str(int(time.time())))
        pipe.expire(_key(conversation), TTL * 2)
        pipe.execute()
        if before is None or time.time() - int(before) > TTL:
            live.nudge(Ref("crm.conversation", conversation), aspect="typing")
    except redis.RedisError as error:
        logger.info("Typing is not shown: %s", error)


def stop(conversation: int, *, who: str) -> None:
    """What was being written is said now."""
    try:
        live.client().hdel(_key(conversation), who)
    except redis.RedisError as error:
        logger.info("Typing is not shown: %s", error)


def others(conversation: int, *, without: str) -> list[str]:
    """Who else is writing there."""
    try:
        found: Any = live.client().hgetall(_key(conversation))
    except redis.RedisError as error:
        logger.info("Typing is not shown: %s", error)
        return []
    now = time.time()
    return [who.decode() for who, at in found.items() if who.decode() != without and now - int(at) <= TTL]
