"""Beginning a conversation: a person writes first, from a contact's page, where the channel and the contact allow it.

Guarantees that the same rules are asked as for any message (crm/contacting.py), that whoever has a conversation there
already is led to it with what was typed, and that a form sent twice begins one conversation with one message.
Next in the flow: `crm/views/inbox.py`.
"""

import uuid
from dataclasses import dataclass

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conflicts.outcomes import Outcome
from crm import contacting, templating
from crm.models import ChannelAccount, Contact, ContactPoint, Conversation, MessageTemplate
from crm.models.channel_account import Medium, Provider
from crm.models.opportunity import Opportunity
from crm.views.inbox import Composer, find, number_in, opened, returned
from crm.views.requests import Request
from crm.views.submit import fresh_key, submit


@dataclass(frozen=True, kw_only=True)
class Way:
    """One address of the contact on one channel of ours."""

    account: ChannelAccount
    point: ContactPoint
    talk: int | None
    """The conversation that is there already."""

    @property
    def slug(self) -> str:
        return f"{self.account.pk}:{self.point.pk}"

    @property
    def peer(self) -> str:
        return peer_of(self.account, self.point)


def peer_of(account: ChannelAccount, point: ContactPoint) -> str:
    """The contact's address as the provider will name it when they answer."""
    if account.provider == Provider.WHATSAPP:
        return point.value_key.lstrip("+")
    if account.provider == Provider.TWILIO and account.medium == Medium.WHATSAPP:
        return f"whatsapp:{point.value_key}"
    return point.value_key


def ways_to(contact: Contact) -> list[Way]:
    """Where this contact can be written to. A chat on a website is begun by its visitor only."""
    points = list(contact.points.filter(removed=False).order_by("-is_primary", "pk"))
    accounts = list(ChannelAccount.objects.filter(active=True).exclude(medium=Medium.WEBCHAT).order_by("name"))
    known = {
        (account, peer): pk
        for pk, account, peer in Conversation.objects.filter(contact=contact).values_list("pk", "account", "peer")
    }
    return [
        Way(account=account, point=point, talk=known.get((account.pk, peer_of(account, point))))
        for account in accounts
        for point in points
        if point.kind == ("email" if account.medium == Medium.EMAIL else "phone")
    ]


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: Request) -> HttpResponse:
    """`contact`, `to` (a way), `text` or an approved `template`."""
    given = request.POST if request.method == "POST" else request.GET
    contact = Contact.objects.select_related("company").filter(pk=number_in(given, "contact") or 0).first()
    if contact is None:
        raise Http404
    ways = ways_to(contact)
    way = next((one for one in ways if one.slug == given.get("to", "")), ways[0] if len(ways) == 1 else None)
    if way is not None and way.talk is not None and request.method != "POST":
        return redirect("conversation", way.talk)
    if way is None or request.method != "POST":
        return _page(request, contact, ways, way, text=templated(request, contact, way))
    return _begin(request, contact, ways, way)


def _begin(request: Request, contact: Contact, ways: list[Way], way: Way) -> HttpResponse:
    text = request.POST.get("text", "").strip()
    blank = _blank(contact, way)
    template = _chosen(request.POST.get("template", ""), blank)
    approved = template if template and template.approved_as else None
    text = templating.fill(approved, blank) if approved else text
    if not text:
        return _page(request, contact, ways, way, fault=_("The message has no text. Nothing was sent."), status=422)
    if why := contacting.why_not(blank, contact, now=timezone.now(), approved_template=bool(approved)):
        return _page(request, contact, ways, way, text=text, fault=str(why), status=409)
    params = _params(contact, way, key=request.POST.get("key", ""))
    opening = submit(request, action="conversation.open", params=params, part="open")
    if opening.errors or opening.outcome is None:
        lines = [line for lines in opening.errors.values() for line in lines]
        return _page(request, contact, ways, way, text=text, fault=" ".join(lines), status=422)
    pk = _made(opening.outcome)
    if pk is None:
        return _elsewhere(request, contact, ways, way, text, opening.outcome)
    talk = Conversation.objects.get(pk=pk)
    message = {"text": text, "seen": 0, "said": 0} | ({"template": approved.approved_as} if approved else {})
    sending = submit(request, action="conversation.send", params=message, subject=talk, part="send")
    if sending.done:
        return redirect(reverse("conversation", args=[pk]) + "#end")
    fault = str(sending.outcome.settled.sentence or "") if sending.outcome else " ".join(map(str, sending.errors))
    found = find(request, pk)
    composer = Composer(version=found.version, seen=found.inbound_count, said=0, text=text, fault=fault, kept=True)
    return returned(request, opened(request, found, composer=composer), status=409)


def _made(outcome: Outcome) -> int | None:
    return outcome.settled.created.get("crm.conversation") if outcome.done else None


def _elsewhere(
    request: Request, contact: Contact, ways: list[Way], way: Way, text: str, outcome: Outcome
) -> HttpResponse:
    """Somebody began it a moment ago: their conversation, with what was typed here in its form."""
    there = Conversation.objects.visible_to(request.user).filter(account=way.account, peer=way.peer).first()
    if there is None:
        fault = str(outcome.settled.sentence or "")
        return _page(request, contact, ways, way, text=text, fault=fault, status=409)
    found = find(request, there.pk)
    composer = Composer(version=found.version, seen=found.inbound_count, said=0, text=text, kept=True)
    composer.fault = str(outcome.settled.sentence or "")
    return returned(request, opened(request, found, composer=composer), status=409)


def _params(contact: Contact, way: Way, *, key: str) -> dict[str, object]:
    # Each mail thread is a conversation of its own; the others have one per address. A form sent twice names the same.
    mail = way.account.medium == Medium.EMAIL
    peer = f"new:{key or uuid.uuid4().hex}"[:200] if mail else way.peer
    return {
        "account": way.account.pk,
        "contact": contact.pk,
        "peer": peer,
        "reply_to": way.point.value_key if mail else peer,
    }


def _blank(contact: Contact, way: Way) -> Conversation:
    """The conversation as it would be, for the rules and the templates."""
    deals = list(Opportunity.objects.open().filter(contact=contact).select_related("stage", "owner", "company")[:2])
    return Conversation(
        account=way.account,
        contact=contact,
        medium=way.account.medium,
        opportunity=deals[0] if len(deals) == 1 else None,
        language=contact.language or way.account.language,
    )


def _chosen(slug: str, blank: Conversation) -> MessageTemplate | None:
    return next((one for one in templating.find(blank) if one.slug == slug), None) if slug else None


def templated(request: Request, contact: Contact, way: Way | None) -> str:
    """What was typed before, with the chosen template after it."""
    typed = request.GET.get("text", "").strip()
    if way is None:
        return typed
    blank = _blank(contact, way)
    chosen = _chosen(request.GET.get("template", ""), blank)
    return "\n\n".join(filter(None, (typed, templating.fill(chosen, blank) if chosen else "")))


def _page(
    request: Request,
    contact: Contact,
    ways: list[Way],
    way: Way | None,
    *,
    text: str = "",
    fault: str = "",
    status: int = 200,
) -> HttpResponse:
    blank = _blank(contact, way) if way else None
    why = contacting.why_not(blank, contact, now=timezone.now()) if blank else None
    templates = templating.find(blank) if blank else []
    only_templates = why is not None and why.code == "message.window_closed"
    given = request.POST if request.method == "POST" else request.GET
    chosen = next((one for one in templates if one.slug == given.get("template", "") and one.approved_as), None)
    context = {
        "contact": contact,
        "ways": ways,
        "way": way,
        "why": why,
        "only_templates": only_templates,
        "templates": [one for one in templates if one.approved_as] if only_templates else templates,
        "chosen": chosen if only_templates else None,
        "text": text,
        "fault": fault,
        "key": given.get("key") or fresh_key(),
    }
    return TemplateResponse(request, "inbox/start.html", context, status=status)
