"""The review queue as the CRM puts it up: a manager sees what concerns the team's deals, and where to settle it."""

from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy as _

from conflicts.admin.review_queue import ReviewQueue
from conflicts.admin.words import Money
from conflicts.models import Conflict
from crm.admin.money import money
from crm.models import Opportunity, Team, User

DEAL = Opportunity._meta.label_lower
PAGES = {
    DEAL: "deal",
    "crm.company": "company",
    "crm.contact": "contact",
    "crm.contract": "contract",
    "crm.invoice": "invoice",
}
"""Subject -> the page of the product where it is seen and settled."""


class TeamFilter(SimpleListFilter):
    title = _("team")
    parameter_name = "team"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(team.pk), team.name) for team in Team.objects.all()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        chosen = self.value() or ""
        if not (chosen.isascii() and chosen.isdigit() and len(chosen) < 19):
            return queryset
        return queryset.filter(Q(subject_model=DEAL), _deal(team=int(chosen)))


@admin.register(Conflict)
class DealReviewQueue(ReviewQueue):
    list_filter = (*ReviewQueue.list_filter, TeamFilter)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        found: QuerySet[Conflict] = super().get_queryset(request)
        user = request.user
        if not isinstance(user, User):
            return found.none()
        if user.sees_everything:
            return found
        mine = Exists(Opportunity.objects.visible_to(user).filter(pk=OuterRef("subject_id")))
        return found.filter(~Q(subject_model=DEAL) | Q(subject_id=None) | mine)

    def money(self, record: Conflict) -> Money | None:
        if record.subject_model != DEAL:
            return None
        currency = Opportunity.objects.filter(pk=record.subject_id or 0).values_list("currency", flat=True).first()
        return (lambda amount: money(amount, currency)) if currency else None

    def settle_url(self, record: Conflict) -> str:
        try:
            return reverse(PAGES[record.subject_model], args=[record.subject_id]) if record.subject_id else ""
        except (KeyError, NoReverseMatch):
            return super().settle_url(record)


def _deal(**wanted: Any) -> Exists:
    return Exists(Opportunity.objects.filter(pk=OuterRef("subject_id"), **wanted))


def waiting_count(request: HttpRequest) -> str:
    """For the sidebar: how many wait for a person, as far as this one may see them; empty for none."""
    queue = admin.site._registry[Conflict]
    count = queue.get_queryset(request).filter(closed_at=None)[:100].count()
    return "" if not count else "99+" if count > 99 else str(count)
