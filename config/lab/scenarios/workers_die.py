"""Workers and broker as they die in production; a broker that forgets, and one that gives a message out again."""

from collections.abc import Iterator
from contextlib import contextmanager

from config.embedded.processes import until
from config.lab import reserved
from config.lab.broker import Floor
from config.lab.model import Model
from config.lab.processes import Process
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Kind, Scenario, register
from config.lab.scenarios.lease_holders import mailed_once
from config.lab.scenarios.parts import deals, groups, lines
from conflicts.models import Job
from crm.models import Activity

RECOVERY = 45.0
"""Seconds in which what was lost must be found and done."""


def role(one: Round) -> str:
    return "enqueue" if one.guarded else "enqueue_naively"


def mailed(one: Round) -> int:
    return Activity.objects.filter(opportunity__in=[ref.pk for ref in one.refs]).count()


def each_once(one: Round) -> Judgement:
    """Of every deal of the round."""
    per_deal = [Activity.objects.filter(opportunity=ref.pk).count() for ref in one.refs]
    wrong = ["an offer never went out" for count in per_deal if count == 0]
    wrong += ["an offer went out once more" for count in per_deal for _ in range(count - 1)]
    wrong += lines(
        (not one.facts["begun"], "the worker never began"),
        (one.facts["in hand"] == 0, "the work was done before anything died: the race was not run"),
        (not one.facts.get("in time", True), f"it took longer than {RECOVERY:.0f} seconds"),
    )
    return Judgement(effects=sum(per_deal), wrong=wrong)


# --- workers and broker die with work in hand -------------------------------------------------------------------------

RESERVED = 40


def _die(one: Round) -> None:
    """Some of the work is done; worker (-9) and broker (-9, its memory lost) die; both come back."""
    floor: Floor = one.stage
    floor.caller.do(role(one), deals=[str(ref) for ref in one.refs])
    with floor.celery() as doomed:
        one.facts["begun"] = until(lambda: mailed(one) >= RESERVED // 8, seconds=RECOVERY)
        doomed.kill()
    one.facts["in hand"] = RESERVED - mailed(one)
    floor.restart_redis()
    with floor.celery():
        if one.guarded:
            one.facts["in time"] = until(lambda: mailed(one) >= RESERVED, seconds=RECOVERY)
        else:
            until(floor.nothing_queued, seconds=RECOVERY)


register(
    Scenario(
        slug="restart_with_reserved_items",
        title="worker and broker are killed with work in hand",
        kind=Kind.PROCESS,
        prepare=groups(RESERVED),
        naive=_die,
        guarded=_die,
        judge=each_once,
        stage=Floor,
    )
)

# --- a child of a worker is killed ------------------------------------------------------------------------------------


@contextmanager
def _one_worker_and_a_model() -> Iterator[tuple[Floor, Process, Model]]:
    with Floor() as floor, Model() as model, floor.celery(concurrency=1) as worker:
        yield floor, worker, model


def _child(one: Round) -> None:
    """As the kernel does when memory runs out; the worker itself lives on and makes a new child."""
    floor, worker, model = one.stage
    model.be_slow()
    floor.caller.do(role(one), deals=[str(one.deal)], model=model.url)
    model.wait_for_a_call()
    one.facts["killed"] = worker.kill_children()
    model.answer()
    if one.guarded:
        until(lambda: mailed(one) > 0, seconds=RECOVERY)
    else:
        until(floor.nothing_queued, seconds=RECOVERY)


def _done_by_the_next_child(one: Round) -> Judgement:
    judgement = mailed_once(one)
    wrong = lines((one.facts["killed"] != 1, f"{one.facts['killed']} children were killed"))
    return Judgement(effects=judgement.effects, wrong=[*judgement.wrong, *wrong])


register(
    Scenario(
        slug="killed_child",
        title="the process of a worker that does the work is killed",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_child,
        guarded=_child,
        judge=_done_by_the_next_child,
        stage=_one_worker_and_a_model,
    )
)

# --- a reminder hours ahead -------------------------------------------------------------------------------------------

COMES_BACK, AHEAD = 1.0, 4.0
"""Seconds that stand for the hour after which Redis gives an unfinished message out again, and for the hours ahead."""
FAR = 10_800.0
"""Seconds, and these are real: nothing at all may happen before."""


@contextmanager
def _a_forgetful_floor() -> Iterator[Floor]:
    with Floor(**{reserved.VISIBILITY: str(COMES_BACK)}) as floor, floor.celery(concurrency=1):
        floor.caller.do(
            "wait_for_a_worker"
        )  # it must hold the message while it waits, not find it when its time has come
        yield floor


def _reminder(one: Round) -> None:
    """The worker holds the message until its time has come, and Redis takes it for lost meanwhile, again and again."""
    floor: Floor = one.stage
    near, far = one.refs
    floor.caller.do(role(one), deals=[str(near)], after=AHEAD)
    if one.guarded:
        floor.caller.do(role(one), deals=[str(far)], after=FAR)
    until(lambda: mailed(one) > 0, seconds=RECOVERY)
    until(floor.nothing_queued, seconds=RECOVERY)
    floor.caller.do("wait_for_idle_workers")  # a copy that is off the queue may not be done yet
    one.facts["still to come"] = Job.objects.filter(subject=str(far), state="queued", attempts=0).count()


def _one_reminder(one: Round) -> Judgement:
    near, far = (Activity.objects.filter(opportunity=ref.pk).count() for ref in one.refs)
    wrong = ["the reminder came once more" for _ in range(near - 1)]
    wrong += lines(
        (near == 0, "the reminder never came"),
        (far > 0, "a reminder came hours too early"),
        (one.guarded and one.facts["still to come"] != 1, "the reminder of a later hour is lost"),
    )
    return Judgement(effects=near + far, wrong=wrong)


register(
    Scenario(
        slug="reminder_hours_ahead",
        title="a reminder waits longer than the broker waits for an unfinished message",
        kind=Kind.PROCESS,
        prepare=groups(2),
        naive=_reminder,
        guarded=_reminder,
        judge=_one_reminder,
        stage=_a_forgetful_floor,
    )
)

# --- the broker forgets everything in the middle of the work ----------------------------------------------------------

ITEMS = 200
"""Per round: a thousand in five."""


@contextmanager
def _a_worker() -> Iterator[Floor]:
    with Floor() as floor, floor.celery():
        yield floor


def _forgets(one: Round) -> None:
    """Flushed, then killed and back with nothing in it; the workers live through it."""
    floor: Floor = one.stage
    floor.caller.do(role(one), deals=[str(ref) for ref in one.refs])
    one.facts["begun"] = until(lambda: mailed(one) > 0, seconds=RECOVERY)
    floor.flush_redis()
    one.facts["in hand"] = ITEMS - mailed(one)
    floor.restart_redis()
    if one.guarded:
        one.facts["in time"] = until(lambda: mailed(one) >= ITEMS, seconds=RECOVERY)
    else:
        until(floor.nothing_queued, seconds=RECOVERY)


register(
    Scenario(
        slug="broker_forgets",
        title="Redis is flushed and restarted in the middle of the work",
        kind=Kind.PROCESS,
        prepare=groups(ITEMS),
        naive=_forgets,
        guarded=_forgets,
        judge=each_once,
        stage=_a_worker,
    )
)
