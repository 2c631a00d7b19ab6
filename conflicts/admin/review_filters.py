"""Filters of the review queue. Without any, it shows what waits for a person."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conflicts.models import Conflict


class ShowFilter(SimpleListFilter):
    """Waiting, settled, or all; waiting where nothing was chosen."""

    title = _("waiting or settled")
    parameter_name = "show"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("waiting", _("Waiting")), ("settled", _("Settled")), ("all", _("All"))]

    def value(self) -> str:
        chosen = super().value()
        return chosen if chosen in ("settled", "all") else "waiting"

    def choices(self, changelist: Any) -> Iterator[Any]:
        for slug, words in self.lookup_choices:
            yield {
                "selected": self.value() == slug,
                "query_string": changelist.get_query_string({self.parameter_name: slug}),
                "display": words,
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        match self.value():
            case "waiting":
                return queryset.filter(closed_at=None)
            case "settled":
                return queryset.exclude(closed_at=None)
        return queryset


class DeadlineFilter(SimpleListFilter):
    title = _("deadline")
    parameter_name = "deadline"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("over", _("Over")), ("today", _("Within 24 hours")), ("later", _("Later"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        now = timezone.now()
        soon = now + dt.timedelta(days=1)
        match self.value():
            case "over":
                return queryset.filter(deadline__lt=now)
            case "today":
                return queryset.filter(deadline__gte=now, deadline__lt=soon)
            case "later":
                return queryset.filter(deadline__gte=soon)
        return queryset


class AgeFilter(SimpleListFilter):
    title = _("opened")
    parameter_name = "age"
    SPANS = {"hour": dt.timedelta(hours=1), "day": dt.timedelta(days=1), "week": dt.timedelta(days=7)}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("hour", _("In the last hour")),
            ("day", _("In the last day")),
            ("week", _("In the last week")),
            ("older", _("More than a week ago")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        chosen, now = self.value(), timezone.now()
        if chosen == "older":
            return queryset.filter(opened_at__lt=now - self.SPANS["week"])
        return queryset.filter(opened_at__gte=now - self.SPANS[chosen]) if chosen in self.SPANS else queryset
