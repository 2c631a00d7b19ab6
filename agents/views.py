"""Suggestions on screen: the list by state, one card, and what a person can do with it.

Guarantees that nobody sees or decides about a deal that is not theirs to see (404), that a yes carries the hash of
what the page showed, and that each press works without JavaScript: htmx gets the card as it is now, everybody else a
message and the way back. Next in the flow: `agents/recommendations.py`.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, resolve_url
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents import backpressure, cards, content, lists, recommendations, rights
from agents.cards import Card
from agents.models import DeclineReason, Recommendation
from agents.models.recommendation import EDIT_REASONS
from agents.states import State, Told, why_not
from conflicts import actors
from conflicts.clock import database_now
from conflicts.exceptions import BadParams
from conflicts.sentences import Sentence

PLACES = ("card", "hint", "pick")
AT_ONCE = 100
"""Suggestions that one press approves together."""


@require_GET
def suggestions(request: HttpRequest) -> HttpResponse:
    """`tab`: which states. `mine=1`: only my deals. `after`: the next page."""
    tab = lists.tab(request.GET.get("tab", "proposed"))
    if tab is None:
        raise Http404
    mine, after = request.GET.get("mine") == "1", request.GET.get("after", "")
    context: dict[str, Any] = {"tab": tab, "mine": mine}
    if tab is lists.LEFT_ALONE:
        context["page"] = lists.left_alone(request.user, after=after)  # type: ignore[arg-type]
    else:
        context["page"] = page = lists.suggestions(request.user, tab, after=after, mine=mine)  # type: ignore[arg-type]
        if tab.slug in ("proposed", "later"):
            place = "pick" if tab.slug == "proposed" else "hint"
            context["cards"] = _cards(request, list(page.rows), place=place)
    if _by_htmx(request) and after:
        return TemplateResponse(request, "agents/suggestions.html#rows", context)
    return _whole_page(request, context)


def _whole_page(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    counted = lists.counts(request.user)  # type: ignore[arg-type]
    context["notice"] = backpressure.notice(request.user)  # type: ignore[arg-type]
    context["tabs"] = [*((one, counted.get(one.slug)) for one in lists.TABS), (lists.LEFT_ALONE, None)]
    return TemplateResponse(request, "agents/suggestions.html", context, status=status)


@require_POST
def approve_many(request: HttpRequest) -> HttpResponse:
    """The yes to each that is ticked, as it was shown; what is not as it was shown is set aside and listed."""
    picked = [int(pk) for pk in request.POST.getlist("pick") if pk.isascii() and pk.isdigit() and len(pk) < 19][
        :AT_ONCE
    ]
    rows = Recommendation.objects.visible_to(request.user).select_related(*cards.WITH)  # type: ignore[arg-type]
    found = {one.pk: one for one in rows.filter(pk__in=picked)}
    shown = [(found[pk], request.POST.get(f"content-{pk}") or "-") for pk in dict.fromkeys(picked) if pk in found]
    report = recommendations.approve_many(shown, by=actors.person(request.user), now=database_now())
    tab, mine = lists.TABS[0], request.POST.get("mine") == "1"
    page = lists.suggestions(request.user, tab, mine=mine)  # type: ignore[arg-type]
    context = {
        "tab": tab,
        "mine": mine,
        "page": page,
        "cards": _cards(request, list(page.rows), place="pick"),
        "report": report,
        "gone": len(set(picked)) - len(shown),
        "nothing_picked": not picked,
    }
    return _whole_page(request, context)


@require_GET
def suggestion(request: HttpRequest, pk: int) -> HttpResponse:
    """The card as it is now: to look at it again, or to leave the edit form."""
    return _show(request, _card(request, _visible(request, pk)))


@require_POST
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    shown = request.POST.get("content", "")
    if not shown:
        raise BadRequest("A yes must say to what.")
    by = actors.person(request.user)
    return _told(request, recommendations.approve(_visible(request, pk), by=by, now=database_now(), shown=shown))


@require_POST
def decline(request: HttpRequest, pk: int) -> HttpResponse:
    reason = request.POST.get("reason", "")
    if reason not in DeclineReason.values:
        raise BadRequest("A no needs one of the reasons.")
    by = actors.person(request.user)
    return _told(request, recommendations.decline(_visible(request, pk), by=by, now=database_now(), reason=reason))


@require_POST
def snooze(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        until = dt.date.fromisoformat(request.POST.get("until", ""))
    except ValueError:
        raise BadRequest("Until which day?") from None
    by = actors.person(request.user)
    return _told(request, recommendations.snooze(_visible(request, pk), by=by, now=database_now(), until=until))


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """The form, then the new revision; with `then=approve` the yes to it in the same breath."""
    one = _visible(request, pk)
    if request.method != "POST":
        return _show(request, _card(request, one), editing=True)
    by, now = actors.person(request.user), database_now()
    if request.POST.get("fingerprint") != one.proposal().fingerprint:
        # Somebody changed or settled it since the form was shown; what was typed stays in the form.
        card = _card(request, one, typed=request.POST)
        card.told, card.again = str(_why_not(one)), True
        return _show(request, card, editing=card.can_edit, status=409)
    params = {name: request.POST[name] for name in ("title", "kind", "due_on") if name in request.POST}
    reason = request.POST.get("reason", "")
    try:
        if reason not in dict(EDIT_REASONS):
            raise BadParams({"reason": [str(Sentence("no.reason"))]})
        told = recommendations.edit(one, by=by, now=now, params=params, reason=reason)
    except BadParams as error:
        card = _card(request, one, typed=request.POST)
        card.errors = error.errors
        return _show(request, card, editing=True, status=422)
    if told.done and request.POST.get("then") == "approve":
        changed = told.recommendation
        # What was typed is what was read; only the words around it are made from it here.
        shown = content.of(changed, reader=by).hash
        told = recommendations.approve(changed, by=by, now=now, shown=shown)
    return _told(request, told)


@require_POST
def ask_again(request: HttpRequest, pk: int) -> HttpResponse:
    by = actors.person(request.user)
    return _told(request, recommendations.ask_again(_visible(request, pk), by=by, now=database_now()))


def _why_not(one: Recommendation) -> Sentence:
    return rights.not_the_one_shown(one) if one.state == State.PROPOSED else why_not(one)


def _visible(request: HttpRequest, pk: int) -> Recommendation:
    """Raises Http404 for a suggestion on a deal that the person may not see, as for one that is not there."""
    rows = Recommendation.objects.visible_to(request.user).select_related(*cards.WITH)  # type: ignore[arg-type]
    return get_object_or_404(rows, pk=pk)


def _by_htmx(request: HttpRequest) -> bool:
    return bool(getattr(request, "htmx", False))


def _cards(request: HttpRequest, rows: list[Recommendation], *, place: str) -> list[Card]:
    return cards.build(rows, viewer=request.user, now=database_now(), place=place)  # type: ignore[arg-type]


def _card(request: HttpRequest, one: Recommendation, *, typed: Mapping[str, Any] | None = None) -> Card:
    asked = request.POST.get("place") or request.GET.get("place", "")
    [card] = _cards(request, [one], place=asked if asked in PLACES else "card")
    card.typed = (
        {name: str(typed[name]) for name in ("title", "kind", "due_on", "reason") if name in typed} if typed else {}
    )
    return card


def _told(request: HttpRequest, told: Told) -> HttpResponse:
    """The card as it is after the press, and what came of it: in the card, and where the page renews its cards by
    itself at that very moment (the deal's), in a note that stays.
    """
    if not _by_htmx(request):
        messages.info(request, str(told.sentence))
        return redirect(_back(request, told.recommendation))
    # Read anew: the card shows what is in force, not what this request believes.
    card = _card(request, _visible(request, told.recommendation.pk))
    card.told, card.again = str(told.sentence), not told.done
    if told.fresh is not None:
        card.fresh = _card(request, _visible(request, told.fresh.pk))
    part = card.partial
    if part == "card":
        messages.info(request, card.told)
        part = "card_told"
    return _show(request, card, status=200 if told.done else 409, part=part)


def _back(request: HttpRequest, one: Recommendation) -> str:
    asked = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(asked, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        return asked
    return resolve_url("deal", one.opportunity_id)


def _show(
    request: HttpRequest, card: Card, *, editing: bool = False, status: int = 200, part: str = ""
) -> HttpResponse:
    """The card alone for htmx, else on a page of its own."""
    context = {"card": card, "editing": editing and card.can_edit}
    template = f"agents/card.html#{part or card.partial}" if _by_htmx(request) else "agents/suggestion.html"
    return TemplateResponse(request, template, context, status=status)
