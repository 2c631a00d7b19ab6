"""The web chat as its visitor sees it: a page of its own, also within a frame on the customer's site.

Guarantees that a visitor reads and writes one conversation only, under a signed token that they alone hold; that nobody
is taken for a known contact because they say so; that a line sent again (a lost answer, a double click) is one line;
that a script fills nobody's inbox with visitors (crm/newcomers.py); and that everything anybody wrote is shown as text.
Works without JavaScript. Next in the flow: `crm/accepting.py`.
"""

import asyncio
import json
import math
import re
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.db import connections
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils.csp import CSP
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csp import csp_override
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from conflicts import leases, limits
from conflicts.limits import Allowance
from crm import accepting, newcomers, timers, typing
from crm.channels.events import Incoming
from crm.hub import Listener, hub
from crm.keywords import Intent
from crm.models import ChannelAccount, Conversation, Message
from crm.models.channel_account import Provider
from crm.models.conversation import Direction, Owner, Status
from crm.sent import delivered_keys

SALT = "vigente.webchat"
LONGEST = 4_000
"""Characters of one line."""
LARGEST = 64 * 1024
"""Bytes of one request; a chat has no attachments."""
SHOWN = 200
_LINE = re.compile(r"[A-Za-z0-9_-]{1,64}")
HEARTBEAT, LIFE = 15.0, 600.0

FRAMED: dict[str, Any] = {**settings.SECURE_CSP, "frame-ancestors": ["*"], "connect-src": [CSP.SELF]}
"""A chat is there to be embedded; what it shows is the visitor's own conversation and nothing else."""


@dataclass(frozen=True, slots=True)
class Visit:
    account: ChannelAccount
    peer: str

    @property
    def token(self) -> str:
        return signing.dumps({"a": self.account.pk, "p": self.peer}, salt=SALT, compress=True)

    @property
    def conversation(self) -> Conversation | None:
        found = Conversation.objects.select_related("account", "contact")
        return found.filter(account=self.account, peer=self.peer).first()


class Closed(Exception):
    """No chat in use has that address."""


def _account(slug: str) -> ChannelAccount:
    """Raises Closed."""
    found = ChannelAccount.objects.filter(provider=Provider.WEBCHAT, address=slug.lower(), active=True).first()
    if found is None:
        raise Closed
    return found


def open_to_visitors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Whoever comes to a chat that is closed is a customer: they get a page of the chat, and no page of the house."""

    @wraps(view)
    def answer(request: HttpRequest, slug: str) -> HttpResponse:
        try:
            return view(request, slug)
        except Closed:
            return _closed(request)

    return answer


def _closed(request: HttpRequest) -> HttpResponse:
    asked_by_script = request.content_type == "application/json" or "X-Chat-Token" in request.headers
    if asked_by_script:
        return JsonResponse({"error": _("This chat is closed.")}, status=404)
    context = {"text": request.POST.get("text", "")}  # what was typed is not lost
    return TemplateResponse(request, "chat/closed.html", context, status=404)


def _visit(request: HttpRequest, slug: str) -> Visit | None:
    """Whose page it is; None without a token of ours for this chat."""
    token = request.headers.get("X-Chat-Token") or request.POST.get("token", "")
    account = _account(slug)
    try:
        content = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    return Visit(account, content["p"]) if content["a"] == account.pk else None


def _refused() -> JsonResponse:
    return JsonResponse({"error": _("This chat has ended. Open it again.")}, status=403)


@login_not_required
@never_cache
@xframe_options_exempt
@csp_override(FRAMED)
@require_safe
@open_to_visitors
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """A new visitor until the browser shows the token it kept. Nothing is stored before the first line is sent."""
    return _page(request, Visit(_account(slug), uuid.uuid4().hex))


def _page(request: HttpRequest, visit: Visit, *, status: int = 200, error: str = "", text: str = "") -> HttpResponse:
    context = {
        "account": visit.account,
        "token": visit.token,
        "line": uuid.uuid4().hex,
        "thread": _thread(visit, after=0),
        "error": error,
        "text": text,
        "embedded": "embedded" in request.GET,
    }
    return TemplateResponse(request, "chat/page.html", context, status=status)


@login_not_required
@never_cache
@xframe_options_exempt
@csp_override(FRAMED)
@csrf_exempt  # the token is in the form, not in a cookie: no other site can send it
@require_POST
@open_to_visitors
def say(request: HttpRequest, slug: str) -> HttpResponse:
    """A line of the visitor. `line` is the browser's number for it: the same again is the same line."""
    plain = request.content_type != "application/json"
    if int(request.headers.get("Content-Length") or 0) > LARGEST:
        return JsonResponse({"error": _("This is too long for one message.")}, status=413)
    try:
        said = request.POST if plain else json.loads(request.body)
        text, line = str(said.get("text", "")).strip(), str(said.get("line", ""))
    except (ValueError, AttributeError, RecursionError):
        return JsonResponse({"error": _("This message could not be read.")}, status=400)
    visit = _visit(request, slug)
    if visit is None:
        return _refused()
    error, status = _wrong(text, line)
    room = Allowance(allowed=True) if error else _room(request, visit)
    if not room:
        error, status = _("That was a lot at once. Wait a moment, then send it again."), 429
    if error:
        refused: HttpResponse
        if plain:
            refused = _page(request, visit, status=status, error=error, text=text)
        else:
            refused = JsonResponse({"error": error}, status=status)
        if not room:
            refused.headers["Retry-After"] = str(math.ceil(room.retry_after))
        return refused
    name = _("Visitor %(number)s") % {"number": visit.peer[:4].upper()}
    [taken] = accepting.take(
        visit.account,
        [
            Incoming(
                provider_id=f"{visit.peer}:{line}",
                peer=visit.peer,
                name=name,
                text=text,
                language=request.LANGUAGE_CODE,
            )
        ],
    )
    if taken.conversation is not None:
        typing.stop(taken.conversation, who=typing.CUSTOMER)
    if plain:
        return _page(request, visit)
    return JsonResponse({"how": taken.how.value}, status=201 if taken.how is accepting.Took.STORED else 200)


def _wrong(text: str, line: str) -> tuple[str, int]:
    if not _LINE.fullmatch(line):
        return _("This message could not be read."), 400
    if not accepting.shorten(text):
        return _("Write something first."), 422
    if len(text) > LONGEST:
        return _("This is too long for one message."), 413
    return "", 200


def _room(request: HttpRequest, visit: Visit) -> Allowance:
    """For one more line of this visitor, and for one more visitor. With Redis away nobody is counted and all may write:
    a limit protects our patience, and a customer who cannot write is lost."""
    by = accepting.channel_actor(visit.account)
    room = limits.take("inbound:webchat", visit.peer, by=by)
    if room and visit.conversation is None:
        room = newcomers.room(request, visit.account)
    return room if room.counted else Allowance(allowed=True, counted=False)


@login_not_required
@never_cache
@xframe_options_exempt
@require_safe
@open_to_visitors
def thread(request: HttpRequest, slug: str) -> HttpResponse:
    """The lines after `after` (`through` of the last answer), and who is writing."""
    visit = _visit(request, slug)
    if visit is None:
        return _refused()
    after = request.GET.get("after", "0")
    known = after.isascii() and after.isdigit() and len(after) < 19
    return JsonResponse(_thread(visit, after=int(after) if known else 0))


def _thread(visit: Visit, *, after: int) -> dict[str, Any]:
    conversation = visit.conversation
    if conversation is None:
        return {"lines": [], "through": after, "writing": False, "state": ""}
    found = Message.objects.filter(conversation=conversation, withdrawn=False, pk__gt=after)
    rows = list(found.exclude(direction=Direction.NOTE).order_by("-at", "-id")[:SHOWN])
    sent = delivered_keys(row.outbox_key for row in rows if row.outbox_key)
    lines = [
        {
            "id": row.pk,
            "ours": row.direction == Direction.OUT,
            "line": (row.provider_id or "").partition(":")[2],
            "text": row.text,
            "at": row.at.isoformat(),
            "who": "" if row.direction == Direction.IN or row.automatic else row.maker.shown.split(" ")[0],
        }
        for row in reversed(rows)
        if not row.outbox_key or row.outbox_key in sent
    ]
    # What waits for its last look is not said yet: the next answer begins before it.
    waits = [row.pk for row in rows if row.outbox_key and row.outbox_key not in sent]
    through = min(waits) - 1 if waits else max((row.pk for row in rows), default=after)
    return {
        "lines": lines,
        "through": through,
        "writing": _somebody_writes(conversation),
        "state": _state(conversation),
    }


def _state(conversation: Conversation) -> str:
    """That the agent is out of it and a person will answer: no line in the thread, for it answers nothing."""
    waits = conversation.waiting_since is not None and conversation.status == Status.OPEN
    if not waits or conversation.owner_kind != Owner.PERSON or conversation.contact.blocked:
        return ""
    if conversation.handed_over == Intent.DOUBTFUL:  # who may want no answer is promised none
        return _("A colleague has your message.")
    return _("A colleague has your message and will answer you here.")


def _somebody_writes(conversation: Conversation) -> bool:
    """The agent has the turn, or a person is typing."""
    if conversation.is_agents and leases.is_held(timers.turn_key(conversation.pk)):
        return True
    return bool(typing.others(conversation.pk, without=typing.CUSTOMER))


@login_not_required
@csrf_exempt
@xframe_options_exempt
@require_POST
@open_to_visitors
def types(request: HttpRequest, slug: str) -> HttpResponse:
    """A sign that the visitor is typing."""
    visit = _visit(request, slug)
    if visit is None:
        return _refused()
    if conversation := visit.conversation:
        typing.mark(conversation.pk, who=typing.CUSTOMER)
    return HttpResponse(status=204)


@login_not_required
@xframe_options_exempt
@require_safe
async def stream(request: HttpRequest, slug: str) -> HttpResponse | StreamingHttpResponse:
    """Events without content: something is new in this conversation, ask for it."""
    try:
        visit = await sync_to_async(_visit)(request, slug)
    except Closed:
        return _closed(request)
    if visit is None:
        return _refused()
    conversation = await sync_to_async(lambda: visit.conversation)()
    await sync_to_async(connections.close_all)()
    if conversation is None:
        return HttpResponse(status=204)
    listener = Listener(team=None, sees_everything=True, only=f"crm.conversation:{conversation.pk}")
    response = StreamingHttpResponse(_events(listener), content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    response.headers["Content-Encoding"] = "identity"
    return response


async def _events(listener: Listener) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    ends = loop.time() + LIFE
    async with hub().listening(listener):
        while (left := ends - loop.time()) > 0:
            try:
                news = await asyncio.wait_for(listener.queue.get(), timeout=min(HEARTBEAT, left))
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if news is None:
                return
            yield "data: new\n\n"
