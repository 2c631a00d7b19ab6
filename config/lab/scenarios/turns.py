"""Turns: several lines in a row, one that lands in the middle of an answer, and two workers at one conversation."""

import threading
from collections.abc import Generator

from config.lab.crew import WAIT
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios import talks
from config.lab.scenarios.parts import lines
from config.lab.scenarios.talks import Says
from conflicts import leases
from conflicts.actors import SYSTEM
from conflicts.models.lease import Lease
from crm import timers

# --- a burst, with no window ------------------------------------------------------------------------------------------

LINES = 3


def _burst_naively(one: Round) -> None:
    def customer() -> Generator[str]:
        for line in range(1, LINES + 1):
            talks.hear_naively(one, line)
            yield "said"

    def worker() -> Generator[str]:
        for _ in range(LINES):
            yield "rung"
            yield from talks.answer_naively(one)

    one.race(customer, worker, worker)
    talks.to_the_end(talks.answer_naively(one))


def _burst(one: Round) -> None:
    models = one.facts["models"] = [Says(), Says(), Says()]

    def customer() -> Generator[str]:
        for line in range(1, LINES + 1):
            talks.hear(one, line)
            yield "said"

    def worker(model: Says) -> Generator[str]:
        for _ in range(LINES):
            yield "rung"
            talks.turn(one, model)

    one.race(customer, lambda: worker(models[0]), lambda: worker(models[1]))
    talks.finish(one, models[2])


def _one_answer_per_line(one: Round) -> Judgement:
    return talks.sent(one, *talks.asked_twice(one.facts.get("models", ())), *talks.stale_drafts(one))


register(
    Scenario(
        slug="burst_without_a_window",
        title="a customer types on, the window is zero, and each line wakes a worker",
        prepare=talks.talks,
        naive=_burst_naively,
        guarded=_burst,
        judge=_one_answer_per_line,
    )
)

# --- two workers at one timer -----------------------------------------------------------------------------------------


def _one_timer_naively(one: Round) -> None:
    talks.hear_naively(one, 1)
    one.race(lambda: talks.answer_naively(one), lambda: talks.answer_naively(one))


def _one_timer(one: Round) -> None:
    talks.hear(one, 1)
    first, second = Says(during=lambda: talks.turn(one, second)), Says()
    one.facts["models"] = [first, second]
    talks.turn(one, first)
    talks.finish(one)


register(
    Scenario(
        slug="timer_rings_twice",
        title="a second worker is woken for a conversation while the first one's model writes",
        prepare=talks.talks,
        naive=_one_timer_naively,
        guarded=_one_timer,
        judge=_one_answer_per_line,
    )
)

# --- a message as the timer fires -------------------------------------------------------------------------------------


def _lands_naively(one: Round) -> None:
    """Every other time in the middle of the draft, else at the very moment of the sending."""
    talks.hear_naively(one, 1)
    if one.number % 2 == 0:
        talks.in_the_middle(talks.answer_naively(one), lambda: talks.hear_naively(one, 2))
    else:

        def customer() -> Generator[str]:
            yield "the model writes"
            talks.hear_naively(one, 2)

        one.race(lambda: talks.answer_naively(one), customer, at_once=True)
    talks.to_the_end(talks.answer_naively(one))  # what the second line's own timer sets off


def _lands(one: Round) -> None:
    talks.hear(one, 1)
    if one.number % 2 == 0:
        talks.turn(one, Says(during=lambda: talks.hear(one, 2)))
    else:

        def customer() -> Generator[str]:
            yield "due"
            talks.hear(one, 2)

        def worker() -> Generator[str]:
            yield "due"
            talks.turn(one, Says())

        one.race(worker, customer, at_once=True)
    talks.finish(one)


register(
    Scenario(
        slug="message_as_the_timer_fires",
        title="a line lands while the answer to the one before is written, or as it is sent",
        prepare=talks.talks,
        naive=_lands_naively,
        guarded=_lands,
        judge=_one_answer_per_line,
    )
)

# --- somebody who never stops typing ----------------------------------------------------------------------------------

DRAFTS = 4
MOST_LINES = 4
"""The one that began it, and one in the middle of each of three drafts: then the third has gone out."""


def _types_on_naively(one: Round) -> None:
    """Whatever has come meanwhile begins the answer anew, however often."""
    talks.hear_naively(one, 1)
    for line in range(2, DRAFTS + 2):
        counter = talks.now(one).inbound_count
        talks.hear_naively(one, line)  # while the model writes
        if talks.now(one).inbound_count == counter:
            talks.to_the_end(talks.answer_naively(one))
            break
    talks.to_the_end(talks.answer_naively(one))


def _types_on(one: Round) -> None:
    talks.hear(one, 1)
    for line in range(2, DRAFTS + 2):
        talks.turn(one, Says(during=lambda line=line: talks.hear(one, line)))  # type: ignore[misc]
        talks.deliver()
    talks.finish(one)


def _not_starved(one: Round) -> Judgement:
    waited = talks.lines_before_first_answer(one)
    return talks.sent(one, *lines((waited > MOST_LINES, f"no word from us after {waited} lines")))


register(
    Scenario(
        slug="typist_never_stops",
        title="a customer's next line lands in the middle of every draft",
        prepare=talks.talks,
        naive=_types_on_naively,
        guarded=_types_on,
        judge=_not_starved,
    )
)

# --- a turn outlives its lease ----------------------------------------------------------------------------------------


def _outlived_naively(one: Round) -> None:
    """The lock has a time; who has it looks at it before the work and not again."""
    talks.hear_naively(one, 1)
    one.race(lambda: talks.answer_naively(one, "Late"), lambda: talks.answer_naively(one))


def _outlived(one: Round) -> None:
    """The first one's lease ends while its model writes; it is done in the middle of the second one's turn."""
    talks.hear(one, 1)
    ended, begun, done = (threading.Event() for _ in range(3))

    def lose_it() -> None:
        leases.break_(timers.turn_key(one.deal.pk), by=SYSTEM, why="the lab lets it run out")
        ended.set()
        begun.wait(WAIT)

    def wait_for_the_first() -> None:
        begun.set()
        done.wait(WAIT)

    def first() -> Generator[str]:
        yield "due"
        talks.turn(one, Says("Late", during=lose_it))
        done.set()

    def second() -> Generator[str]:
        yield "due"
        ended.wait(WAIT)
        talks.turn(one, Says(during=wait_for_the_first))

    one.race(first, second, at_once=True)
    talks.finish(one)


def _late_one_is_dropped(one: Round) -> Judgement:
    late = [text for text in talks.texts(one) if text.startswith("Late")]
    held = Lease.objects.filter(key=timers.turn_key(one.deal.pk)).exclude(holder="").count()
    wrong = [f"{text!r} was queued under a lease that had ended" for text in late]
    return talks.sent(one, *wrong, *lines((held > 0, "the lease was not given back")))


register(
    Scenario(
        slug="turn_outlives_its_lease",
        title="the lease of a turn ends while its model writes, and another worker is at it",
        prepare=talks.talks,
        naive=_outlived_naively,
        guarded=_outlived,
        judge=_late_one_is_dropped,
    )
)
