"""My day: what waits for one person today, in a handful of statements whatever the size of the workspace.

Guarantees that only deals the person may see are in it, and that "today" is the day where that person works.
Next in the flow: `crm/views/my_day.py`.
"""

import datetime as dt
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet
from django.utils.functional import cached_property
from django.utils.translation import gettext, ngettext

from crm.models import Opportunity, Task, User
from crm.models.opportunity import NextStep, OpportunityQuerySet
from crm.models.task import TaskState
from crm.templatetags.vigente import clock, weekday

AT_MOST = 50
"""Rows of what is due; a longer day is better seen on the board."""
BARE = 8
"""Deals without a next step at a time."""


@dataclass(kw_only=True)
class Row:
    """One task on the page, with the version of its deal that the row was shown at."""

    task: Task
    today: dt.date
    told: str = ""
    """What came of the last attempt, where that needs saying."""
    again: bool = False
    """The last attempt was not carried out."""

    @property
    def deal(self) -> Opportunity:
        return self.task.opportunity

    @property
    def done(self) -> bool:
        return self.task.state == TaskState.DONE

    @property
    def is_open(self) -> bool:
        return self.task.state == TaskState.OPEN

    @property
    def tomorrow(self) -> dt.date:
        return self.today + dt.timedelta(days=1)

    @property
    def state(self) -> str:
        day = self.task.due_on
        if day is None:
            return NextStep.LATER.value
        if day < self.today:
            return NextStep.OVERDUE.value
        return NextStep.TODAY.value if day == self.today else NextStep.LATER.value

    @property
    def words(self) -> str:
        """ "5 days late", "15:00", "Today", "Thu 9 Oct"."""
        day = self.task.due_on
        if day is None:
            return gettext("No day")
        if (late := (self.today - day).days) > 0:
            return ngettext("%(n)d day late", "%(n)d days late", late) % {"n": late}
        if day == self.today:
            return clock(self.task.due_at) if self.task.due_at else gettext("Today")
        return weekday(day)


@dataclass(kw_only=True)
class Day:
    user: User
    today: dt.date

    @cached_property
    def rows(self) -> list[Row]:
        """What is due, the latest first; then today's by the clock."""
        found = self._due.select_related("opportunity__company").order_by(
            "due_on", F("due_at").asc(nulls_first=True), "pk"
        )
        return [Row(task=task, today=self.today) for task in found[:AT_MOST]]

    @cached_property
    def due(self) -> int:
        return self._due.count() if len(self.rows) == AT_MOST else len(self.rows)

    @property
    def _due(self) -> "QuerySet[Task]":
        mine = Q(claimed_by=self.user) | Q(owner=self.user, claimed_by=None)
        visible = Opportunity.objects.visible_to(self.user)
        due = Task.objects.filter(mine, state=TaskState.OPEN, due_on__lte=self.today)
        return due if self.user.sees_everything else due.filter(opportunity__in=visible)

    @cached_property
    def bare(self) -> list[Opportunity]:
        """My open deals that have no next step, the largest first."""
        return list(
            self._bare.select_related("company", "stage").order_by(F("amount").desc(nulls_last=True), "pk")[:BARE]
        )

    @cached_property
    def bare_deals(self) -> int:
        return self._bare.count() if len(self.bare) == BARE else len(self.bare)

    @property
    def _bare(self) -> OpportunityQuerySet:
        return Opportunity.objects.visible_to(self.user).open().filter(owner=self.user, next_step_on=None)
