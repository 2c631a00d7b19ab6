"""Many at once, for what is obvious: drop all of these, or apply all of these.

Guarantees that each is a decision of its own, on what the page in between has shown of it; that what was settled, moved
on, is held by somebody else or takes more authority is set aside and listed with its reason; and that the rest goes
ahead. Next in the flow: `conflicts/decisions.py`.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from conflicts import actors, claims, decisions, resolving, settling
from conflicts.actors import Actor
from conflicts.admin import evidence
from conflicts.admin.review_page import REASONS, _one_of, _whole, work_of
from conflicts.admin.words import Words
from conflicts.claims import Holder
from conflicts.decisions import Wish
from conflicts.exceptions import BadParams
from conflicts.models import Conflict, DecisionKind, Why
from conflicts.resolving import Resolution
from conflicts.sentences import Sentence

MOST = 200
KINDS = {DecisionKind.DROP: _l("Drop these"), DecisionKind.APPLY: _l("Apply these")}


@dataclass(frozen=True, kw_only=True)
class Row:
    record: Conflict
    seen: str = ""
    """What the form sends of it: key, revision and version, as they are shown."""
    why_not: str = ""
    told: str = ""
    meant: str = ""
    """The content, in words."""


class ReviewBulk:
    """For ReviewQueue: the two actions on rows."""

    admin_site: Any
    opts: Any

    def bulk_urls(self) -> list[URLPattern]:
        return [path("many/", self._many, name="conflicts_conflict_many")]

    def ask_for_many(self, request: HttpRequest, rows: QuerySet[Conflict], kind: DecisionKind) -> HttpResponse:
        """The page in between: what would be decided, what is set aside already, and why."""
        if not self.may_decide(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        by = actors.person(request.user)
        found = list(rows.select_related("responsible").order_by("deadline", "id")[:MOST])
        held = claims.holders(record.pk for record in found)
        shown = [self._row(record, kind, by=by, held=held.get(record.pk)) for record in found]
        return self._page(request, kind, shown, form=uuid.uuid4().hex)

    def _row(self, record: Conflict, kind: DecisionKind, *, by: Actor, held: Holder | None) -> Row:
        resolution = resolving.of(record)
        no: Sentence | None = None
        if record.closed_at is not None:
            no = settling.settled_meanwhile(record)
        elif held is not None and not held.by.same_as(by):
            no = claims.held_by(held)
        elif work_of(record):
            no = Sentence("cannot_be_done")
        elif kind == DecisionKind.APPLY and resolution.why_not:
            no = resolution.why_not
        else:
            no = decisions.refusal(record, kind, by=by)
        seen = f"{record.pk}.{record.revision}.{resolution.version or ''}"
        said = self._meant(record, resolution)
        return Row(record=record, seen="" if no else seen, why_not=str(no or ""), meant=said)

    def _meant(self, record: Conflict, resolution: Resolution) -> str:
        if resolution.action is None:
            return ""
        words = Words(money=self.money(record))  # type: ignore[attr-defined]
        told = evidence.described(resolution.action.subject, record.params, words=words)
        return " · ".join(f"{what}: {value}" for what, value in told)

    def _page(
        self,
        request: HttpRequest,
        kind: DecisionKind,
        rows: list[Row],
        *,
        form: str,
        fault: str = "",
        status: int = 200,
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": KINDS[kind],
            "opts": self.opts,
            "kind": kind.value,
            "words": KINDS[kind],
            "going": [row for row in rows if not row.why_not],
            "aside": [row for row in rows if row.why_not],
            "reasons": REASONS,
            "fault": fault,
            "form": form,
        }
        return TemplateResponse(request, "admin/conflicts/conflict/many.html", context, status=status)

    def _many(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and not self.may_decide(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        answer: HttpResponse = self.admin_site.admin_view(self.many_view)(request)
        return answer

    def many_view(self, request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        kind = _one_of(DecisionKind, request.POST.get("decision", ""))
        form = request.POST.get("form", "")[:64]
        if kind not in KINDS or not form:
            raise PermissionDenied
        seen = [text for text in request.POST.getlist("seen") if text][:MOST]
        reason = _one_of(Why, request.POST.get("reason", ""))
        if reason is None or reason == Why.OVERDUE:
            pks = [pk for text in seen if (pk := _whole(text.partition(".")[0]))]
            rows = self.get_queryset(request).filter(pk__in=pks)  # type: ignore[attr-defined]
            by = actors.person(request.user)
            held = claims.holders(pks)
            shown = [self._row(record, kind, by=by, held=held.get(record.pk)) for record in rows]
            return self._page(request, kind, shown, form=form, fault=_("Say why: one click."), status=422)
        return self._done(request, kind, [self._one(request, kind, reason, text, form=form) for text in seen])

    def _one(self, request: HttpRequest, kind: DecisionKind, reason: Why, seen: str, *, form: str) -> Row | None:
        pk, revision, version = [*map(_whole, (seen + "..").split("."))][:3]
        rows = self.get_queryset(request).select_related("responsible")  # type: ignore[attr-defined]
        record = rows.filter(pk=pk or 0).first()
        if record is None or revision is None or work_of(record):
            return None  # not in this person's queue: what they may not see is not spoken of
        by = actors.person(request.user)
        wish = Wish(record=record.pk, kind=kind, reason=reason, by=by, revision=revision, version=version, form=form)
        try:
            told = decisions.decide(wish)
        except BadParams as bad:
            return Row(record=record, why_not=" ".join(line for lines in bad.errors.values() for line in lines))
        sentence = str(told.sentence.told_to(by))
        return Row(record=record, told=sentence) if told.done else Row(record=record, why_not=sentence)

    def _done(self, request: HttpRequest, kind: DecisionKind, rows: list[Row | None]) -> HttpResponse:
        found = [row for row in rows if row is not None]
        context = {
            **self.admin_site.each_context(request),
            "title": KINDS[kind],
            "opts": self.opts,
            "done": [row for row in found if not row.why_not],
            "aside": [row for row in found if row.why_not],
        }
        return TemplateResponse(request, "admin/conflicts/conflict/many_done.html", context)
