"""Presence: who else has this record open, and who is editing it. A courtesy, never a lock.

Kept in Redis alone, one hash per record, each person's entry forgotten after `TTL` seconds without a sign of life. With
Redis away nobody is shown and nothing else changes. Next in the flow: `crm/views/live.py`, which tells the others.
"""

import json
import logging
import time
from dataclasses import dataclass
from typing import Any

import redis

from conflicts.refs import Ref
from crm import live

logger = logging.getLogger(__name__)

CHANNEL = "vigente:here"
TTL = 50
"""Seconds; a page that is open gives a sign every 20."""
AT_MOST = 20


@dataclass(frozen=True, kw_only=True)
class Person:
    key: str
    name: str
    doing: str
    """Empty for looking, else the field or form that is being written (`amount`, `note`)."""

    @property
    def busy(self) -> bool:
        return bool(self.doing)


def _key(ref: Ref) -> str:
    return f"vigente:here:{ref}"


GONE = "gone"


def enter(ref: Ref, *, user: Any, doing: str = "", sent: int = 0) -> None:
    """A sign of life, or of leaving (`GONE`); the others are told only if something is new.

    `sent` is the page's own clock: signs overtake each other on the way, and one that is older than the last is
    dropped, so that nobody comes back by a late sign. Without it the sign counts in any case.
    """
    entry = json.dumps({"name": str(user), "doing": doing[:40], "at": int(time.time()), "sent": sent})
    try:
        before: Any = live.client().hget(_key(ref), str(user.pk))
        if before and sent and sent < json.loads(before)["sent"]:
            return
        pipe = live.client().pipeline(transaction=False)
        pipe.hset(_key(ref), str(user.pk), entry)
        pipe.expire(_key(ref), TTL * 2)
        if _is_news(before, doing):
            pipe.publish(CHANNEL, str(ref))
        pipe.execute()
    except redis.RedisError as error:
        logger.info("Presence is not shown: %s", error)


def others(ref: Ref, *, user: Any) -> list[Person]:
    """Who else is here, those who write first. Nobody if Redis does not answer."""
    try:
        found: Any = live.client().hgetall(_key(ref))
    except redis.RedisError as error:
        logger.info("Presence is not shown: %s", error)
        return []
    return people(found, without=str(user.pk))


def people(entries: dict[bytes, bytes], *, without: str) -> list[Person]:
    """The entries of a hash, the late ones left out."""
    here = []
    for raw_key, raw in entries.items():
        key, entry = raw_key.decode(), json.loads(raw)
        if key != without and entry["doing"] != GONE and time.time() - entry["at"] < TTL:
            here.append(Person(key=key, name=entry["name"], doing=entry["doing"]))
    return sorted(here, key=lambda person: (not person.busy, person.name))[:AT_MOST]


def _is_news(before: Any, doing: str) -> bool:
    if before is None:
        return True
    entry = json.loads(before)
    return bool(entry["doing"] != doing[:40] or time.time() - entry["at"] > TTL)
