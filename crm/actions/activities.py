"""Logging what happened with the customer, and saying in the same breath what comes next."""

import datetime as dt
from typing import Literal

from django.utils.translation import gettext_lazy as _
from pydantic import model_validator

from conflicts.actions import Action, register
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm.actions.fields import Line, Params, Text
from crm.models import Activity, Opportunity, Task
from crm.models.activity import TOUCHES
from crm.next_steps import load_open_tasks, recalculate
from crm.permissions import permits_deal


class Log(Params):
    kind: Literal["call", "meeting", "note", "mail"]
    text: Text = ""
    at: dt.datetime | None = None
    """When it happened; default now."""
    next_title: Line = ""
    next_on: dt.date | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Log":
        if self.kind == "note" and not self.text:
            raise ValueError(str(_("A note needs some text.")))
        if self.next_on and not self.next_title:
            raise ValueError(str(_("Say what comes next on that day.")))
        return self


def _log(work: Work) -> None:
    p: Log = work.params
    deal: Opportunity = work.subject
    at = p.at or work.now
    work.add(Activity(opportunity=deal, kind=p.kind, at=at, by=str(work.by), text=p.text))
    if p.kind in TOUCHES and (deal.last_contact_at is None or at > deal.last_contact_at):
        work.set(last_contact_at=at)
    if p.next_title:
        work.add(
            Task(
                opportunity=deal,
                title=p.next_title,
                due_on=p.next_on,
                owner_id=deal.owner_id or (int(work.by.key) if work.by.is_person else None),
                made_by=str(work.by),
                source=work.proposal.source,
            )
        )
        recalculate(work)


register(
    Action(
        name="opportunity.log",
        subject=Opportunity,
        params=Log,
        words=_("Log an activity"),
        apply=_log,
        writes_aspects=frozenset({"activities", "tasks"}),
        permits=permits_deal,
        avoided=Sentence("deal_not_changed"),
        loads=(load_open_tasks,),
    )
)
