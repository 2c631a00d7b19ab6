"""What the scenarios share: rounds of fresh deals, a follow-up planned both ways, and questions to the final state."""

from collections.abc import Callable
from typing import Any

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.world import AGENT, SOON, World
from conflicts import history
from conflicts.actors import Actor
from conflicts.models import Conflict
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import Activity, Opportunity, Task
from crm.models.task import TaskState

NO_NEXT_STEP = ("status", "owner", "next_step_on", "tasks")
"""What a follow-up rests on."""


def deals(world: World, count: int) -> list[Round]:
    return [Round(number, world, deal) for number, deal in enumerate(world.deals(count))]


def groups(size: int) -> Callable[[World, int], list[Round]]:
    """Rounds about `size` deals each."""

    def prepare(world: World, count: int) -> list[Round]:
        made = world.deals(count * size)
        cut = [made[start : start + size] for start in range(0, len(made), size)]
        return [Round(number, world, first, tuple(rest)) for number, (first, *rest) in enumerate(cut)]

    return prepare


def now(one: Round) -> Opportunity:
    """The round's deal as it is now."""
    return Opportunity.objects.get(pk=one.deal.pk)


def follow_up(deal: Opportunity, title: str, *, by: Actor = AGENT, key: str = "", **more: Any) -> Proposal:
    """An agent's wish for a task, resting on there being none."""
    read = Read.of(deal, *NO_NEXT_STEP)
    return wish("opportunity.follow_up", read, by=by, key=key, title=title, due_on=SOON, **more)


def plan_naively(deal: Opportunity, title: str, *, by: Actor = AGENT) -> None:
    """A task, and the deal saved with its new next step, as it was read."""
    Task.objects.create(opportunity=deal, title=title, due_on=SOON, owner=deal.owner, made_by=str(by))
    deal.next_step, deal.next_step_on = title, SOON
    naive.save(deal)


def open_tasks(one: Round) -> list[Task]:
    return list(Task.objects.filter(opportunity=one.deal.pk, state=TaskState.OPEN).order_by("pk"))


def activities(one: Round) -> list[Activity]:
    return list(Activity.objects.filter(opportunity=one.deal.pk).order_by("pk"))


def updates(one: Round) -> int:
    """How often the round's records were written after they were made; the database counts, in both modes."""
    found = 0
    for ref in one.refs:
        events = history.events_of(ref.model)._default_manager
        found += events.filter(pgh_obj_id=ref.pk, pgh_label="update").count()
    return found


def records(ref: Ref, **having: Any) -> list[Conflict]:
    return list(Conflict.objects.about(ref).filter(**having))


def lines(*wrong: tuple[bool, str]) -> list[str]:
    """The lines whose condition holds."""
    return [line for holds, line in wrong if holds]
