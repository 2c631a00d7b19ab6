"""Claims: one reviewer at a time decides about a conflict, under a lease that frees itself.

Guarantees that a claim ends after its time whatever becomes of its holder, that it is one for all tabs of one person,
and that a decision made with a claim that has ended is refused (the gate's question 2). Who has none may decide what
nobody holds: the decision takes the claim for its own moment.
Next in the flow: `conflicts/decisions.py`.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone
from django.utils.formats import date_format

from conflicts import leases, sentences
from conflicts.actors import Actor
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import LeaseLost
from conflicts.leases import Busy, Claim, Grant
from conflicts.models.lease import Lease, Renewal
from conflicts.sentences import Sentence, actor

SECONDS = 600.0
"""As long as a lease may last: to read, to ask somebody, to decide."""

PREFIX = "conflict:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    by: Actor
    since: dt.datetime
    until: dt.datetime
    claim: Claim
    lease: int
    """Its row, whose page in the admin breaks it."""


def key_of(record: int) -> str:
    return f"{PREFIX}{record}"


def holders(records: Iterable[int]) -> dict[int, Holder]:
    """Who holds which of these conflicts now, in one query."""
    keys = [key_of(record) for record in records]
    rows = Lease.objects.filter(key__in=keys, expires_at__gt=ClockTimestamp()).exclude(holder="")
    return {int(row.key.removeprefix(PREFIX)): _holder(row) for row in rows}


def holder(record: int) -> Holder | None:
    return holders([record]).get(record)


def take(record: int, *, by: Actor, seconds: float = SECONDS) -> Claim | Holder:
    """The claim, taken or made longer; or whoever holds it."""
    found = holder(record)
    if found is not None and found.by.same_as(by):
        try:
            return leases.renew(_grant(found, by=by, seconds=seconds)).claim
        except LeaseLost:
            pass  # it ended between our look and now
    got = leases.acquire(
        key_of(record),
        by=by,
        unit=f"review of conflict {record}",
        reason="decides about it",
        seconds=seconds,
        renewal=Renewal.NEVER,
        release_when="it is decided, given back, or its time is over",
    )
    if isinstance(got, Grant):
        return got.claim
    return holder(record) or _passing(got)


def give_back(record: int, *, by: Actor) -> bool:
    """False if it was not theirs (any more): somebody else's claim is not touched."""
    found = holder(record)
    return found is not None and found.by.same_as(by) and leases.release(_grant(found, by=by, seconds=SECONDS))


def release(claim: Claim, *, by: Actor) -> None:
    """After the decision. That it has ended meanwhile is nobody's loss; somebody else's is not touched."""
    record = claim.key.removeprefix(PREFIX)
    found = holder(int(record))
    if found is not None and not found.by.same_as(by):
        return
    leases.release(
        Grant(claim=claim, unit=f"review of conflict {record}", actor=str(by), seconds=SECONDS, asked_at=0.0)
    )


def held_by(found: Holder) -> Sentence:
    return Sentence("held_by", {"who": actor(found.by), "until": {"clock": found.until.isoformat()}})


def _holder(row: Lease) -> Holder:
    claim = Claim(key=row.key, holder=row.holder, fence=row.fence)
    return Holder(by=Actor.parse(row.actor), since=row.granted_at, until=row.expires_at, claim=claim, lease=row.pk)


def _grant(found: Holder, *, by: Actor, seconds: float) -> Grant:
    record = found.claim.key.removeprefix(PREFIX)
    return Grant(claim=found.claim, unit=f"review of conflict {record}", actor=str(by), seconds=seconds, asked_at=0.0)


def _passing(busy: Busy) -> Holder:
    """Whoever held it ended between our question and our look: as the answer to the question said."""
    now = timezone.now()
    until = now + dt.timedelta(seconds=busy.seconds_left)
    return Holder(
        by=Actor.parse(busy.actor), since=now, until=until, claim=Claim(key=busy.key, holder="", fence=0), lease=0
    )


def _clock(text: str) -> str:
    return date_format(timezone.localtime(dt.datetime.fromisoformat(text)), "H:i")


sentences.shown_by("clock", _clock)
