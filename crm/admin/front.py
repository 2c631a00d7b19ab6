"""The first page of the admin: what waits for a person, what is over its deadline, what settled itself."""

import datetime as dt
from typing import Any

from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils import timezone

from conflicts.models import Conflict

SHOWN = 10


def front_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    now = timezone.now()
    queue = admin.site._registry[Conflict].get_queryset(request)
    waiting = Q(closed_at=None)
    counts = queue.filter(waiting | Q(opened_at__gte=now - dt.timedelta(days=7))).aggregate(
        waiting=Count("pk", filter=waiting),
        over=Count("pk", filter=waiting & Q(deadline__lt=now)),
        overtaken=Count("pk", filter=Q(result="superseded", opened_at__gte=now - dt.timedelta(days=7))),
        together=Count("pk", filter=Q(result__in=("rebased", "merged"), opened_at__gte=now - dt.timedelta(days=7))),
    )
    rows = queue.filter(waiting).select_related("responsible").order_by("deadline", "id")[:SHOWN]
    return {**context, "title": None, "counts": counts, "waiting": rows, "now": now}
