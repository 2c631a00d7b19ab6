"""Holders of a lease that has ended: they live on, they carry a name that lives again, they wait, their clock stands.

The unit of work is the same in all: the offer is mailed once. The lease alone has to see to it: no idempotency key.
"""

import datetime as dt
import threading
from collections.abc import Callable, Generator
from functools import partial

from django.db import connection, transaction
from django.utils import timezone

from config.lab.crew import blocked_or_done, wait
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import activities, deals, lines, records
from config.lab.world import AGENT, SOON, load
from conflicts import leases
from conflicts.leases import Grant
from conflicts.models import Lease, LedgerEntry
from conflicts.proposals import Read
from conflicts.refs import Ref
from crm.models import Activity, Opportunity

WORKER = "worker-1"
SECONDS = 60.0


def let_end(ref: Ref) -> None:
    """Time passes: the lease on the record ends this moment, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE conflicts_lease SET expires_at = clock_timestamp() WHERE key = %s", [str(ref)])


def acquire(ref: Ref) -> Grant:
    """The lease on the record, as soon as nobody holds it."""
    while True:
        grant = leases.acquire(str(ref), by=AGENT, unit=f"offer {ref}", reason="mail the offer", seconds=SECONDS)
        if isinstance(grant, Grant):
            return grant


def mail(one: Round, who: str, read: Read, grant: Grant) -> None:
    text = one.mark(who)
    one.commit(text, wish("opportunity.log", read, by=AGENT, lease=grant.claim, kind="mail", text=text))


def take_naively(ref: Ref, name: str) -> None:
    """The usual lock: a row with the worker's name in it, and a time."""
    moment = timezone.now()
    values = {"granted_at": moment, "beat_at": moment, "expires_at": moment + dt.timedelta(seconds=SECONDS)}
    texts = {"unit": "offer", "actor": name, "reason": "offer", "release_when": "done"}
    Lease.objects.update_or_create(key=str(ref), defaults={**values, **texts, "holder": name, "seconds": SECONDS})


def mail_naively(one: Round, who: str) -> None:
    text = one.mark(who)
    Activity.objects.create(opportunity_id=one.deal.pk, kind="mail", at=f"{SOON}T12:00Z", by=str(AGENT), text=text)
    one.done(text)


def mailed_once(one: Round) -> Judgement:
    made = activities(one)
    wrong = [f"{line.text!r}: the offer went out once more" for line in made[1:]]
    return Judgement(effects=len(made), wrong=[*wrong, *lines((not made, "the offer never went out"))])


# --- the same worker name with a new life -----------------------------------------------------------------------------


def _name_naively(one: Round) -> None:
    def old_life() -> Generator[str]:
        take_naively(one.deal, WORKER)
        yield "it works on"
        yield "it is taken for dead"
        yield "its new life has done the work"
        if Lease.objects.filter(key=str(one.deal), holder=WORKER).exists():
            mail_naively(one, "old life")

    def new_life() -> Generator[str]:
        yield "it works on"
        take_naively(one.deal, WORKER)
        yield "it is taken for dead"
        mail_naively(one, "new life")

    one.race(old_life, new_life)


def _name_guarded(one: Round) -> None:
    def old_life() -> Generator[str]:
        grant, read = acquire(one.deal), Read.of(load(one.deal))
        yield "it works on"
        yield "it is taken for dead"
        yield "its new life has done the work"
        mail(one, "old life", read, grant)

    def new_life() -> Generator[str]:
        yield "it works on"
        let_end(one.deal)
        grant, read = acquire(one.deal), Read.of(load(one.deal))
        yield "it is taken for dead"
        mail(one, "new life", read, grant)

    one.race(old_life, new_life)


register(
    Scenario(
        slug="same_worker_name_new_life",
        title="a worker comes back under its name while its former life goes on",
        prepare=deals,
        naive=_name_naively,
        guarded=_name_guarded,
        judge=mailed_once,
    )
)

# --- a holder whose lease has ended asks first ------------------------------------------------------------------------


def _asks_first_naively(one: Round) -> None:
    """Marked as taken, and then it turns out that it was not ours to do."""
    key = f"lab:offer:{one.number}"

    def worker(who: str) -> None:
        mark = LedgerEntry(key=key, fingerprint="", actor=who, answer={})
        seen = LedgerEntry.objects.filter(key=key).exists()
        LedgerEntry.objects.bulk_create([mark], ignore_conflicts=True)
        if not seen and Lease.objects.filter(key=str(one.deal), holder=who).exists():
            mail_naively(one, who)

    def old() -> Generator[str]:
        take_naively(one.deal, "old")
        yield "it works on"
        yield "it has been taken over"
        worker("old")

    def new() -> Generator[str]:
        yield "it works on"
        take_naively(one.deal, "new")
        yield "it has been taken over"
        yield "the old one has asked"
        worker("new")

    one.race(old, new)


def _asks_first_guarded(one: Round) -> None:
    """Both hold the unit's own key; what the old one is told must not be the answer that the new one gets."""
    key, text = f"lab:offer:{one.number}", one.mark("offer")

    def ask(read: Read, grant: Grant, *, mark: str) -> None:
        offer = wish("opportunity.log", read, by=AGENT, key=key, lease=grant.claim, kind="mail", text=text)
        one.commit(mark, offer)

    def old() -> Generator[str]:
        grant, read = acquire(one.deal), Read.of(load(one.deal))
        yield "it works on"
        yield "it has been taken over"
        ask(read, grant, mark="")  # the text is the unit's: its successor writes the same

    def new() -> Generator[str]:
        yield "it works on"
        let_end(one.deal)
        grant, read = acquire(one.deal), Read.of(load(one.deal))
        yield "it has been taken over"
        yield "the old one has asked"
        ask(read, grant, mark=text)

    one.race(old, new)


register(
    Scenario(
        slug="stale_holder_asks_first",
        title="a holder whose lease has ended asks under the unit's key before its successor does",
        prepare=deals,
        naive=_asks_first_naively,
        guarded=_asks_first_guarded,
        judge=mailed_once,
    )
)

# --- a takeover while the old holder waits for a row lock -------------------------------------------------------------


def _takeover(one: Round, *, old: Callable[[], None], new: Callable[[], None]) -> None:
    """The deal's row is held; the old holder waits for it; its lease ends and is taken over; then it gets the row."""
    locked, let_go = threading.Event(), threading.Event()

    def keep_the_row() -> None:
        with transaction.atomic():
            Opportunity.objects.select_for_update(no_key=True).get(pk=one.deal.pk)
            locked.set()
            let_go.wait()

    pids = [one.crew.pid(seat) for seat in range(4)]
    keeper = one.crew.start(2, keep_the_row)
    try:
        locked.wait()
        steps = []
        for seat, call in ((0, old), (3, partial(let_end, one.deal)), (1, new)):
            steps.append(one.crew.start(seat, call))
            blocked_or_done(steps[-1], pids[seat])
    finally:
        let_go.set()
    for step in (keeper, *steps):
        wait(step)


def _takeover_naively(one: Round) -> None:
    """The lease asked for in the WHERE of the write: after its wait, only the locked row is looked at again."""
    take_naively(one.deal, "old")

    def old() -> None:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE crm_opportunity SET decision = 'mailed' WHERE id = %s AND EXISTS (SELECT FROM"
                    " conflicts_lease WHERE key = %s AND holder = 'old' AND expires_at > clock_timestamp())",
                    [one.deal.pk, str(one.deal)],
                )
                still_mine = cursor.rowcount == 1
            if still_mine:
                mail_naively(one, "old holder")

    def new() -> None:
        take_naively(one.deal, "new")
        if not activities(one):
            mail_naively(one, "new holder")

    _takeover(one, old=old, new=new)


def _takeover_guarded(one: Round) -> None:
    grant, read = acquire(one.deal), Read.of(load(one.deal))

    def new() -> None:
        mine = acquire(one.deal)
        if not activities(one):
            mail(one, "new holder", Read.of(load(one.deal)), mine)

    _takeover(one, old=lambda: mail(one, "old holder", read, grant), new=new)


register(
    Scenario(
        slug="takeover_while_waiting_for_a_row",
        title="a lease is taken over while its old holder waits for a row lock",
        prepare=deals,
        naive=_takeover_naively,
        guarded=_takeover_guarded,
        judge=mailed_once,
    )
)

# --- a lease judged by a clock that stands ----------------------------------------------------------------------------


def _clock_naively(one: Round) -> None:
    """now() is the time at which the transaction began; a lease that ended since looks good."""
    take_naively(one.deal, WORKER)

    def holder() -> Generator[str]:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT now()")
            yield "the transaction has begun"
            yield "the lease has ended"
            cursor.execute(
                "SELECT 1 FROM conflicts_lease WHERE key = %s AND holder = %s AND expires_at > now()",
                [str(one.deal), WORKER],
            )
            if cursor.fetchone():
                mail_naively(one, "holder")

    one.race(holder, lambda: _time(one))


def _time(one: Round) -> Generator[str]:
    yield "the transaction has begun"
    let_end(one.deal)


def _clock_guarded(one: Round) -> None:
    grant, read = acquire(one.deal), Read.of(load(one.deal))

    def holder() -> Generator[str]:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT now()")
            yield "the transaction has begun"
            yield "the lease has ended"
            mail(one, "holder", read, grant)

    one.race(holder, lambda: _time(one))


def _nothing_after_the_end(one: Round) -> Judgement:
    made = activities(one)
    wrong = [f"{line.text!r}: mailed under a lease that had ended" for line in made]
    wrong += lines((not made and not records(one.deal, state="lease_expired"), "the refusal left no record"))
    return Judgement(effects=len(made), wrong=wrong)


register(
    Scenario(
        slug="lease_judged_by_a_frozen_clock",
        title="a lease ends inside a transaction whose clock stands still",
        prepare=deals,
        naive=_clock_naively,
        guarded=_clock_guarded,
        judge=_nothing_after_the_end,
    )
)
