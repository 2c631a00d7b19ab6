"""The board's pages: the whole, a further page of one column, and single cards as they are now.

Guarantees that each answers from the same filters, so that what arrives later (a card moved by a colleague, another
thirty cards) fits what stands there. Next in the flow: `crm/board.py`; moving a card: `crm/views/board_move.py`.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from conflicts import actors
from conflicts.actors import Actor
from crm import slots
from crm.board import Board, Card, Filters, board_of
from crm.clock import today_for
from crm.models import Opportunity, Product, Stage, User
from crm.views.requests import Request

AT_ONCE = 60
"""Cards one request asks for; whoever has missed more asks for the page."""
RECENT = dt.timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Just:
    """Somebody else changed this card a moment ago."""

    by: Actor
    at: dt.datetime
    moved: bool


@require_GET
def board(request: Request) -> HttpResponse:
    shown = board_for(request)
    if shown is None:
        return TemplateResponse(request, "board/board.html", {"board": None})
    shown.fill(stage=number_in(request.GET.get("stage", "")), after=request.GET.get("after", ""))
    mark(request, [card for column in shown.columns for card in column.cards])
    context = words(shown)
    part = request.htmx and not request.htmx.history_restore_request
    if not part:
        context |= {"products": Product.objects.order_by("name"), "owners": owners(request.user)}
    response = TemplateResponse(request, "board/board.html#filtered" if part else "board/board.html", context)
    if part:
        response["HX-Push-Url"] = request.path + shown.filters.address
    # One address, two forms: going back must not show the part for the page.
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_GET
def more(request: Request) -> HttpResponse:
    """The next page of one column."""
    shown = _needed(request)
    column = shown.page(stage_of(shown, request.GET.get("stage", "")), after=request.GET.get("after", ""))
    mark(request, column.cards)
    return TemplateResponse(request, "board/board.html#cards", {**words(shown), "column": column})


@require_GET
def cards(request: Request) -> HttpResponse:
    """`deals=7.3,8`: these cards as they are now, with the heads of the columns; a number after a dot is the stage in
    which the card is shown. What the filters leave out, or the viewer may not see, is not in the answer.
    """
    shown = _needed(request)
    asked = _asked(request.GET.get("deals", ""))
    changed = shown.cards(shown.deals(list(asked)))
    now, me = timezone.now(), actors.person(request.user)
    for card in changed:
        card.just = _just(card.deal, shown_in=asked[card.deal.pk], now=now, me=me)
    return answer(request, shown, changed)


def _asked(text: str) -> dict[int, int | None]:
    asked: dict[int, int | None] = {}
    for part in text.split(",")[:AT_ONCE]:
        pk, _, stage = part.partition(".")
        if (number := number_in(pk)) is not None:
            asked[number] = number_in(stage)
    return asked


def number_in(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _just(deal: Opportunity, *, shown_in: int | None, now: dt.datetime, me: Actor) -> Just | None:
    if deal.changed_at is None or now - deal.changed_at > RECENT or deal.author.same_as(me):
        return None
    return Just(by=deal.author, at=deal.changed_at, moved=shown_in is not None and shown_in != deal.stage_id)


# ---------------------------------------------------------------------------------------- shared with board_move.py


def board_for(request: Request, *, pipeline: int | None = None) -> Board | None:
    """The board that the request's address speaks of, as the signed-in person sees it today."""
    today = today_for(request.user, now=timezone.now())
    return board_of(request.user, today=today, filters=Filters.read(request.GET), pipeline=pipeline)


def _needed(request: Request) -> Board:
    """Raises Http404 where there is no pipeline."""
    if (shown := board_for(request)) is None:
        raise Http404
    return shown


def stage_of(shown: Board, text: str) -> Stage:
    """Raises Http404 for a stage that is not on this board."""
    for stage in shown.stages:
        if str(stage.pk) == text:
            return stage
    raise Http404


def owners(user: User) -> Iterable[User]:
    """Whom the viewer's deals can belong to."""
    people = User.objects.order_by("first_name", "last_name", "username")
    return people if user.sees_everything else people.filter(team=user.team_id)


def mark(request: Request, cards: list[Card]) -> None:
    """Put on each card what the agents have to say about its deal."""
    marks: dict[int, Any] = {}
    for found in slots.filled("board.marks", request, deals=[card.deal for card in cards]):
        marks.update(found)
    for card in cards:
        card.mark = marks.get(card.deal.pk)


def answer(request: Request, shown: Board, changed: list[Card], *, status: int = 200) -> HttpResponse:
    """Cards and heads for static/js/board.js, which puts each where it belongs."""
    mark(request, changed)
    return TemplateResponse(request, "board/board.html#answer", {**words(shown), "changed": changed}, status=status)


def words(shown: Board) -> dict[str, Any]:
    """What every part of the page needs. The address of a move is looked up once, not once per card."""
    return {"board": shown, "filters": shown.filters, "moving": reverse("deal_move")}
