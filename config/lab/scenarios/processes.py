"""Races that need real processes: workers that stand still, die, hear too late, or have another time of day."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection

from config.lab.checker import Answer, Told
from config.lab.model import Model
from config.lab.processes import Worker, address
from config.lab.proxy import Proxy
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Kind, Scenario, register
from config.lab.scenarios.lease_holders import mailed_once
from config.lab.scenarios.parts import activities, deals, lines, records
from conflicts.outcomes import Outcome, Result

SHORT, LONG = 0.4, 60.0
"""Seconds of a lease that is to end while its holder is busy, and of one that is not."""


def _task(one: Round, who: str, **more: Any) -> dict[str, Any]:
    return {"role": "mail" if one.guarded else "mail_naively", "deal": str(one.deal), "text": one.mark(who), **more}


def _keep(one: Round, who: str, heard: Mapping[str, Any]) -> None:
    """What a worker in another process was told."""
    if "result" in heard:
        one.outcomes.append(Outcome(result=Result(heard["result"])))
        told = Told(heard["told"])
        one.answers.append(
            Answer(mark=one.mark(who), told=told, subject=one.deal, version=heard["version"], record=heard["record"])
        )


# --- the lease ends while the model answers ---------------------------------------------------------------------------


@contextmanager
def _two_workers_and_a_model() -> Iterator[tuple[Worker, Worker, Model]]:
    with Model() as model, Worker() as first, Worker() as second:
        yield first, second, model


def _slow_call(one: Round) -> None:
    first, second, model = one.stage
    model.be_slow()
    first.begin(**_task(one, "first", seconds=SHORT, model=model.url))
    model.wait_for_a_call()
    heard = second.do(**_task(one, "second", seconds=LONG))
    _keep(one, "second", heard)
    model.answer()
    _keep(one, "first", first.result())


def _late_answer_is_dropped(one: Round) -> Judgement:
    judgement = mailed_once(one)
    late = [line for line in activities(one) if line.text == one.mark("first")]
    unexplained = not late and not records(one.deal, state="lease_expired")
    wrong = [*judgement.wrong, *lines((unexplained, "nothing says what became of the late answer"))]
    return Judgement(effects=judgement.effects, wrong=wrong)


register(
    Scenario(
        slug="lease_expires_in_slow_call",
        title="the lease ends while the model is still answering",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_slow_call,
        guarded=_slow_call,
        judge=_late_answer_is_dropped,
        stage=_two_workers_and_a_model,
    )
)

# --- the old worker wakes after the new one has finished --------------------------------------------------------------


@contextmanager
def _two_workers() -> Iterator[tuple[Worker, Worker]]:
    with Worker() as first, Worker() as second:
        yield first, second


def _zombie(one: Round) -> None:
    old, new = one.stage
    old.begin(**_task(one, "first", seconds=SHORT))
    old.until("about to write")
    old.stop()
    old.go()  # it lies in its ear until it wakes
    _keep(one, "second", new.do(**_task(one, "second", seconds=LONG)))
    old.wake()
    _keep(one, "first", old.result())


register(
    Scenario(
        slug="zombie_worker",
        title="a worker that stood still wakes after the next one has finished",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_zombie,
        guarded=_zombie,
        judge=_late_answer_is_dropped,
        stage=_two_workers,
    )
)

# --- clocks that differ -----------------------------------------------------------------------------------------------


def _needs_faketime() -> str:
    return "" if shutil.which("faketime") else "`faketime` is not installed (apt-get install faketime)."


@contextmanager
def _skewed_workers() -> Iterator[tuple[Worker, Worker]]:
    still = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    with (
        Worker(before=("faketime", "-f", "+1h"), env=still) as ahead,
        Worker(before=("faketime", "-f", "-1h"), env=still) as behind,
    ):
        yield ahead, behind


def _skewed(one: Round) -> None:
    """The one behind holds the lease; for the one ahead it would have ended long ago. And the other way round."""
    ahead, behind = one.stage
    holder, other = (behind, ahead) if one.number % 2 == 0 else (ahead, behind)
    holder.begin(**_task(one, "first", seconds=LONG))
    holder.until("about to write")
    _keep(one, "second", other.do(**_task(one, "second", seconds=LONG, wait=False)))
    holder.go()
    _keep(one, "first", holder.result())
    _keep(one, "third", other.do(**_task(one, "third", seconds=LONG, wait=False)))


def _as_without_skew(one: Round) -> Judgement:
    judgement = mailed_once(one)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM crm_activity WHERE opportunity_id = %s"
            " AND abs(extract(epoch FROM clock_timestamp() - changed_at)) > 600",
            [one.deal.pk],
        )
        [(elsewhen,)] = cursor.fetchall()
    return Judgement(
        effects=judgement.effects, wrong=[*judgement.wrong, *lines((elsewhen > 0, "stamped by a wrong clock"))]
    )


register(
    Scenario(
        slug="skewed_clocks",
        title="one worker's clock is an hour ahead, the other's an hour behind",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_skewed,
        guarded=_skewed,
        judge=_as_without_skew,
        stage=_skewed_workers,
        needs=_needs_faketime,
    )
)

# --- committed, and the answer is lost --------------------------------------------------------------------------------


@contextmanager
def _worker_behind_a_proxy() -> Iterator[tuple[Worker, Proxy]]:
    proxy = Proxy(connection.settings_dict)
    through = {"DATABASE_URL": address(host="127.0.0.1", port=proxy.port)}
    with proxy, Worker(env=through) as worker:
        yield worker, proxy


def _lost_answer(one: Round) -> None:
    worker, proxy = one.stage
    cuts = proxy.cuts
    role = "send_and_retry" if one.guarded else "send_and_retry_naively"
    worker.begin(role, deal=str(one.deal), text=one.mark("offer"), key=f"lab:offer:{one.number}")
    worker.until("about to write")
    proxy.lose_the_next_answer()
    worker.go()
    _keep(one, "offer", worker.result())
    one.facts["cut"] = proxy.cuts - cuts


def _one_effect(one: Round) -> Judgement:
    judgement = mailed_once(one)
    wrong = lines(
        (one.facts["cut"] != 1, f"the line was cut {one.facts['cut']} times"),
        (one.guarded and one.duplicates != 1, "the caller who asked again did not get the first answer"),
    )
    return Judgement(effects=judgement.effects, wrong=[*judgement.wrong, *wrong])


register(
    Scenario(
        slug="lost_answer",
        title="committed, the answer is lost, the caller asks again",
        kind=Kind.PROCESS,
        prepare=deals,
        naive=_lost_answer,
        guarded=_lost_answer,
        judge=_one_effect,
        stage=_worker_behind_a_proxy,
    )
)
