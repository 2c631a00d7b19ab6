"""The review queue as the CRM puts it up: a manager sees, and decides, what concerns the team's records."""

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
from crm.admin.editing import SalesEditor
from crm.admin.money import money
from crm.admin.scope import manages
from crm.models import Opportunity, Team, User

DEAL = Opportunity._meta.label_lower
PAGES = {
    DEAL: "deal",
    "crm.company": "company",
    "crm.contact": "contact",
    "crm.conversation": "conversation",
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
        return queryset.filter(team_key=int(chosen))


@admin.register(Conflict)
class DealReviewQueue(ReviewQueue):
    list_filter = (*ReviewQueue.list_filter, TeamFilter)
    editor = SalesEditor()

    def may_decide(self, request: HttpRequest) -> bool:
        return manages(request)

    def amount_words(self, record: Conflict) -> str:
        return money(record.amount, record.currency) if record.amount is not None else ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        found: QuerySet[Conflict] = super().get_queryset(request)
        user = request.user
        if not isinstance(user, User):
            return found.none()
        if user.sees_everything:
            return found
        mine = Exists(Opportunity.objects.visible_to(user).filter(pk=OuterRef("subject_id")))
        ours = Q(team_key=None) | Q(team_key=user.team_id)
        return found.filter((~Q(subject_model=DEAL) & ours) | Q(subject_id=None) | mine)

    def money(self, record: Conflict) -> Money | None:
        if record.subject_model != DEAL:
            return (lambda amount: money(amount, record.currency)) if record.currency else None
        currency = Opportunity.objects.filter(pk=record.subject_id or 0).values_list("currency", flat=True).first()
        return (lambda amount: money(amount, currency)) if currency else None

    def settle_url(self, record: Conflict) -> str:
        try:
            return reverse(PAGES[record.subject_model], args=[record.subject_id]) if record.subject_id else ""
        except (KeyError, NoReverseMatch):
            return super().settle_url(record)


def waiting_count(request: HttpRequest) -> str:
    """For the sidebar: how many wait for a person, as far as this one may see them; empty for none."""
    queue = admin.site._registry[Conflict]
    count = queue.get_queryset(request).filter(closed_at=None)[:100].count()
    return "" if not count else "99+" if count > 99 else str(count)
