"""The page of one conflict: what happened, both sides, who holds it, and the form from which it is decided.

Guarantees that the form carries what it was shown for (revision, version, claim, a key of its own), that each button
asks the rule its press will ask, that a refusal keeps all that was typed, and that whoever has not the authority meets
a 403 that names who has. Next in the flow: `conflicts/decisions.py`, `templates/admin/conflicts/conflict/`.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from conflicts import actors, claims, decisions, resolving, review, sentences
from conflicts.actors import Actor
from conflicts.admin import evidence
from conflicts.admin.editing import Editor
from conflicts.admin.words import Words
from conflicts.claims import Holder
from conflicts.decisions import Wish
from conflicts.exceptions import BadParams
from conflicts.leases import Claim
from conflicts.models import Conflict, Decision, DecisionKind, LeaseEvent, Why
from conflicts.models.lease import LeaseEventKind
from conflicts.resolving import Resolution
from conflicts.review import Need
from conflicts.sentences import Sentence

REASONS = [(why.value, why.label) for why in Why if why != Why.OVERDUE]

BUTTONS: dict[DecisionKind, Any] = {
    DecisionKind.APPLY: _l("Apply it now"),
    DecisionKind.DROP: _l("Drop it"),
    DecisionKind.ASK_AGAIN: _l("Ask the agent again"),
}

TOLD_OF = (LeaseEventKind.GRANTED, LeaseEventKind.TAKEN_OVER, LeaseEventKind.RELEASED, LeaseEventKind.BROKEN)


@dataclass(frozen=True, kw_only=True)
class Button:
    kind: str
    words: Any
    why_not: str = ""
    """Empty if it can be pressed."""


class BadForm(Exception):
    """A form that does not say what it was shown for, or whose fields are none of ours. `status`: 428 or 400."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ReviewPage:
    """For ReviewQueue: everything about one record."""

    editor = Editor()
    admin_site: Any
    opts: Any

    # ---- what the app that knows the records says

    def may_decide(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def money(self, record: Conflict) -> Any:
        return None

    # ---- addresses

    def page_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/claim/", self.admin_site.admin_view(self.claim_view), name="conflicts_conflict_claim"),
            path(
                "<int:pk>/give-back/",
                self.admin_site.admin_view(self.give_back_view),
                name="conflicts_conflict_giveback",
            ),
            path("<int:pk>/decide/", self._deciding, name="conflicts_conflict_decide"),
        ]

    def _deciding(self, request: HttpRequest, pk: int) -> HttpResponse:
        """By hand, too: who is signed in and may not decide meets a 403, not a form to sign in with."""
        if request.user.is_authenticated and not self.may_decide(request):
            raise PermissionDenied
        answer: HttpResponse = self.admin_site.admin_view(self.decide_view)(request, pk)
        return answer

    def _found(self, request: HttpRequest, pk: int) -> Conflict:
        record: Conflict | None = self.get_object(request, str(pk))  # type: ignore[attr-defined]
        if record is None:
            raise Http404
        if request.method != "POST" or not self.may_decide(request):
            raise PermissionDenied
        return record

    # ---- holding

    def claim_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take it, or make it longer."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        record = self._found(request, pk)
        if record.closed_at is None:
            got = claims.take(record.pk, by=actors.person(request.user))
            if isinstance(got, Holder):
                messages.warning(request, str(claims.held_by(got)))
        return HttpResponseRedirect(_page(record))

    def give_back_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        record = self._found(request, pk)
        claims.give_back(record.pk, by=actors.person(request.user))
        return HttpResponseRedirect(_page(record))

    # ---- deciding

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        record = self._found(request, pk)
        if work_of(record):
            raise PermissionDenied  # what became of work is decided on the work's own page
        try:
            wish, faults = self._wish(request, record)
        except BadForm as bad:
            stood = _("This form does not say what it was made for. Open the page again.")
            return self.shown(request, record, stood=stood, status=bad.status)
        if faults:
            return self.shown(request, record, stood=_told_faults(faults), faults=faults, status=422)
        try:
            told = decisions.decide(wish)
        except BadParams as bad:
            return self.shown(request, record, stood=_told_faults(bad.errors), faults=bad.errors, status=422)
        if told.done:
            messages.success(request, str(told.sentence.told_to(wish.by)))
            return HttpResponseRedirect(_page(record))
        fresh = Conflict.objects.select_related("responsible").get(pk=record.pk)
        return self.shown(
            request, fresh, stood=refused(told.sentence, by=wish.by), status=403 if told.forbidden else 409
        )

    def _wish(self, request: HttpRequest, record: Conflict) -> tuple[Wish, dict[str, list[str]]]:
        """Raises BadForm."""
        said = request.POST
        kind = _one_of(DecisionKind, said.get("decision", ""))
        if kind is None or kind == DecisionKind.ESCALATE:
            raise BadForm(400)
        revision, form = _whole(said.get("revision", "")), said.get("form", "")
        if revision is None or not form:
            raise BadForm(428)
        faults: dict[str, list[str]] = {}
        reason = _one_of(Why, said.get("reason", ""))
        if reason is None or reason == Why.OVERDUE:
            faults["reason"] = [_("Say why: one click.")]
        to = _whole(said.get("to", ""))
        if kind == DecisionKind.HAND_OVER and to is None:
            faults["to"] = [_("Choose who it goes to.")]
        params: Mapping[str, Any] = {}
        if kind == DecisionKind.EDIT:
            params, more = self.editor.params(resolving.of(record, shown=_whole(said.get("version", ""))), said)
            faults |= more
        return Wish(
            record=record.pk,
            kind=kind,
            reason=reason or Why.STILL_RIGHT,
            by=actors.person(request.user),
            revision=revision,
            version=_whole(said.get("version", "")),
            note=" ".join(said.get("note", "").replace("\x00", "").split())[:300],
            claim=_claim(record, said.get("claim", "")),
            params=params,
            to=to,
            form=form[:64],
        ), faults

    # ---- showing

    def shown(
        self,
        request: HttpRequest,
        record: Conflict,
        *,
        stood: str = "",
        faults: Mapping[str, list[str]] | None = None,
        status: int = 200,
    ) -> HttpResponse:
        by = actors.person(request.user)
        resolution, open_ = resolving.of(record), record.closed_at is None
        work = work_of(record)
        decidable = open_ and not work and self.may_decide(request)
        held = claims.holder(record.pk) if open_ else None
        mine = held is not None and held.by.same_as(by)
        words = Words(money=self.money(record))
        need = Need.from_json(record.needs)
        able = review.desk().who_can(need, team=record.team_key) if open_ else []
        context = {
            **self.admin_site.each_context(request),
            **self.about(request, record),  # type: ignore[attr-defined]
            "record": record,
            "stood": stood,
            "evidence": evidence.of(record, money=self.money(record), now=resolution if open_ else None),
            "held": held,
            "mine": mine,
            "decidable": decidable,
            "buttons": self.buttons(record, resolution, by=by, held=None if mine else held),
            "edit": self._edit_button(record, resolution, by=by, held=None if mine else held),
            "lines": self.editor.lines(resolution, words=words, posted=request.POST, faults=faults)
            if decidable
            else [],
            "able": [(account.pk, str(account)) for account in able],
            "others": [(account.pk, str(account)) for account in able if account.pk != request.user.pk],
            "needs": needs_words(need, words=self.money(record)),
            "reasons": REASONS,
            "faults": faults or {},
            "typed": request.POST,
            "form": uuid.uuid4().hex,
            "version": resolution.version,
            "claim": f"{held.claim.holder}.{held.claim.fence}" if held is not None and mine else "",
            "told": told(record),
            "next": self._next(request, record),
        }
        return TemplateResponse(request, "admin/conflicts/conflict/detail.html", context, status=status)

    def buttons(self, record: Conflict, resolution: Resolution, *, by: Actor, held: Holder | None) -> list[Button]:
        return [self._button(kind, record, resolution, by=by, held=held) for kind in BUTTONS]

    def _edit_button(self, record: Conflict, resolution: Resolution, *, by: Actor, held: Holder | None) -> Button:
        return self._button(DecisionKind.EDIT, record, resolution, by=by, held=held)

    def _button(
        self, kind: DecisionKind, record: Conflict, resolution: Resolution, *, by: Actor, held: Holder | None
    ) -> Button:
        no: Sentence | None = claims.held_by(held) if held is not None else decisions.refusal(record, kind, by=by)
        if no is None and kind in decisions.WRITES:
            no = resolution.why_not
        return Button(kind=kind.value, words=BUTTONS.get(kind, _("Apply as changed")), why_not=str(no or ""))

    def _next(self, request: HttpRequest, record: Conflict) -> Conflict | None:
        """The next one that waits, for whoever goes through them."""
        rows = self.get_queryset(request).filter(closed_at=None).exclude(pk=record.pk)  # type: ignore[attr-defined]
        return rows.order_by("deadline", "id").only("id", "subject_model", "subject_label").first()  # type: ignore[no-any-return]


def refused(sentence: Sentence, *, by: Actor) -> str:
    """Why not, and what did not happen, where the sentence does not say it itself."""
    words = str(sentence.told_to(by))
    return words if sentences.is_whole(sentence.code) else f"{words} {_('Nothing was written.')}"


def told(record: Conflict) -> list[dict[str, Any]]:
    """What was done with it, newest first: decisions, and who held it."""
    found = [
        {
            "what": decision.get_kind_display(),
            "by": decision.author,
            "at": decision.changed_at,
            "detail": " · ".join(
                part
                for part in (
                    str(decision.get_reason_display()),
                    _("to %(who)s") % {"who": decision.to} if decision.to else "",
                    decision.note,
                )
                if part
            ),
        }
        for decision in Decision.objects.filter(conflict=record).select_related("to").order_by("-id")[:50]
    ]
    key = claims.key_of(record.pk)
    found += [
        {
            "what": HELD[event.kind],
            "by": Actor.parse(event.by),
            "at": event.at,
            "detail": str(event.detail.get("why", "")),
        }
        for event in LeaseEvent.objects.filter(key=key, kind__in=TOLD_OF).order_by("-id")[:20]
    ]
    return sorted(found, key=lambda one: one["at"], reverse=True)


HELD: dict[str, Any] = {
    LeaseEventKind.GRANTED: _l("took it"),
    LeaseEventKind.TAKEN_OVER: _l("took it: the time of whoever had it was over"),
    LeaseEventKind.RELEASED: _l("gave it back"),
    LeaseEventKind.BROKEN: _l("took it away from whoever had it"),
}


def needs_words(need: Need, *, words: Any) -> list[str]:
    found = []
    if need.amount is not None:
        amount = words(str(need.amount)) if words else f"{need.amount} {need.currency}"
        found.append(_("amounts of %(amount)s") % {"amount": amount})
    if need.discount is not None:
        found.append(_("a discount of %(discount)s %%") % {"discount": f"{need.discount:g}"})
    if need.legal:
        found.append(_("legal terms"))
    return found


def work_of(record: Conflict) -> bool:
    """It is about a job or a message, whose own page decides."""
    return record.action.startswith(("job:", "send:"))


def _page(record: Conflict) -> str:
    return reverse("admin:conflicts_conflict_change", args=[record.pk])


def _one_of(choices: Any, text: str) -> Any:
    return choices(text) if text in choices.values else None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0 else None


def _claim(record: Conflict, text: str) -> Claim | None:
    holder, _dot, fence = text.partition(".")
    if not (holder and fence.isascii() and fence.isdigit() and len(fence) < 19):
        return None
    return Claim(key=claims.key_of(record.pk), holder=holder[:32], fence=int(fence))


def _told_faults(faults: Mapping[str, list[str]]) -> str:
    return " ".join(line for lines in faults.values() for line in lines)
