"""Limits: how often something may be done, counted in Redis, for capacity and for people's patience.

Guarantees that a count never blocks for ever (the window slides and its keys expire by themselves, in one atomic
script), and what happens when Redis is away: agents and integrations wait, people work and it is logged. A limit
protects capacity, never the validity of a change: that is the gate's.

What is limited, and who asks before it does the thing:

    model:NAME            each request to a language model            of_model, before the request, outside transactions
    api:NAME              each sending to an outside destination      of_destination, by conflicts/delivery.py
    channel:NAME, WHO     each message to one contact on a channel    of_contact, before a message is put in the outbox
    inbound:NAME, WHO     each line of one visitor of a chat          crm/views/webchat.py, before it is stored
    newcomers:NAME, WHO   each new visitor, per address and channel   crm/newcomers.py, before the first line is stored
    a person's queue      proposals that wait for somebody            in rows, not here (agents/backpressure.py)

`settings.VIGENTE_LIMITS` gives a rate to a name or to all names that begin with it (`api`, `api:mailer`); the longest
that fits counts. Who is turned away gets `retry_after`: a job puts itself off so long, which is no attempt, a page says
when. A turn that two workers take is counted twice: a count is no lock.

    room = limits.of_contact("whatsapp", f"contact:{contact.pk}", by=AGENT)
    if not room:
        raise PutOff(room.retry_after, "the contact has had enough for now")
"""

import logging
from dataclasses import dataclass
from functools import cache

import redis
from django.conf import settings
from limits import RateLimitItem, parse
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from conflicts.actors import Actor

logger = logging.getLogger(__name__)

PREFIX = "vigente:limit"
NAMES = ("model", "api", "channel", "inbound", "newcomers")


@dataclass(frozen=True, slots=True)
class Allowance:
    allowed: bool
    retry_after: float = 0.0
    """Seconds until it is worth asking again; 0 where it was allowed."""
    counted: bool = True
    """False where Redis was away and the answer rests on who asked."""

    def __bool__(self) -> bool:
        return self.allowed


RETRY_WHEN_AWAY = 15.0


def rate(name: str) -> RateLimitItem | None:
    """The limit for `name`: the longest name in settings.VIGENTE_LIMITS that `name` begins with; None for no limit.

    Raises ValueError for a rate that cannot be read (`"60/minute"` can).
    """
    rates: dict[str, str] = settings.VIGENTE_LIMITS
    found = max((known for known in rates if f"{name}:".startswith(f"{known}:")), key=len, default=None)
    return parse(rates[found]) if found else None


def of_model(model: str, *, by: Actor) -> Allowance:
    """One request to that language model."""
    return take(f"model:{model}", by=by)


def of_destination(name: str, *, by: Actor) -> Allowance:
    """One sending to that place outside."""
    return take(f"api:{name}", by=by)


def of_contact(channel: str, contact: str, *, by: Actor) -> Allowance:
    """One message to that contact (any stable name, `contact:7`) on that channel."""
    return take(f"channel:{channel}", contact, by=by)


def take(name: str, *who: str, by: Actor, cost: int = 1) -> Allowance:
    """Count `cost` against the limit of `name` for `who` (a contact, a conversation), if it still fits.

    Nothing is counted when it does not.
    """
    item = rate(name)
    if item is None:
        return Allowance(allowed=True)
    try:
        limiter = _limiter()
        if limiter.hit(item, name, *who, cost=cost):
            return Allowance(allowed=True)
        window = limiter.get_window_stats(item, name, *who)
        return Allowance(allowed=False, retry_after=max(0.1, window.reset_time - _now()))
    except (redis.RedisError, OSError) as error:
        if by.is_person:
            logger.warning("Redis is away: %s was not counted for %s (%s)", name, by.name, error)
            return Allowance(allowed=True, counted=False)
        logger.warning("Redis is away: %s waits (%s)", name, error)
        return Allowance(allowed=False, retry_after=RETRY_WHEN_AWAY, counted=False)


def _now() -> float:
    """Redis's own clock, in seconds: the windows are counted by it."""
    seconds, micros = _storage().storage.time()
    return float(seconds) + float(micros) / 1e6


@cache
def _storage() -> RedisStorage:
    # A dead Redis must not hold up whoever asks: it answers within a second or it is away.
    return RedisStorage(
        settings.REDIS_URL.replace("unix://", "redis+unix://"),
        key_prefix=PREFIX,
        socket_timeout=1,
        socket_connect_timeout=1,
    )


@cache
def _limiter() -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(_storage())
