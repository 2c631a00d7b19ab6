"""Moving a card: by mouse, by keys, from its menu, or from a plain page that needs no script; one address for all.

Guarantees that a card moves only on what the person saw of it (`HELD`): what changed under the hand sends it back with
the reason on the card, and "Move it now" carries the version in force. Next in the flow: `crm/views/submit.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from conflicts import actors, decisions, history
from conflicts.actors import Actor
from conflicts.decisions import Wish
from conflicts.models import Conflict, DecisionKind, Why
from conflicts.outcomes import Outcome, Result
from conflicts.refs import Ref
from crm.board import Board
from crm.models import Opportunity, Stage
from crm.models.pipeline import StageKind
from crm.templatetags.vigente import money_text, name_for
from crm.views.board import answer, board_for, number_in
from crm.views.requests import Request
from crm.views.settling import names_of
from crm.views.submit import Submission, submit, version_of

HELD = ("amount", "currency")
"""What a person who moves a card relies on. Where the card stood needs no mention: the gate merges the stage itself."""

MOVE, SOURCE = "opportunity.move", "board"
"""What the record of a card's move says of it; other records are not the board's to settle."""

type Held = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Moved:
    """One thing that changed while the card was held."""

    told: str
    was: str
    now: str


@dataclass(frozen=True, kw_only=True)
class Back:
    """Why the card is back where it was, and what "Move it now" would send."""

    target: Stage | None
    reason: str = ""
    """Why the deal is lost, as far as it was said."""
    moved: tuple[Moved, ...] = ()
    sentence: str = ""
    """Where nothing on the card explains it."""
    again: bool = False
    """Nothing forbids it: the person may decide on what is in force."""
    record: int | None = None


@require_http_methods(["GET", "POST"])
def deal_move(request: Request) -> HttpResponse:
    """The plain page asks "where to?"; a post moves the deal, or says why not."""
    if request.method == "GET":
        shown, deal = _held(request, request.GET)
        return _ask(request, shown, deal)
    shown, deal = _held(request, request.POST)
    held = history.values_at(Ref.of(deal), version_of(request)) or {}
    target = next((stage for stage in shown.stages if str(stage.pk) == request.POST.get("stage")), None)
    reason = request.POST.get("reason", "").strip()
    if target is None:
        return _refuse(request, shown, deal, Back(target=None, sentence=_("Choose a stage of this pipeline.")))
    if target.kind == StageKind.LOST and not reason:
        return _refuse(request, shown, deal, Back(target=target, sentence=_("A lost deal needs a reason.")))
    submission = submit(
        request,
        action=MOVE,
        params={"stage": target.pk, "reason": reason if target.kind == StageKind.LOST else ""},
        subject=deal,
        rests_on={name: held[name] for name in HELD if name in held},
        settles=_own_record(request, deal),
        source=SOURCE,
    )
    if submission.outcome and submission.done:
        return _done(request, shown, deal, submission.outcome, target)
    shown, deal = _held(request, request.POST)  # as it is now, which is what the card is to show
    return _refuse(request, shown, deal, _back(request, submission, held, shown, deal, target, reason))


@require_POST
def leave(request: Request) -> HttpResponse:
    """The person leaves the card where it is: they drop the move they meant, by the same act as the review queue.

    So a reviewer who has it is not passed over, and it is kept who dropped it. Whoever settled it otherwise was first.
    """
    shown, deal = _held(request, request.POST)
    by, pk = actors.person(request.user), _own_record(request, deal)
    record = Conflict.objects.filter(pk=pk).first() if pk else None
    if record is not None:
        told = decisions.decide(
            Wish(
                record=record.pk,
                kind=DecisionKind.DROP,
                reason=Why.OVERTAKEN,
                by=by,
                revision=record.revision,
                version=deal.version,
                form="board",
            )
        )
        if not told.done and Conflict.objects.waiting().filter(pk=record.pk).exists():
            words = str(told.sentence.told_to(by))
            return _refuse(request, shown, deal, Back(target=None, sentence=words, record=record.pk))
    return answer(request, shown, shown.cards([deal])) if request.htmx else _to_board(shown)


def _held(request: Request, said: Mapping[str, str]) -> tuple[Board, Opportunity]:
    """The deal the request names, as it is now, and the board it is on. Raises Http404 for one out of sight."""
    pk = number_in(said.get("deal", ""))
    deals = Opportunity.objects.visible_to(request.user).select_related("company", "owner", "product", "stage")
    deal = deals.filter(pk=pk).first() if pk else None
    shown = board_for(request, pipeline=deal.pipeline_id) if deal else None
    if deal is None or shown is None:
        raise Http404
    return shown, deal


def _own_record(request: Request, deal: Opportunity) -> int | None:
    """The record of this person's own move of this card that came back, if the form names one that is still open."""
    pk = number_in(request.POST.get("settles", ""))
    mine = Conflict.objects.waiting().about(Ref.of(deal)).filter(actor__startswith=f"person:{request.user.pk}:")
    return mine.filter(pk=pk, action=MOVE, source=SOURCE).values_list("pk", flat=True).first() if pk else None


def _ask(
    request: Request, shown: Board, deal: Opportunity, *, back: Back | None = None, status: int = 200
) -> HttpResponse:
    [card] = shown.cards([deal])
    card.back = back
    context = {"board": shown, "filters": shown.filters, "card": card, "back": back}
    return TemplateResponse(request, "board/move.html", context, status=status)


def _refuse(request: Request, shown: Board, deal: Opportunity, back: Back) -> HttpResponse:
    status = 409 if back.again else 422
    if not request.htmx:
        return _ask(request, shown, deal, back=back, status=status)
    [card] = shown.cards([deal])
    card.back = back
    return answer(request, shown, [card], status=status)


def _done(request: Request, shown: Board, deal: Opportunity, outcome: Outcome, target: Stage) -> HttpResponse:
    told = _("%(deal)s is now in %(stage)s.") % {"deal": shown.cards([deal])[0].title, "stage": target.name}
    settled = outcome.settled
    if together := names_of(settled, viewer=request.user):
        told = " ".join((told, _("Together with what changed meanwhile: %(what)s.") % {"what": together}))
    messages.success(request, told, extra_tags=f"undo:{Ref.of(deal)}:{settled.version}" if settled.written else "")
    if not request.htmx:
        return _to_board(shown)
    # Without the filters: whoever has moved a card sees where it went.
    return answer(request, shown, shown.cards(shown.everything().deals([deal.pk])))


def _to_board(shown: Board) -> HttpResponse:
    return redirect(reverse("board") + shown.filters.address)


def _back(
    request: Request,
    submission: Submission,
    held: Held,
    shown: Board,
    deal: Opportunity,
    target: Stage,
    reason: str,
) -> Back:
    outcome = submission.outcome
    if outcome is None:
        sentence = " ".join(line for lines in submission.errors.values() for line in lines)
        return Back(target=target, reason=reason, sentence=sentence)
    authors = {change.aspect: Actor.parse(change.by) for change in outcome.moved}
    moved = tuple(_moved(request, authors, held, shown, deal))
    return Back(
        target=target,
        reason=reason,
        moved=moved,
        sentence="" if moved else str(outcome.sentence or ""),
        again=outcome.settled.result is Result.CONFLICT,
        record=outcome.record,
    )


def _moved(
    request: Request, authors: Mapping[str, Actor], held: Held, shown: Board, deal: Opportunity
) -> Iterator[Moved]:
    """What the card said when it was taken, and says otherwise now."""

    def who(*aspects: str) -> str:
        author = next((authors[aspect] for aspect in aspects if aspect in authors), actors.SYSTEM)
        return name_for(request.user, author, short=True, capital=True)

    if "amount" in authors or "currency" in authors:
        was, now = money_text(held.get("amount"), held.get("currency", "")), money_text(deal.amount, deal.currency)
        if was != now:
            told = _("%(who)s changed the amount while you held the card:") % {"who": who("amount", "currency")}
            yield Moved(told=told, was=was or _("no amount"), now=now or _("no amount"))
    if "stage" in authors and held.get("stage") != deal.stage_id:
        names = {stage.pk: stage.name for stage in shown.stages}
        told = _("%(who)s moved it while you held the card:") % {"who": who("stage")}
        yield Moved(told=told, was=names.get(held.get("stage", 0), "-"), now=deal.stage.name)
