"""Leases in the admin: who holds what, since when, until when; and a manager's *break lease*.

Guarantees that the lease which is broken is the one that was looked at: its fencing token is compared with the row
locked. Next in the flow: `conflicts/leases.py`.
"""

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from conflicts import claims, leases
from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.deciding import SHOWN, Answer, Reason, Told, WorkAdmin, facts, label, moment
from conflicts.clock import ClockTimestamp
from conflicts.models import Lease, LeaseEvent
from conflicts.models.lease import LeaseEventKind

SHOWN_OF_HOLDER = 4


def in_force() -> Q:
    """By the database's clock."""
    return ~Q(holder="") & Q(expires_at__gt=ClockTimestamp())


class ForceFilter(SimpleListFilter):
    title = _("in force or ended")
    parameter_name = "force"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("held", _("In force")), ("ended", _("Ended"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Lease]) -> QuerySet[Lease]:
        match self.value():
            case "held":
                return queryset.filter(in_force())
            case "ended":
                return queryset.exclude(in_force())
        return queryset


class LeaseAdmin(WorkAdmin):
    template = "admin/conflicts/lease/detail.html"
    list_display = ("key", "force", "who", "since", "until", "beat", "work", "reason", "token")
    list_filter = (ForceFilter,)
    search_fields = ("key", "unit", "actor")
    ordering = ("-expires_at",)
    list_fullwidth = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Lease]:
        found: QuerySet[Lease] = super().get_queryset(request)
        return found.annotate(alive=ExpressionWrapper(in_force(), output_field=BooleanField()))

    @display(description=_("who"), ordering="actor")
    def who(self, obj: Lease) -> str:
        return Actor.parse(obj.actor).shown

    @display(description=_("in force"), label={"held": "info", "ended": ""})
    def force(self, obj: Any) -> tuple[str, str]:
        return ("held", _t("in force")) if obj.alive else ("ended", _t("ended"))

    @display(description=_("fencing token"), ordering="fence")
    def token(self, obj: Lease) -> str:
        return "" if obj.key.startswith(claims.PREFIX) else str(obj.fence)

    @display(description=_("since"), ordering="granted_at")
    def since(self, obj: Lease) -> str:
        return moment(obj.granted_at)

    @display(description=_("until"), ordering="expires_at")
    def until(self, obj: Lease) -> str:
        return moment(obj.expires_at)

    @display(description=_("last sign of life"), ordering="beat_at")
    def beat(self, obj: Lease) -> str:
        return moment(obj.beat_at)

    @display(description=_("unit of work"), ordering="unit")
    def work(self, obj: Lease) -> str:
        after = _t("taken over from %(unit)s") % {"unit": obj.recovery.get("unit", "")} if obj.recovery else ""
        return format_html('<span class="v-cell"><b>{}</b><span>{}</span></span>', obj.unit, after)

    def about(self, obj: Any) -> dict[str, Any]:
        held = {"who": self.who(obj), "when": moment(obj.expires_at)}
        events = LeaseEvent.objects.filter(key=obj.key).order_by("-id")[:SHOWN]
        return {
            "headline": _t("%(who)s holds this until %(when)s.") % held if obj.alive else _t("Nobody holds this."),
            "state": self.force(obj)[1],
            "state_slug": self.force(obj)[0],
            "tone": "info" if obj.alive else "",
            "facts": [
                *facts(obj, "key"),
                (label(Lease, "actor"), self.who(obj)),
                *facts(obj, "unit", "reason", "granted_at", "expires_at", "beat_at"),
                *_key(obj),
                (label(Lease, "renewal"), obj.get_renewal_display()),
                *facts(obj, "release_when"),
                (label(Lease, "recovery"), _recovery(obj.recovery)),
            ],
            "told": [
                Told(
                    mark=f"#{event.fence}",
                    what=event.get_kind_display(),
                    by=Actor.parse(event.by),
                    at=event.at,
                    detail=str(event.detail.get("why", "")) or event.unit,
                )
                for event in events
            ],
        }

    def ask(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self._ask(request, obj, form=Reason()) if obj.alive else self.shown(request, str(obj.pk))

    def _ask(self, request: HttpRequest, obj: Any, *, form: Reason, status: int = 200) -> HttpResponse:
        context = {**self.context(request, obj), "lease": obj, "who": self.who(obj), "form": form}
        return TemplateResponse(request, "admin/conflicts/lease/break.html", context, status=status)

    def _decide(self, request: HttpRequest, object_id: str) -> HttpResponse:
        form = Reason(request.POST)
        if request.method == "POST" and request.POST.get("seen") and not form.is_valid():
            obj = self.found(request, object_id)
            if obj.alive and request.POST["seen"] == str(obj.fence):
                return self._ask(request, obj, form=form, status=422)
        return super()._decide(request, object_id)

    def decide(self, request: HttpRequest, obj: Any, *, by: Actor) -> Answer:
        # Locked first, judged after: whoever held the row may have ended the lease, or begun another.
        row = Lease.objects.select_for_update().get(pk=obj.pk)
        seen = str(row.fence) == request.POST["seen"]
        if not seen or not Lease.objects.filter(in_force(), pk=row.pk).exists():
            return Answer(words=_how_it_ended(row, request.POST["seen"]), status=409)
        leases.break_(row.key, by=by, why=request.POST["why"].strip())
        return Answer(words=_t("The lease is broken. What its holder still writes is refused."))


def _key(obj: Lease) -> list[tuple[str, str]]:
    """Enough of the key to tell two holders apart, never enough to use it; of a reviewer's claim nothing."""
    if obj.key.startswith(claims.PREFIX):
        return []
    shown = f"{obj.holder[:SHOWN_OF_HOLDER]}…" if obj.holder else ""
    return [(label(Lease, "fence"), str(obj.fence)), (label(Lease, "holder"), shown)]


def _recovery(recovery: dict[str, Any]) -> str:
    said = {"unit": recovery.get("unit", ""), "fence": recovery.get("fence", "")}
    return _t("%(unit)s, which had gone silent (token %(fence)s)") % said if recovery else ""


def _how_it_ended(row: Lease, seen: str) -> str:
    """Who was faster: nothing was broken by this press."""
    fence = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else -1
    last = LeaseEvent.objects.filter(key=row.key, fence=fence, kind=LeaseEventKind.BROKEN).first()
    if last is not None:
        return _t("%(who)s has broken this lease already. Nothing was done.") % {"who": Actor.parse(last.by).shown}
    if fence != row.fence:
        return _t("The lease that was shown has ended, and the work was taken up anew. Nothing was done.")
    return _t("The lease has ended by itself meanwhile. Nothing was done.")
