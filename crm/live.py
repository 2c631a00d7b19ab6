"""The live bus: tells open screens that a subject has changed, over Redis.

A hint, never the truth: losing Redis costs a screen its live bar (it falls back to asking), never a write. Receivers
get JSON with subject, version, by, aspects and action. Next in the flow: `crm/views/live.py`, the browser's stream.
"""

import json
import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.dispatch import receiver

from conflicts.actors import SYSTEM
from conflicts.refs import Ref
from conflicts.signals import Committed, committed

logger = logging.getLogger(__name__)

CHANNEL = "vigente:changes"
AT_MOST = 50
"""Of a large batch (an import) only so many are told one by one; lists refresh on the first."""


@cache
def client() -> redis.Redis:
    """One pooled client per process; waits at most a second, so that a dead Redis never holds up a request."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)


def nudge(subject: Ref, *, aspect: str) -> None:
    """Tell open screens to look again though no version has risen: a delivery ended, somebody is typing."""
    try:
        told = {"subject": str(subject), "version": 0, "by": str(SYSTEM), "aspects": [aspect], "action": ""}
        client().publish(CHANNEL, json.dumps(told))
    except redis.RedisError as error:
        logger.warning("No live update was sent: %s", error)


@receiver(committed, dispatch_uid="crm.live")
def publish(sender: Any, commits: Sequence[Committed], **kwargs: Any) -> None:
    try:
        pipe = client().pipeline(transaction=False)
        for commit in commits[:AT_MOST]:
            pipe.publish(
                CHANNEL,
                json.dumps({**commit._asdict(), "subject": str(commit.subject)}),
            )
        pipe.execute()
    except redis.RedisError as error:
        logger.warning("No live update was sent: %s", error)
