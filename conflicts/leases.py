"""Leases in PostgreSQL: temporary, exclusive, and worthless the moment they end.

Guarantees that at most one acquisition of a key is in force by the database's clock; that its fencing token is larger
than any before it; and that whoever lost it for whatever reason can do nothing more: each step is one compare-and-swap
on (key, holder, token, not expired), and the gate asks again with the row locked (`check`).

A lease protects a short stretch near the commit. It is not for a model call, nor for a person's thinking, except where
the design says so (a conversation's turn). A holder stops itself at two thirds of its time: clocks drift and processes
pause, and the last third is for noticing. Next in the flow: `conflicts/gate.py`, question 2.
"""

import logging
import math
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from django.db import connection, transaction

from conflicts.actors import SYSTEM, Actor
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import BadLease, LeaseLost
from conflicts.models.lease import Lease, LeaseEvent, LeaseEventKind, Renewal

logger = logging.getLogger(__name__)

SHORTEST, LONGEST = 0.05, 600.0
"""Seconds. Shorter than a round trip protects nothing; longer is a lock that outlives its owner."""

STOP_AT = 2 / 3
"""The share of its time after which a holder stops by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a holder shows at the gate."""

    key: str
    holder: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A lease as its holder has it. `seconds` is how long it is good for, counted from when it was asked for."""

    claim: Claim
    unit: str
    actor: str
    seconds: float
    asked_at: float = field(repr=False)
    """time.monotonic() before the request was sent: never later than the database's own start."""

    @property
    def must_stop(self) -> bool:
        """True from two thirds of its time on: start nothing more under this lease."""
        return time.monotonic() - self.asked_at >= self.seconds * STOP_AT


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """Somebody else holds the key."""

    key: str
    actor: str
    unit: str
    seconds_left: float


def acquire(
    key: str,
    *,
    by: Actor,
    unit: str,
    reason: str,
    seconds: float,
    renewal: Renewal = Renewal.NEVER,
    release_when: str = "the unit of work is done",
) -> Grant | Busy:
    """Take the lease on `key` if nobody holds it, in one compare-and-swap. Raises BadLease for what cannot be had."""
    _check(key, seconds, by=str(by), unit=unit)
    asked_at, holder = time.monotonic(), uuid.uuid4().hex
    values: dict[str, str | float] = {
        "key": key,
        "holder": holder,
        "unit": unit[:200],
        "actor": str(by)[:200],
        "seconds": seconds,
        "reason": reason[:200],
        "renewal": str(renewal),
        "release_when": release_when[:200],
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_ACQUIRE, values)
        row = cursor.fetchone()
        if row is None:
            return _who_holds(key)
        fence, recovery = row
        kind = LeaseEventKind.TAKEN_OVER if recovery != "{}" else LeaseEventKind.GRANTED
        _tell(key, fence, kind, by=str(by), unit=unit)
    claim = Claim(key=key, holder=holder, fence=fence)
    return Grant(claim=claim, unit=unit, actor=str(by), seconds=seconds, asked_at=asked_at)


# ON CONFLICT waits for the row and then looks at what is there now: of two that ask at once, the second sees the first.
_ACQUIRE = """
    INSERT INTO conflicts_lease AS l
           (key, holder, unit, actor, fence, granted_at, expires_at, beat_at, seconds, reason, renewal, release_when,
            recovery)
    VALUES (%(key)s, %(holder)s, %(unit)s, %(actor)s, 1, clock_timestamp(),
            clock_timestamp() + make_interval(secs => %(seconds)s), clock_timestamp(), %(seconds)s, %(reason)s,
            %(renewal)s, %(release_when)s, '{}')
    ON CONFLICT (key) DO UPDATE
       SET holder = excluded.holder, unit = excluded.unit, actor = excluded.actor, fence = l.fence + 1,
           granted_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => %(seconds)s),
           beat_at = clock_timestamp(), seconds = excluded.seconds, reason = excluded.reason,
           renewal = excluded.renewal, release_when = excluded.release_when,
           recovery = CASE WHEN l.holder = '' THEN '{}'::jsonb ELSE jsonb_build_object(
               'holder', l.holder, 'unit', l.unit, 'fence', l.fence, 'expired_at', l.expires_at,
               'taken_at', clock_timestamp()) END
     WHERE l.holder = '' OR l.expires_at <= clock_timestamp()
    RETURNING fence, recovery::text
"""


def renew(grant: Grant, *, seconds: float | None = None) -> Grant:
    """A sign of life: the lease is good for `seconds` (default: its length) from now on.

    Raises LeaseLost if it is no longer this holder's, for whatever reason; BadLease for a length out of bounds.
    """
    seconds = grant.seconds if seconds is None else seconds
    _check(grant.claim.key, seconds, by=grant.actor, unit=grant.unit)
    asked_at = time.monotonic()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conflicts_lease SET expires_at = clock_timestamp() + make_interval(secs => %s),"
            " beat_at = clock_timestamp(), seconds = %s"
            " WHERE key = %s AND holder = %s AND fence = %s AND expires_at > clock_timestamp()",
            [seconds, seconds, grant.claim.key, grant.claim.holder, grant.claim.fence],
        )
        renewed = cursor.rowcount == 1
        kind = LeaseEventKind.RENEWED if renewed else LeaseEventKind.LOST
        _tell(grant.claim.key, grant.claim.fence, kind, by=grant.actor, unit=grant.unit)
    if not renewed:
        raise LeaseLost
    return replace(grant, seconds=seconds, asked_at=asked_at)


def release(grant: Grant) -> bool:
    """Give it back. False if it was no longer this holder's: the new holder's lease is not touched."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conflicts_lease SET holder = '', expires_at = clock_timestamp()"
            " WHERE key = %s AND holder = %s AND fence = %s",
            [grant.claim.key, grant.claim.holder, grant.claim.fence],
        )
        released: bool = cursor.rowcount == 1
        kind = LeaseEventKind.RELEASED if released else LeaseEventKind.LOST
        _tell(grant.claim.key, grant.claim.fence, kind, by=grant.actor, unit=grant.unit)
    return released


def break_(key: str, *, by: Actor, why: str) -> bool:
    """A manager takes the lease away; its holder's writes are refused from now on. False if nobody held it."""
    with transaction.atomic():
        lease = Lease.objects.select_for_update().filter(key=key).exclude(holder="").first()
        if lease is None:
            return False
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE conflicts_lease SET holder = '', expires_at = clock_timestamp() WHERE key = %s AND fence = %s",
                [key, lease.fence],
            )
        detail = {"why": why, "holder": lease.holder, "unit": lease.unit, "actor": lease.actor}
        _tell(key, lease.fence, LeaseEventKind.BROKEN, by=str(by), unit=lease.unit, detail=detail)
    return True


def in_force(claims: Sequence[Claim]) -> set[Claim]:
    """Those of `claims` that are the current ones, their rows locked; for the gate, inside its transaction.

    Rows are locked first, in ascending order of key, and judged after: a fence in another table's WHERE lets a stale
    holder through, since after a wait only the locked row is looked at again; and an expiry compared in the locking
    statement may be compared before the wait.
    """
    if not claims:
        return set()
    keys = [claim.key for claim in claims]
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM conflicts_lease WHERE key = ANY(%s) ORDER BY key FOR UPDATE", [keys])
        cursor.execute(
            "SELECT key, holder, fence FROM conflicts_lease WHERE key = ANY(%s) AND expires_at > clock_timestamp()",
            [keys],
        )
        current = {Claim(key=key, holder=holder, fence=fence) for key, holder, fence in cursor.fetchall()}
    return current & set(claims)


def is_held(key: str) -> bool:
    """Is somebody at it right now? For what a page shows; never a ground to act on."""
    return Lease.objects.filter(key=key, expires_at__gt=ClockTimestamp()).exclude(holder="").exists()


def lost(claim: Claim, *, unit: str = "") -> None:
    """Record that a holder came too late; called by the gate when it refuses one."""
    _tell(claim.key, claim.fence, LeaseEventKind.LOST, by=str(SYSTEM), unit=unit)


@contextmanager
def holding(
    key: str, *, by: Actor, unit: str, reason: str, seconds: float, renewal: Renewal = Renewal.NEVER
) -> Iterator[Grant | Busy]:
    """`acquire`, and `release` at the end of the block, also when it fails."""
    ends = "the block ends"
    grant = acquire(key, by=by, unit=unit, reason=reason, seconds=seconds, renewal=renewal, release_when=ends)
    try:
        yield grant
    finally:
        if isinstance(grant, Grant):
            release(grant)


def _check(key: str, seconds: float, *, by: str, unit: str) -> None:
    """The refusal is evidence in the caller's transaction; where that ends with it, the log still has it."""
    if not 0 < len(key) <= 200:
        why = "A lease protects something whose name has 1 to 200 characters."
    elif not (math.isfinite(seconds) and SHORTEST <= seconds <= LONGEST):
        why = f"A lease lasts {SHORTEST} to {LONGEST} seconds, not {seconds}."
    else:
        return
    logger.warning("No lease for %s (%s): %s", by, unit, why)
    _tell(key[:200], 0, LeaseEventKind.REFUSED, by=by, unit=unit, detail={"why": why})
    raise BadLease(why)


def _who_holds(key: str) -> Busy:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT actor, unit, extract(epoch FROM expires_at - clock_timestamp())::float FROM conflicts_lease"
            " WHERE key = %s",
            [key],
        )
        actor, unit, left = cursor.fetchone()
    return Busy(key=key, actor=actor, unit=unit, seconds_left=max(0.0, left))


def _tell(
    key: str, fence: int, kind: LeaseEventKind, *, by: str, unit: str, detail: dict[str, str] | None = None
) -> None:
    LeaseEvent.objects.create(key=key, fence=fence, kind=kind, by=by[:200], unit=unit[:200], detail=detail or {})
