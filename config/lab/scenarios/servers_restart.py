"""Servers that go away in the middle: the database under the workers, the web server under a form, a scheduler."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import connection, transaction

from config.embedded.processes import until
from config.lab import database, reserved
from config.lab.broker import Floor
from config.lab.crew import WAIT
from config.lab.database import OwnDatabase
from config.lab.processes import Process
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Kind, Scenario, register
from config.lab.scenarios.lease_holders import mailed_once
from config.lab.scenarios.parts import activities, deals, groups, lines
from config.lab.scenarios.workers_die import RECOVERY, each_once, mailed, role
from config.lab.web import Browser, Web, status
from conflicts import history
from crm.models import Opportunity

# --- the database restarts in the middle of the work ------------------------------------------------------------------

ITEMS = 60


@contextmanager
def _a_database_and_a_worker() -> Iterator[tuple[OwnDatabase, Floor]]:
    with OwnDatabase() as own, Floor() as floor, floor.celery():
        yield own, floor


def _database_restarts(one: Round) -> None:
    """For an update in one round, killed (-9) and recovering in the next; the workers live through both."""
    own, floor = one.stage
    floor.caller.do(role(one), deals=[str(ref) for ref in one.refs])
    one.facts["begun"] = until(lambda: mailed(one) > 0, seconds=RECOVERY)
    one.facts["in hand"] = ITEMS - mailed(one)
    own.restart(crash=one.number % 2 == 1)
    if one.guarded:
        one.facts["in time"] = until(lambda: mailed(one) >= ITEMS, seconds=RECOVERY)
    else:
        until(floor.nothing_queued, seconds=RECOVERY)


register(
    Scenario(
        slug="database_restarts",
        title="PostgreSQL is restarted, or killed, in the middle of the work",
        kind=Kind.PROCESS,
        prepare=groups(ITEMS),
        naive=_database_restarts,
        guarded=_database_restarts,
        judge=each_once,
        stage=_a_database_and_a_worker,
        needs=database.missing,
    )
)

# --- the web server ends under a form ---------------------------------------------------------------------------------


def _form_is_sent(one: Round) -> None:
    """A person presses the button and the server ends: killed before the commit, killed after it and before the answer
    is read, or asked to end while it commits. Whoever hears nothing presses again; so does who is impatient."""
    web: Web = one.stage
    browser = Browser(web.port, one.world.alice)
    path = f"/deals/{one.deal.pk}/log/" if one.guarded else f"/lab/naive/{one.deal.pk}/"
    form = {"kind": "mail", "text": one.mark("offer"), "version": "1", "key": f"form-{one.number}"}
    how = ("after the commit", "asked to end", "before the commit")[one.number % 3]
    if how == "after the commit":
        line = browser.press(path, form)
        one.facts["under way"] = until(lambda: bool(activities(one)), seconds=WAIT)
        web.kill()
        line.close()
    else:
        with _row_is_held(one) as somebody_waits:
            line = browser.press(path, form)
            one.facts["under way"] = until(somebody_waits, seconds=WAIT)
            if how == "asked to end":
                web.ask_to_end()
            else:
                web.kill()
        first = status(line)
        if how == "asked to end":
            one.facts["kept its word"] = first in (200, 204, 302) and web.ended()
        web.kill()
    web.start()
    one.facts["answer"] = status(browser.press(path, form))


@contextmanager
def _row_is_held(one: Round) -> "Iterator[Holding]":
    """Somebody else's transaction has the deal's row; the block ends it."""
    holding = Holding(one.deal.pk)
    try:
        yield holding
    finally:
        holding.end()


class Holding:
    def __init__(self, pk: int) -> None:
        self._locked, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold, args=(pk,), daemon=True)
        self._thread.start()
        self._locked.wait(WAIT)

    def _hold(self, pk: int) -> None:
        try:
            with transaction.atomic():
                Opportunity.objects.select_for_update(no_key=True).get(pk=pk)
                self._locked.set()
                self._over.wait(WAIT)
        finally:
            connection.close()

    def __call__(self) -> bool:
        """Somebody waits for the row."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            return bool(cursor.fetchone()[0])

    def end(self) -> None:
        self._over.set()
        self._thread.join(WAIT)


def _logged_once(one: Round) -> Judgement:
    judgement = mailed_once(one)
    events = history.events_of(Opportunity)._default_manager.filter(pgh_obj_id=one.deal.pk, pgh_label="update").count()
    wrong = lines(
        (not one.facts["under way"], "the form never came to the commit: the race was not run"),
        (not one.facts.get("kept its word", True), "the server was asked to end and dropped what it had begun"),
        (one.facts["answer"] not in (200, 204, 302), f"the second press was answered with {one.facts['answer']}"),
        (one.guarded and events != 1, f"the deal was written {events} times"),
    )
    return Judgement(effects=judgement.effects, wrong=[*judgement.wrong, *wrong])


register(
    Scenario(
        slug="web_server_ends_under_a_form",
        title="the web server is killed, or asked to end, while a form commits",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_form_is_sent,
        guarded=_form_is_sent,
        judge=_logged_once,
        stage=Web,
    )
)

# --- two schedulers ---------------------------------------------------------------------------------------------------

EVERY, LOCK = 0.5, 5.0
"""Seconds: of the schedule, and after which a leader that went silent is replaced."""
TICKS = 4


@dataclass
class Schedulers:
    floor: Floor
    running: list[Process] = field(default_factory=list)
    started: int = 0

    def start(self, *, guarded: bool) -> None:
        self.started += 1
        usual = ("-S", "celery.beat.PersistentScheduler", "-s", str(self.floor.place / f"schedule-{self.started}"))
        self.running.append(self.floor.schedule(*(() if guarded else usual)))

    def heard(self) -> list[int]:
        """The process of each tick since the last time, in order."""
        with self.floor.redis() as broker:
            found = []
            while (message := broker.rpop("default")) is not None:
                origin: str = json.loads(message)["headers"]["origin"]
                found.append(int(origin.partition("@")[0].removeprefix("gen")))
            return found


@contextmanager
def _schedulers() -> Iterator[Schedulers]:
    short = {reserved.SCHEDULE: str(EVERY), reserved.LOCK: str(LOCK)}
    with Floor(**short) as floor:
        both = Schedulers(floor)
        try:
            yield both
        finally:
            for one in both.running:
                one.kill()


def _two_schedulers(one: Round) -> None:
    """Two run; then whoever rings is asked to end (in one round) or killed, and the schedule goes on."""
    both: Schedulers = one.stage
    while len(both.running) < 2:
        both.start(guarded=one.guarded)
    ticks: list[int] = []
    one.facts["rang"] = until(lambda: _more(both, ticks, TICKS), seconds=WAIT)
    if not one.guarded:  # the other one may still be coming up
        until(lambda: _more(both, ticks, TICKS) and len(set(ticks)) > 1, seconds=WAIT)
    one.facts["ringing"] = set(ticks[-TICKS:]) if one.guarded else set(ticks)
    leader = next(process for process in both.running if process.pid == ticks[-1])
    if one.number % 2 == 0:
        leader.ask_to_end()
        leader.ended(seconds=10)
    leader.kill()
    both.running.remove(leader)
    both.heard()
    after: list[int] = []
    one.facts["goes on"] = until(lambda: _more(both, after, 1), seconds=RECOVERY)


def _more(both: Schedulers, ticks: list[int], count: int) -> bool:
    ticks += both.heard()
    return len(ticks) >= count


def _one_rings(one: Round) -> Judgement:
    ringing = one.facts["ringing"]
    wrong = lines(
        (not one.facts["rang"], "nobody rang"),
        (len(ringing) > 1, "two schedulers ring for the same work"),
        (not one.facts["goes on"], f"nobody took over within {RECOVERY:.0f} seconds"),
    )
    return Judgement(effects=len(ringing), wrong=wrong)


register(
    Scenario(
        slug="two_schedulers",
        title="two schedulers run, and the one that rings ends or is killed",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_two_schedulers,
        guarded=_two_schedulers,
        judge=_one_rings,
        stage=_schedulers,
    )
)
