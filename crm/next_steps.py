"""The next step of a deal: derived from its open tasks, recalculated by whoever writes one.

Guarantees that `Opportunity.next_step*` always name the earliest open task with a day (a task with a time comes before
one without on the same day; ties by key). Source: one noun instead of two that can disagree.
"""

import datetime as dt
import math
from collections.abc import Iterable, Sequence

from conflicts import reading
from conflicts.work import Work
from crm.models import Opportunity, Task
from crm.models.task import TaskState


def load_open_tasks(deals: Sequence[Opportunity]) -> None:
    """For `Action.loads`: the open tasks of the locked deals, as `deal.open_tasks`."""
    by_deal: dict[int, list[Task]] = {deal.pk: [] for deal in deals}
    for task in reading.rows(Task, "opportunity_id", by_deal, also="state = 'open'"):
        by_deal[task.opportunity_id].append(task)
    for deal in deals:
        deal.open_tasks = by_deal[deal.pk]  # type: ignore[attr-defined]


_LATE = dt.datetime.max.replace(tzinfo=dt.UTC)


def earliest(tasks: Iterable[Task]) -> Task | None:
    dated = [task for task in tasks if task.state == TaskState.OPEN and task.due_on]
    return min(dated, key=lambda t: (t.due_on, t.due_at or _LATE, t.pk or math.inf), default=None)


def recalculate(work: Work) -> None:
    """Set the deal's next step from its open tasks as this Work leaves them."""
    deal: Opportunity = work.subject
    known = list(getattr(deal, "open_tasks", []))
    changed = [child for child, _ in work.changed if isinstance(child, Task) and child not in known]
    added = [child for child in work.added if isinstance(child, Task)]
    step = earliest([*known, *changed, *added])
    title, day, at = (step.title, step.due_on, step.due_at) if step else ("", None, None)
    if (deal.next_step, deal.next_step_on, deal.next_step_at) != (title, day, at):
        work.set(next_step=title, next_step_on=day, next_step_at=at)
