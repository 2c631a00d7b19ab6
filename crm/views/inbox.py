"""The inbox: conversations on the left, one of them in the middle, what it is about on the right.

Guarantees that a part of the page and the version in its forms always come together, that a message somebody is typing
keeps the version it was begun with (static/js/live.js leaves it alone), and that nobody finds a conversation about a
deal they may not see. Without JavaScript the same addresses show the same forms (`?template=offer`, `?do=assign`,
`?before=31`). Next in the flow: `crm/views/inbox_acts.py`, where its forms go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from conflicts import actors
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from crm import contacting, inbox, presence, templating, typing
from crm.models import Conversation, Message, MessageTemplate, Opportunity, User
from crm.models.channel_account import Medium
from crm.models.contact import Channel
from crm.permissions import permits_conversation
from crm.thread import Thread, thread
from crm.views.requests import Request

DEALS = 20
"""To choose from, when one says which deal a conversation is about."""
MENUS = ("assign", "deal", "note", "templates")


@dataclass(kw_only=True)
class Composer:
    """The form for a message: what stands in it, and the state of the conversation that its author has seen."""

    version: int | str
    seen: int | str
    """The customer's counter on the page."""
    said: int | str
    """Our last message on the page."""
    text: str = ""
    template: MessageTemplate | None = None
    """An approved template, sent as it was approved."""
    why: Sentence | None = None
    """Why nothing can be written freely."""
    fault: str = ""
    meanwhile: Message | None = None
    """What somebody else said while this was typed."""
    settles: int | None = None
    kept: bool = False
    """Holds what somebody typed or chose: live news leave it alone."""

    @property
    def only_templates(self) -> bool:
        return self.why is not None and self.why.code == "message.window_closed"

    @property
    def closed(self) -> bool:
        """Nothing at all can be written here."""
        return self.why is not None and not (self.only_templates and self.template)


def find(request: Request, pk: int) -> Conversation:
    """The conversation, if the person may see it. Raises Http404."""
    rows = inbox.around(Conversation.objects.visible_to(request.user))
    found = rows.select_related(
        "contact__company",
        "account",
        "owner",
        "opportunity__company",
        "opportunity__stage",
        "opportunity__owner",
        "opportunity__team",
    ).filter(pk=pk)
    if (one := found.first()) is None:
        raise Http404
    return one


# ------------------------------------------------------------------------------------------------------- the list


@require_safe
def inbox_list(request: Request) -> HttpResponse:
    """The list alone; for htmx the rows of it, or the next ones (`after`)."""
    if request.htmx and not request.htmx.history_restore_request:
        part = "more" if "after" in request.GET else "list"
        return _answer(request, f"inbox/list.html#{part}", listed(request))
    return _answer(request, "inbox/inbox.html", listed(request))


@require_safe
def rows(request: Request) -> HttpResponse:
    """The list as it is now, for a page that heard of news."""
    return _answer(request, "inbox/list.html#region", listed(request, current=_number(request.GET.get("open", ""))))


def listed(request: Request, *, current: int | None = None) -> dict[str, Any]:
    filters = inbox.Filters.read(request.GET)
    return {
        "filters": filters,
        "page": inbox.page(request, filters, after=request.GET.get("after", "")),
        "counts": inbox.counts(request.user),
        "media": Medium.choices,
        "current": current,
    }


def _answer(request: Request, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    response = TemplateResponse(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


# ------------------------------------------------------------------------------------------------------- one of them


@require_safe
def conversation(request: Request, pk: int) -> HttpResponse:
    found = find(request, pk)
    presence.enter(Ref.of(found), user=request.user)
    context = opened(request, found, composer=_chosen(request, found))
    if request.htmx and "before" in request.GET:
        return _answer(request, "inbox/thread.html#older", context)
    return _answer(request, "inbox/inbox.html", {**listed(request, current=pk), **context})


@require_safe
def parts(request: Request, pk: int) -> HttpResponse:
    """All that is only read, as it is now."""
    return _answer(request, "inbox/thread.html#parts", {**opened(request, find(request, pk)), "oob": True})


def answered(request: Request, pk: int) -> HttpResponse:
    """After a form was done: the parts with the new version for htmx, else the page."""
    if request.htmx:
        return parts_of(request, opened(request, find(request, pk)))
    query = inbox.Filters.read(request.GET).query
    return redirect(reverse("conversation", args=[pk]) + (f"?{query}" if query else "") + "#end")


def returned(request: Request, context: dict[str, Any], *, status: int) -> HttpResponse:
    """A form that was not done comes back with all that was typed: its parts for htmx, else the page around it."""
    if request.htmx:
        return parts_of(request, context, status=status)
    pk = context["talk"].pk
    return _answer(request, "inbox/inbox.html", {**listed(request, current=pk), **context}, status=status)


def parts_of(request: Request, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    return TemplateResponse(request, "inbox/thread.html#parts", {**context, "oob": True}, status=status)


def opened(
    request: Request, talk: Conversation, *, composer: Composer | None = None, told: str = "", do: str = ""
) -> dict[str, Any]:
    """Everything the thread shows. `told`: what came of a press that was not done."""
    user = request.user
    shown = thread(request, talk, before=_number(request.GET.get("before", "")))
    [row] = inbox.rows_of(request, [talk])
    barred = permits_conversation(actors.person(user), talk)
    do = do or request.GET.get("do", "")
    return {
        "talk": talk,
        "row": row,
        "thread": shown,
        "composer": composer or composer_of(talk, shown, user=user),
        "templates": menu(talk),
        "barred": barred,
        "told": told,
        "do": do if do in MENUS else "",
        "deals": deals_for(talk, user),
        "people": people_for(talk),
        "here": presence.others(Ref.of(talk), user=user),
        "types": typing.CUSTOMER in typing.others(talk.pk, without=str(user.pk)),
        "agreed": agreed(shown),
        "query": inbox.Filters.read(request.GET).query,
    }


def composer_of(talk: Conversation, shown: Thread, *, user: User) -> Composer:
    """An empty form, on what the page shows now."""
    said = shown.last_said if shown.newest else last_said(talk)
    return Composer(version=talk.version, seen=talk.inbound_count, said=said, why=why_not(talk, user))


def why_not(talk: Conversation, user: User) -> Sentence | None:
    """Why this person can write nothing here now; the same rules that the gate and the delivery ask."""
    barred = permits_conversation(actors.person(user), talk)
    return barred or contacting.why_not(talk, talk.contact, now=timezone.now())


def menu(talk: Conversation) -> list[MessageTemplate]:
    """The templates of its stage, channel and language, their texts filled in; edited before they are sent, unless the
    channel's window has closed: then an approved one goes out as it stands."""
    found = templating.find(talk)
    for one in found:
        one.text = templating.fill(one, talk)
    return found


def _chosen(request: Request, talk: Conversation) -> Composer | None:
    """The form with a template put into it; what was typed before stays, and so does what its author had seen."""
    slug = request.GET.get("template", "")
    chosen = next((one for one in menu(talk) if one.slug == slug), None) if slug else None
    if chosen is None:
        return None
    why = why_not(talk, request.user)
    composer = Composer(version=talk.version, seen=talk.inbound_count, said=last_said(talk), why=why, kept=True)
    if composer.only_templates:
        composer.template = chosen if chosen.approved_as else None
    composer.text = chosen.text if composer.template or why is None else ""
    return composer


def last_said(talk: Conversation) -> int:
    ours = Message.objects.filter(conversation=talk, direction="out", withdrawn=False).order_by("-pk")
    return ours.values_list("pk", flat=True).first() or 0


def deals_for(talk: Conversation, user: User) -> list[Opportunity]:
    """The contact's deals and their company's that this person sees, the open ones first."""
    about = Q(contact=talk.contact_id)
    if talk.contact.company_id:
        about |= Q(company=talk.contact.company_id)
    rows = Opportunity.objects.visible_to(user).filter(about).select_related("company")
    return list(rows.order_by("closed_on", "-pk")[:DEALS])


def people_for(talk: Conversation) -> list[User]:
    """Who can be given it: whoever sees the deal it is about."""
    rows = User.objects.filter(is_active=True).order_by("first_name", "last_name", "pk")
    team = talk.opportunity.team_id if talk.opportunity else None
    if team is not None:
        rows = rows.filter(Q(team=team) | Q(role="administrator") | Q(is_superuser=True))
    return list(rows[:200])


def agreed(shown: Thread) -> list[dict[str, Any]]:
    """Each channel with the statement in force."""
    newest: dict[str, str] = {}
    for one in shown.consents:
        newest.setdefault(one.channel, one.status)
    return [{"label": channel.label, "status": newest.get(channel.value, "")} for channel in Channel]


def number_in(given: Mapping[str, str], name: str) -> int | None:
    return _number(given.get(name, ""))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
