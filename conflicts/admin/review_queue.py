"""ReviewQueue: every conflict record as a page that a person can settle from.

Guarantees that it reads fast with ten thousand records (no join per row, no count of all rows), and that it changes
nothing: it says where to settle. Subclassed and registered by the app that knows the records' pages.
Next in the flow: `conflicts/admin/evidence.py`.
"""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from conflicts.admin import evidence
from conflicts.admin.columns import display
from conflicts.admin.read_only import ReadOnlyAdmin
from conflicts.admin.review_filters import AgeFilter, DeadlineFilter, ShowFilter
from conflicts.admin.words import Money
from conflicts.models import Conflict, Job, OutboxMessage, State

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
        self._meta, self.pk, self._name = record._meta, record.pk, record.subject_label or "–"

    def __str__(self) -> str:
        return self._name


class ReviewQueue(ReadOnlyAdmin):
    list_display = ("happened", "record", "shown_state", "both", "responsible", "waits")
    list_display_links = ("happened",)
    list_select_related = ("responsible",)
    list_filter: tuple[Any, ...] = (ShowFilter, "state", DeadlineFilter, AgeFilter, "responsible")
    search_fields = ("subject_label", "actor", "competing", "=key")
    search_help_text = _("Record, person or agent, or a whole idempotency key")
    list_fullwidth = True

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
        """On a phone the list shows this column alone, so the record and the deadline stand in it too."""
        return format_html(
            '<span class="v-cell"><b>{}</b><span>{}</span><span class="v-only-phone">{}</span></span>',
            record.told,
            record.also_not_done or "",
            " · ".join(part for part in (record.subject_label, self._deadline(record)) if part),
        )

    @display(description=_("record"), ordering="subject_label")
    def record(self, record: Conflict) -> str:
        name, url = record.subject_label or "–", self.record_url(record)
        return format_html('<a href="{}" class="v-link">{}</a>', url, name) if url else name

    @display(description=_("state"), ordering="state", label=TONES)
    def shown_state(self, record: Conflict) -> tuple[str, str]:
        return record.state, record.get_state_display() or _t("none")

    @display(description=_("who wanted it, who was first"), header=True)
    def both(self, record: Conflict) -> list[str]:
        first = record.overtaken_by
        return [record.intended_by.shown, _t("after %(who)s") % {"who": first.shown} if first else ""]

    @display(description=_("deadline"), ordering="deadline")
    def waits(self, record: Conflict) -> str:
        over = record.closed_at is None and record.deadline is not None and record.deadline < timezone.now()
        opened = _t("opened %(span)s ago") % {"span": timesince(record.opened_at, depth=1)}
        return format_html(
            '<span class="v-cell" data-tone="{}"><b>{}</b><span>{}</span></span>',
            "danger" if over else "",
            self._deadline(record),
            opened,
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
        work = work_url(record)
        context = {
            **self.admin_site.each_context(request),
            "title": record.subject_label or _("Review queue"),
            "opts": self.opts,
            "original": Crumb(record),
            "record": record,
            "evidence": evidence.of(record, money=self.money(record)),
            "tone": TONES.get(record.state, ""),
            "record_url": self.record_url(record),
            "work_url": work,
            "settle_url": (work or self.settle_url(record)) if record.closed_at is None else "",
            "over": record.closed_at is None and record.deadline is not None and record.deadline < timezone.now(),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/conflicts/conflict/detail.html", context)

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
