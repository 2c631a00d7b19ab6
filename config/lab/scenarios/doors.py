"""A door that forgot the check: a script, a migration, a new page. The database itself has to refuse it."""

from collections.abc import Callable, Generator
from decimal import Decimal

from django.db import DatabaseError

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import deals, follow_up, lines, now, open_tasks, plan_naively, updates
from config.lab.world import LATER, load, person
from conflicts import guard
from conflicts.proposals import Read
from crm.models import Task

TYPED, SCRIPTED = Decimal("250.00"), Decimal("1.00")


def _turned_away(write: Callable[[], object], *, by: str) -> bool:
    """True if the database refused it under the guard's own code; anything else is a failure and is raised."""
    try:
        write()
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", "") != by:
            raise
        return True
    return False


# --- a record written beside the gate ---------------------------------------------------------------------------------


def _script(one: Round) -> Generator[str]:
    deal = naive.load(one.deal)
    yield "after reading"
    deal.amount = SCRIPTED
    one.facts["refused"] = _turned_away(lambda: naive.save(deal), by=guard.STALE_WRITE)


def _record_naively(one: Round) -> None:
    def alice() -> Generator[str]:
        deal = naive.load(one.deal)
        yield "after reading"
        deal.amount = TYPED
        naive.save_only(deal, "amount")

    one.race(lambda: _script(one), alice)


def _record_guarded(one: Round) -> None:
    def alice() -> Generator[str]:
        deal = load(one.deal)
        yield "after reading"
        one.commit("", wish("opportunity.edit", Read.of(deal), by=person(one.world.alice), amount=str(TYPED)))

    one.race(lambda: _script(one), alice)


def _script_wrote_nothing(one: Round) -> Judgement:
    return Judgement(
        effects=updates(one),
        wrong=lines(
            (now(one).amount != TYPED, "what a person typed was replaced by a script"),
            (not one.facts["refused"], "a write whose version nobody compared went through"),
        ),
    )


register(
    Scenario(
        slug="door_that_forgot_the_check",
        title="a script writes a record it had read, beside the gate",
        prepare=deals,
        naive=_record_naively,
        guarded=_record_guarded,
        judge=_script_wrote_nothing,
    )
)

# --- a child written without its record -------------------------------------------------------------------------------


def _task_script(one: Round) -> Generator[str]:
    """Adds a task and leaves the deal as it is: no version moves, so nobody who read the deal can notice."""
    yield "the agent has read"
    title = one.mark("script")
    one.facts["refused"] = _turned_away(
        lambda: Task.objects.create(opportunity_id=one.deal.pk, title=title, due_on=LATER, made_by="script"),
        by=guard.ORPHAN_WRITE,
    )


def _child_naively(one: Round) -> None:
    def agent() -> Generator[str]:
        deal = naive.load(one.deal)
        yield "the agent has read"
        yield "the script was faster"
        plan_naively(deal, one.mark("agent"))

    one.race(agent, lambda: _task_script(one))


def _child_guarded(one: Round) -> None:
    def agent() -> Generator[str]:
        deal = load(one.deal)
        yield "the agent has read"
        yield "the script was faster"
        one.commit(one.mark("agent"), follow_up(deal, one.mark("agent")))

    one.race(agent, lambda: _task_script(one))


def _one_task(one: Round) -> Judgement:
    tasks = open_tasks(one)
    return Judgement(effects=len(tasks), wrong=[f"{task.title!r} besides" for task in tasks[1:]])


register(
    Scenario(
        slug="child_written_beside_its_record",
        title="a script adds a task without raising its deal's version",
        prepare=deals,
        naive=_child_naively,
        guarded=_child_guarded,
        judge=_one_task,
    )
)
