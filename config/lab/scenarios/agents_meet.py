"""Two machines, or a machine and a person, at the same deal: nobody does what has been done, nobody does it twice."""

from collections.abc import Generator

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import (
    deals,
    follow_up,
    lines,
    now,
    open_tasks,
    plan_naively,
    records,
)
from config.lab.world import AGENT, PLANNER, SOON, load, person
from conflicts.actors import Actor
from conflicts.proposals import Read
from crm.models import Task

# --- two workers read the same version and both act -------------------------------------------------------------------


def _plan_if_none(one: Round, title: str, by: Actor) -> Generator[str]:
    deal = naive.load(one.deal)
    nothing_planned = deal.next_step_on is None
    yield "after reading"
    if nothing_planned:
        plan_naively(deal, title, by=by)
        one.done(title)


def _workers_naively(one: Round) -> None:
    one.race(
        lambda: _plan_if_none(one, one.mark("first"), AGENT), lambda: _plan_if_none(one, one.mark("second"), AGENT)
    )


def _workers_guarded(one: Round) -> None:
    """One unit of work that two took up (a message delivered twice), or two units that want the same."""
    same_unit = one.rng.random() < 0.5
    names = ["work", "work"] if same_unit else ["first", "second"]

    def worker(name: str) -> Generator[str]:
        deal = load(one.deal)
        yield "after reading"
        mark = one.mark(name)
        one.commit(mark, follow_up(deal, mark, key=f"lab:{name}:{one.number}"))

    one.race(lambda: worker(names[0]), lambda: worker(names[1]))


def _one_follow_up(one: Round) -> Judgement:
    tasks = open_tasks(one)
    told_of = [record for record in records(one.deal, result="superseded") if record.competing]
    traces = len(told_of) + one.duplicates
    wrong = lines(
        (not tasks, "nobody planned anything"),
        (len(tasks) == 1 and not traces, "the second left no trace of what it met"),
    )
    extra = [f"{task.title!r} was planned besides" for task in tasks[1:]]
    return Judgement(effects=len(tasks), wrong=[*wrong, *extra])


register(
    Scenario(
        slug="two_workers_same_version",
        title="two workers read the same version and both act",
        prepare=deals,
        naive=_workers_naively,
        guarded=_workers_guarded,
        judge=_one_follow_up,
    )
)

# --- two agents who each see "no follow-up" ---------------------------------------------------------------------------


def _agents_naively(one: Round) -> None:
    one.race(
        lambda: _plan_if_none(one, one.mark("call"), AGENT), lambda: _plan_if_none(one, one.mark("visit"), PLANNER)
    )


def _agents_guarded(one: Round) -> None:
    """Two agents that know nothing of each other: no key in common, other content."""

    def agent(by: Actor, kind: str) -> Generator[str]:
        deal = load(one.deal)
        yield "after reading"
        mark = one.mark(kind)
        one.commit(mark, follow_up(deal, mark, by=by, kind=kind))

    one.race(lambda: agent(AGENT, "call"), lambda: agent(PLANNER, "meeting"))


register(
    Scenario(
        slug="two_agents_see_no_follow_up",
        title="two agents each see that nothing is planned and both plan",
        prepare=deals,
        naive=_agents_naively,
        guarded=_agents_guarded,
        judge=_one_follow_up,
    )
)

# --- a person is faster -----------------------------------------------------------------------------------------------

STORIES = ("plans", "loses", "hands over")


def person_acts(one: Round, story: str) -> None:
    """What a salesperson does while an agent thinks, through the gate."""
    mark, read, alice = one.mark("Alice"), Read.of(load(one.deal)), person(one.world.alice)
    match story:
        case "plans":
            one.commit(mark, wish("opportunity.plan_task", read, by=alice, title=mark, due_on=SOON))
        case "loses":
            stage = one.world.stages["Lost"].pk
            one.commit(mark, wish("opportunity.move", read, by=alice, stage=stage, reason=mark))
        case _:
            one.commit("", wish("opportunity.edit", read, by=alice, owner=one.world.bob.pk))


def person_acts_naively(one: Round, story: str) -> None:
    deal, mark = naive.load(one.deal), one.mark("Alice")
    match story:
        case "plans":
            Task.objects.create(opportunity=deal, title=mark, due_on=SOON, made_by=str(person(one.world.alice)))
            deal.next_step, deal.next_step_on = mark, SOON
            naive.save_only(deal, "next_step", "next_step_on")
        case "loses":
            deal.stage, deal.status, deal.lost_reason, deal.closed_on = one.world.stages["Lost"], "lost", mark, SOON
            naive.save_only(deal, "stage", "status", "lost_reason", "closed_on")
        case _:
            deal.owner = one.world.bob
            naive.save_only(deal, "owner")


def _person_naively(one: Round) -> None:
    story = one.facts["story"] = one.rng.choice(STORIES)

    def agent() -> Generator[str]:
        deal = naive.load(one.deal)
        yield "the agent has read"
        yield "the person has acted"
        plan_naively(deal, one.mark("agent"))
        one.done(one.mark("agent"))

    def salesperson() -> Generator[str]:
        yield "the agent has read"
        person_acts_naively(one, story)

    one.race(agent, salesperson)


def _person_guarded(one: Round) -> None:
    story = one.facts["story"] = one.rng.choice(STORIES)

    def agent() -> Generator[str]:
        deal = load(one.deal)
        yield "the agent has read"
        yield "the person has acted"
        mark = one.mark("agent")
        one.commit(mark, follow_up(deal, mark, kind="call"))

    def salesperson() -> Generator[str]:
        yield "the agent has read"
        person_acts(one, story)

    one.race(agent, salesperson)


def persons_change_stands(one: Round, story: str) -> bool:
    deal, mark = now(one), one.mark("Alice")
    match story:
        case "plans":
            return deal.next_step == mark and any(task.title == mark for task in open_tasks(one))
        case "loses":
            return deal.status == "lost" and deal.lost_reason == mark
    return deal.owner_id == one.world.bob.pk


def _person_first(one: Round) -> Judgement:
    story = one.facts["story"]
    of_agent = [task for task in open_tasks(one) if task.made_by == str(AGENT)]
    wrong = lines(
        (not persons_change_stands(one, story), f"the person's change ({story}) was undone"),
        (bool(of_agent), f"the agent planned although the person {story}"),
        (not of_agent and not records(one.deal), "nothing says why there is no task"),
    )
    return Judgement(effects=len(open_tasks(one)), wrong=wrong)


register(
    Scenario(
        slug="person_and_agent",
        title="a salesperson changes the deal while the agent prepares a task",
        prepare=deals,
        naive=_person_naively,
        guarded=_person_guarded,
        judge=_person_first,
    )
)
