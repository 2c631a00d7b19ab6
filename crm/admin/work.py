"""Leases, jobs and the outbox as the CRM puts them up: a manager meets, and decides on, what concerns the team's deals.

What concerns no deal (a sweep, the catalogue) is everybody's who may enter. Next in the flow: `conflicts/admin/`.
"""

from typing import Any

from django.contrib import admin
from django.db.models import BigIntegerField, Exists, F, Func, OuterRef, Q, QuerySet
from django.http import HttpRequest

from conflicts.admin.events import JobEventAdmin, LeaseEventAdmin
from conflicts.admin.jobs import JobAdmin
from conflicts.admin.leases import LeaseAdmin
from conflicts.admin.outbox import OutboxAdmin
from conflicts.models import Job, JobEvent, Lease, LeaseEvent, OutboxMessage
from crm.admin.scope import administers, manages
from crm.models import Opportunity, User

DEAL = Opportunity._meta.label_lower.replace(".", "[.]")


class DealIn(Func):
    """The number of the deal that a text names at its end, `work:crm.opportunity:31`; null where it names none."""

    template = f"substring(%(expressions)s from '{DEAL}:([0-9]{{1,18}})$')::bigint"
    arity = 1
    output_field = BigIntegerField()


class OfTheTeam:
    names_deal = "subject"
    """The field that may name a deal."""

    def may_decide(self, request: HttpRequest) -> bool:
        return manages(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        user = request.user
        if not isinstance(user, User):
            return found.none()
        if user.sees_everything:
            return found
        mine = Exists(Opportunity.objects.visible_to(user).filter(pk=OuterRef("deal_named")))
        return found.annotate(deal_named=DealIn(F(self.names_deal))).filter(Q(deal_named=None) | mine)


@admin.register(Lease)
class TeamLeases(OfTheTeam, LeaseAdmin):
    names_deal = "key"


@admin.register(Job)
class TeamJobs(OfTheTeam, JobAdmin):
    pass


@admin.register(OutboxMessage)
class TeamOutbox(OfTheTeam, OutboxAdmin):
    pass


class OfTheHouse:
    """For administrators: an event may speak of anybody's work, or of none."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return administers(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return administers(request)


@admin.register(LeaseEvent)
class AllLeaseEvents(OfTheHouse, LeaseEventAdmin):
    pass


@admin.register(JobEvent)
class AllJobEvents(OfTheHouse, JobEventAdmin):
    pass
