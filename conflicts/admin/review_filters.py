"""Filters of the review queue. Without any, it shows what waits for a person."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import CharField, Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conflicts import actors, claims
from conflicts.clock import ClockTimestamp
from conflicts.models import Conflict, Lease


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
        return [
            ("over", _("Over")),
            ("today", _("Within 24 hours")),
            ("later", _("Later")),
            ("up", _("Moved up")),
        ]

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
            case "up":
                return queryset.exclude(escalated_at=None)
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


class AmountFilter(SimpleListFilter):
    """What is at stake, from the row itself; in whatever currency it is written."""

    title = _("amount")
    parameter_name = "amount"
    STEPS = ((0, 10_000), (10_000, 100_000), (100_000, 1_000_000), (1_000_000, None))

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("none", _("No amount")),
            ("0", _("Below 10,000")),
            ("10000", _("10,000 to 100,000")),
            ("100000", _("100,000 to 1,000,000")),
            ("1000000", _("1,000,000 or more")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        chosen = self.value()
        if chosen == "none":
            return queryset.filter(amount=None)
        for least, below in self.STEPS:
            if chosen == str(least):
                found = queryset.filter(amount__gte=least)
                return found if below is None else found.filter(amount__lt=below)
        return queryset


class HolderFilter(SimpleListFilter):
    title = _("who has it")
    parameter_name = "held"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("free", _("Nobody")), ("me", _("I")), ("others", _("Somebody else"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        if self.value() not in ("free", "me", "others"):
            return queryset
        key = Concat(Value(claims.PREFIX), Cast(OuterRef("pk"), CharField()))
        held = Lease.objects.filter(key=key, expires_at__gt=ClockTimestamp()).exclude(holder="")
        me = actors.person(request.user)
        mine = held.filter(actor__startswith=f"{me.kind}:{me.key}:")
        match self.value():
            case "free":
                return queryset.exclude(Exists(held))
            case "me":
                return queryset.filter(Exists(mine))
        return queryset.filter(Exists(held)).exclude(Exists(mine))
