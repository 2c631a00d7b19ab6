"""ReviewQueue: every conflict record as a page that a person can settle from.

Guarantees that it reads fast with ten thousand records (no join per row, nothing counted beyond what one would leaf
through), and that whatever is decided from it is decided by `conflicts/decisions.py`. Subclassed and registered by the
app that knows the records' pages. Next in the flow: `conflicts/admin/review_page.py`, `conflicts/admin/review_bulk.py`.
"""

from typing import Any

from django.contrib.admin import ModelAdmin as DjangoAdmin
from django.contrib.admin import ShowFacets, action
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import NoReverseMatch, URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from unfold.views import ChangeList

from conflicts import claims
from conflicts.admin.columns import display
from conflicts.admin.paging import CappedPaginator
from conflicts.admin.read_only import ReadOnlyAdmin
from conflicts.admin.review_bulk import KINDS, ReviewBulk
from conflicts.admin.review_filters import AgeFilter, AmountFilter, DeadlineFilter, HolderFilter, ShowFilter
from conflicts.admin.review_page import ReviewPage
from conflicts.admin.words import Money
from conflicts.models import Conflict, DecisionKind, Job, OutboxMessage, State

TONES: dict[str, str] = {
    State.VERSION_CONFLICT: "warning",
    State.CHANGED_DURING_APPROVAL: "warning",
    State.LEASE_EXPIRED: "info",
    State.MANUAL_ACTION_DETECTED: "info",
    State.TERMINAL_STATE_FOUND: "danger",
    State.MERGE_NOT_ALLOWED: "warning",
    State.NEEDS_REEVALUATION: "info",
    State.NEEDS_HUMAN_DECISION: "danger",
}


class Crumb:
    """The record in the path above the page: by the name of its subject."""

    def __init__(self, record: Conflict) -> None:
        self._meta, self.pk, self._name = record._meta, record.pk, record.subject_name or "–"

    def __str__(self) -> str:
        return self._name


class QueueList(ChangeList):  # type: ignore[misc]
    """A page of the queue: who holds each of its rows is asked once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)  # type: ignore[has-type]
        held = claims.holders(row.pk for row in rows if row.closed_at is None)
        for row in rows:
            row.held = held.get(row.pk)
        self.result_list = rows


class ReviewQueue(ReviewPage, ReviewBulk, ReadOnlyAdmin):
    list_display = ("happened", "record", "shown_state", "both", "who", "waits")
    list_display_links = ("happened",)
    list_select_related = ("responsible",)
    list_filter: tuple[Any, ...] = (
        ShowFilter,
        "state",
        DeadlineFilter,
        AgeFilter,
        AmountFilter,
        HolderFilter,
        "responsible",
    )
    search_fields = ("subject_label", "actor", "competing", "=key")
    search_help_text = _("Record, person or agent, or a whole idempotency key")
    list_fullwidth = True
    paginator = CappedPaginator
    show_facets = ShowFacets.NEVER  # a count for each choice of each filter
    actions: Any = ("drop_many", "apply_many")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[QueueList]:
        return QueueList

    def get_urls(self) -> list[URLPattern]:
        return [*self.page_urls(), *self.bulk_urls(), *super().get_urls()]

    def get_action_choices(
        self, request: HttpRequest, default_choices: Any = None, action_location: Any = None
    ) -> list[tuple[str, str]]:
        """As Django's, past Unfold's, which lacks the place that Django asks for."""
        return DjangoAdmin.get_action_choices(self, request, [("", _t("With those chosen"))])

    @action(description=KINDS[DecisionKind.DROP])
    def drop_many(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse:
        return self.ask_for_many(request, rows, DecisionKind.DROP)

    @action(description=KINDS[DecisionKind.APPLY])
    def apply_many(self, request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse:
        return self.ask_for_many(request, rows, DecisionKind.APPLY)

    def record_url(self, record: Conflict) -> str:
        """Where the record is seen; empty where there is no such page."""
        app, _dot, model = record.subject_model.partition(".")
        try:
            return reverse(f"admin:{app}_{model}_change", args=[record.subject_id]) if record.subject_id else ""
        except NoReverseMatch:
            return ""

    def settle_url(self, record: Conflict) -> str:
        """Where it is settled; by default, where the record is seen."""
        return self.record_url(record)

    def money(self, record: Conflict) -> Money | None:
        """How an amount of this record is written, if the app knows its currency."""
        return None

    def amount_words(self, record: Conflict) -> str:
        """What is at stake, for the list: from the record's own row."""
        return f"{record.amount} {record.currency}" if record.amount is not None else ""

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """What is due first stands first; of what is settled, the newest."""
        return ("-opened_at", "-id") if request.GET.get("show") in ("settled", "all") else ("deadline", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        # A list shows no content: the three JSON columns stay where they are.
        found: QuerySet[Conflict] = super().get_queryset(request)
        if request.resolver_match and request.resolver_match.url_name == "conflicts_conflict_changelist":
            found = found.defer("changes", "differences", "params", "next_step")
        return found

    @display(description=_("what happened"))
    def happened(self, record: Conflict) -> str:
        told, also = record.told, record.also_not_done or ""
        return format_html('<span class="v-cell"><b>{}</b><span>{}</span></span>', told, also)

    @display(description=_("record"), ordering="subject_label")
    def record(self, record: Conflict) -> str:
        name, url = record.subject_name or "–", self.record_url(record)
        shown = format_html('<a href="{}" class="v-link">{}</a>', url, name) if url else name
        return format_html('<span class="v-cell">{}<span>{}</span></span>', shown, self.amount_words(record))

    @display(description=_("state"), ordering="state", label=TONES)
    def shown_state(self, record: Conflict) -> tuple[str, str]:
        return record.state, record.get_state_display() or _t("none")

    @display(description=_("who wanted it, who was first"), header=True)
    def both(self, record: Conflict) -> list[str]:
        first = record.overtaken_by
        return [record.intended_by.shown, _t("after %(who)s") % {"who": first.shown} if first else ""]

    @display(description=_("responsible"), ordering="responsible")
    def who(self, record: Any) -> str:
        """Who is to decide; and who is doing so at this moment."""
        held = getattr(record, "held", None)
        until = _t("%(who)s has it until %(until)s")
        told = until % {"who": held.by.shown, "until": f"{timezone.localtime(held.until):%H:%M}"} if held else ""
        return format_html(
            # Where the row is a card no column's head says whose name this is.
            '<span class="v-cell"><span class="v-label">{}</span><b>{}</b><span>{}</span></span>',
            _t("responsible"),
            record.responsible or "–",
            told,
        )

    @display(description=_("deadline"), ordering="deadline")
    def waits(self, record: Conflict) -> str:
        over = record.closed_at is None and record.deadline is not None and record.deadline < timezone.now()
        opened = _t("opened %(span)s ago") % {"span": timesince(record.opened_at, depth=1)}
        return format_html(
            '<span class="v-cell" data-tone="{}"><b>{}</b><span>{}</span><span>{}</span></span>',
            "danger" if over else "",
            self._deadline(record),
            opened,
            _t("moved up") if record.level and record.escalated_at and record.closed_at is None else "",
        )

    def _deadline(self, record: Conflict) -> str:
        if record.closed_at is not None or record.deadline is None:
            return _t("settled")
        now = timezone.now()
        if record.deadline < now:
            return _t("%(span)s over") % {"span": timesince(record.deadline, now, depth=1)}
        return _t("in %(span)s") % {"span": timesince(now, record.deadline, depth=1)}

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Review queue"), **(extra_context or {})})  # type: ignore[no-any-return]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The evidence. A POST meets a 403: there is nothing to save here."""
        record = self.get_object(request, object_id)
        if record is None:
            raise Http404
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request, record):
            raise PermissionDenied
        return self.shown(request, record)

    def about(self, request: HttpRequest, record: Conflict) -> dict[str, Any]:
        """What the page says of the record itself."""
        work, open_ = work_url(record), record.closed_at is None
        return {
            "title": record.subject_name or _("Review queue"),
            "opts": self.opts,
            "original": Crumb(record),
            "tone": TONES.get(record.state, ""),
            "record_url": self.record_url(record),
            "product_url": self.settle_url(record),
            "work_url": work,
            "amount": self.amount_words(record),
            "over": open_ and record.deadline is not None and record.deadline < timezone.now(),
        }

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        raise Http404  # a record of evidence has no history of its own


def work_url(record: Conflict) -> str:
    """The page of the work that left this record: a job that failed for good, a message nobody can tell of."""
    found: Job | OutboxMessage | None = None
    match record.action.partition(":"):
        case ("job", ":", _kind):
            found = Job.objects.filter(key=record.key).first()
        case ("send", ":", _destination):
            found = OutboxMessage.objects.filter(key=record.key).first()
    return reverse(f"admin:conflicts_{found._meta.model_name}_change", args=[found.pk]) if found else ""
