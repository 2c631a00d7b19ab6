"""My day: the start page, and settling a task where it stands.

Guarantees that a tick or a new date carries the version of the deal that the row was shown at, and that what was not
done is said on the row it is about. Next in the flow: `crm/my_day.py`; the writes: `crm/actions/tasks.py`.
"""

import datetime as dt
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from crm import inbox, slots
from crm.clock import today_for
from crm.imports import waiting_for
from crm.models import Opportunity, Task
from crm.my_day import Day, Row
from crm.templatetags.vigente import weekday
from crm.views.board import number_in
from crm.views.requests import Request
from crm.views.submit import submit

FROM_FILES = 100
"""Choices that imports have left are counted as far as this; the page behind shows as many."""

ACTIONS = {
    "done": "opportunity.complete_task",
    "reopen": "opportunity.reopen_task",
    "later": "opportunity.reschedule_task",
}


@require_GET
def my_day(request: Request) -> HttpResponse:
    return _page(request, _day(request))


@require_POST
def task(request: Request) -> HttpResponse:
    """`do`: done, reopen, or later with `due_on`. Answers with the row as it is now."""
    row = _row(request)
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        raise Http404
    params: dict[str, Any] = {"task": row.task.pk}
    if action == ACTIONS["later"]:
        try:
            params["due_on"] = dt.date.fromisoformat(request.POST.get("due_on", ""))
        except ValueError:
            row.told, row.again = _("Choose the new day."), True
            return _told(request, row, status=422)
    submission = submit(request, action=action, params=params, subject=row.deal, source="my day")
    row = _row(request)
    if submission.done:
        row.told = _said(row)
        return _told(request, row)
    lines = [line for lines in submission.errors.values() for line in lines]
    row.told = str(submission.outcome.sentence) if submission.outcome else " ".join(lines)
    row.again = True
    return _told(request, row, status=409 if submission.outcome else 422)


def _said(row: Row) -> str:
    if row.is_open:
        return _("Moved to %(day)s.") % {"day": weekday(row.task.due_on)} if row.task.due_on else ""
    if row.deal.is_open and row.deal.next_step_on is None:
        return _("Done. This deal has no next step now.")
    return _("Done.")


def _day(request: Request) -> Day:
    return Day(user=request.user, today=today_for(request.user, now=timezone.now()))


def _row(request: Request) -> Row:
    """The task the form names, as it is now. Raises Http404 for one on a deal that the person may not see."""
    tasks = Task.objects.select_related("opportunity__company").filter(
        pk=number_in(request.POST.get("task", "")) or 0, opportunity__in=Opportunity.objects.visible_to(request.user)
    )
    if (found := tasks.first()) is None:
        raise Http404
    return Row(task=found, today=today_for(request.user, now=timezone.now()))


def _told(request: Request, row: Row, *, status: int = 200) -> HttpResponse:
    """The row alone for htmx; without it the whole page, or the way back to it."""
    if request.htmx:
        return TemplateResponse(request, "day/my_day.html#row", {"row": row, "today": row.today}, status=status)
    if status == 200:
        messages.success(request, f"{row.task.title}: {row.told}" if row.told else row.task.title)
        return redirect("my_day")
    day = _day(request)
    day.rows = [row if shown.task.pk == row.task.pk else shown for shown in day.rows]
    if all(shown is not row for shown in day.rows):
        day.rows.insert(0, row)
    return _page(request, day, status=status)


def _page(request: Request, day: Day, *, status: int = 200) -> HttpResponse:
    context = {
        "day": day,
        "today": day.today,
        "waiting": inbox.waiting_for(request),
        "from_files": waiting_for(request.user)[:FROM_FILES].count(),
        "suggested": slots.filled("myday.suggested", request),
        "overtaken": slots.filled("myday.overtaken", request),
    }
    return TemplateResponse(request, "day/my_day.html", context, status=status)
