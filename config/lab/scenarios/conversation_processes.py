"""Conversations whose workers die or stand still in the middle of a turn, and a customer who types for five minutes."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from config.lab.chat import plan, replaying
from config.lab.chat.hall import Hall
from config.lab.chat.log import Chat, Line
from config.lab.chat.pace import Pace
from config.lab.model import Model
from config.lab.processes import Worker
from config.lab.rounds import Round
from config.lab.running import Mode
from config.lab.scenario import Judgement, Kind, Scenario, register
from config.lab.scenarios import talks
from config.lab.scenarios.parts import lines
from config.lab.world import World
from conflicts.refs import Ref
from crm import accepting
from crm.channels.events import Incoming
from crm.models import ChannelAccount

SHORT, LONG = 1.0, 60.0
"""Seconds of a lease that is to end while its holder is busy or dead, and of one that is not."""


def _task(one: Round, word: str, seconds: float, **more: Any) -> dict[str, Any]:
    role = "answer" if one.guarded else "answer_naively"
    return {"role": role, "conversation": one.deal.pk, "word": word, "seconds": seconds, **more}


def _customer_writes(one: Round) -> None:
    (talks.hear if one.guarded else talks.hear_naively)(one, 1)


def _begun(one: Round, worker: Worker, model: Model, **more: Any) -> None:
    """The worker waits for its model."""
    model.be_slow()
    worker.begin(**_task(one, "Late", SHORT, model=model.url, **more))
    worker.until("due")
    worker.go()
    model.wait_for_a_call()


def _answered_once(one: Round) -> Judgement:
    if one.guarded:
        talks.deliver()
    verdict = talks.look(one)
    late = [f"{text!r} was queued by a worker whose lease had ended" for text in talks.texts(one) if "Late" in text]
    return Judgement(effects=verdict.counts["replies"], wrong=[*verdict.reasons, *late])


# --- a worker dies in the middle of a turn ----------------------------------------------------------------------------


@contextmanager
def _one_worker_and_a_model() -> Iterator[tuple[Worker, Model]]:
    with Model() as model, Worker() as worker:
        yield worker, model


def _dies(one: Round) -> None:
    second, model = one.stage
    _customer_writes(one)
    with Worker() as doomed:
        _begun(one, doomed, model, claims_first=True)
        doomed.kill()
    model.answer()
    second.do(**_task(one, "Answer", LONG, claims_first=True))


register(
    Scenario(
        slug="worker_dies_in_mid_turn",
        title="a worker is killed while its model writes",
        kind=Kind.PROCESS,
        prepare=talks.talks,
        naive=_dies,
        guarded=_dies,
        judge=_answered_once,
        stage=_one_worker_and_a_model,
    )
)

# --- a worker stands still in the middle of a turn --------------------------------------------------------------------


@contextmanager
def _two_workers_and_a_model() -> Iterator[tuple[Worker, Worker, Model]]:
    with Model() as model, Worker() as first, Worker() as second:
        yield first, second, model


def _stands_still(one: Round) -> None:
    first, second, model = one.stage
    _customer_writes(one)
    _begun(one, first, model)
    first.stop()
    model.answer()  # the words lie in its ear until it wakes
    second.do(**_task(one, "Answer", LONG))
    first.wake()
    one.facts["told"] = first.result()["told"]


def _nothing_of_the_zombie(one: Round) -> Judgement:
    judgement = _answered_once(one)
    told = one.facts["told"]
    wrong = lines((one.guarded and told not in ("failed", "superseded"), f"the one that woke was told {told!r}"))
    return Judgement(effects=judgement.effects, wrong=[*judgement.wrong, *wrong])


register(
    Scenario(
        slug="zombie_turn",
        title="a worker that stood still in its turn wakes after the next one has answered",
        kind=Kind.PROCESS,
        prepare=talks.talks,
        naive=_stands_still,
        guarded=_stands_still,
        judge=_nothing_of_the_zombie,
        stage=_two_workers_and_a_model,
    )
)

# --- somebody types every three seconds for five minutes --------------------------------------------------------------

TYPED, EVERY = 100, dt.timedelta(seconds=3)
PACE = Pace(speed=25.0, machine=10.0)
MOST_WITHOUT_A_WORD = 40
"""Lines, that is two minutes: far more than the cap and three generations, for a machine that is busy."""


def _typists(world: World, count: int) -> list[Round]:
    replaying.account(PACE)
    chat = ChannelAccount.objects.get()
    peers = [f"R{number}" for number in range(count)]
    found = [accepting.conversation_of(chat, Incoming(provider_id="", peer=peer, name=peer)) for peer in peers]
    return [Round(number, world, Ref(talks.LABEL, pk)) for number, pk in enumerate(found)]


@contextmanager
def _hall() -> Iterator[Hall]:
    with Hall(PACE, mode=Mode.GUARDED) as hall:
        yield hall


def _types(one: Round) -> None:
    start = dt.datetime(2031, 1, 1, tzinfo=dt.UTC)
    typed = tuple(Line(number, start + number * EVERY, "A", from_customer=True) for number in range(1, TYPED + 1))
    parts = plan.lay_out([Chat(f"R{one.number}", typed)], PACE)
    mode = Mode.GUARDED if one.guarded else Mode.NAIVE
    with replaying.Customers(one.stage, mode=mode, parts=parts) as customers:
        customers.until_done(seconds=plan.seconds(parts))
    replaying.wait_for_the_end(one.stage, mode)


def _hears_of_us_in_time(one: Round) -> Judgement:
    verdict = talks.look(one)
    longest = silent = 0
    for line in talks.heard(one):
        silent = 0 if line.who == "agent" and line.sent_at else silent + (line.who == "customer")
        longest = max(longest, silent)
    starved = lines((longest > MOST_WITHOUT_A_WORD, f"{longest} lines without a word from us"))
    return Judgement(effects=verdict.counts["replies"], wrong=[*verdict.reasons, *starved])


register(
    Scenario(
        slug="types_for_five_minutes",
        title="a customer types every three seconds for five minutes",
        kind=Kind.PROCESS,
        prepare=_typists,
        naive=_types,
        guarded=_types,
        judge=_hears_of_us_in_time,
        stage=_hall,
    )
)
