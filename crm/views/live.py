"""Live: tells an open page within a second that something changed, and who else is on it.

`stream` (server-sent events) holds no database connection, says nothing of deals the viewer may not see, and ends after
ten minutes so that the browser comes back as who the person is by then. `check` is the quiet way when it is cut.
Next in the flow: `static/js/live.js`.
"""

import asyncio
import datetime as dt
import json
from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from django.apps import apps
from django.core.exceptions import BadRequest
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.views.decorators.http import require_POST, require_safe

from conflicts.actors import Actor
from conflicts.models import VersionedModel
from conflicts.refs import Ref
from crm import presence
from crm.hub import Listener, hub
from crm.models import Opportunity, User

HEARTBEAT = 15.0
LIFE = 600.0
CHECKED = 200


def subject_of(text: str) -> Ref | None:
    """`crm.opportunity:12` as a Ref; None for an empty text. Raises BadRequest."""
    if not text:
        return None
    label, _, key = text.partition(":")
    if not (key.isascii() and key.isdigit() and len(key) < 19):
        raise BadRequest("Not a subject.")
    try:
        model = apps.get_model(label)
    except (LookupError, ValueError):
        raise BadRequest("Not a subject.") from None
    if not issubclass(model, VersionedModel):
        raise BadRequest("Not a subject.")
    return Ref(model._meta.label_lower, int(key))


def visible(ref: Ref, user: User) -> VersionedModel:
    """The subject, if the person may see it. Raises Http404."""
    rows: Any = ref.model._default_manager.all()
    if hasattr(rows, "visible_to"):
        rows = rows.visible_to(user)
    found = rows.filter(pk=ref.pk).first()
    if found is None:
        raise Http404
    return found


@require_safe
async def stream(request: HttpRequest) -> StreamingHttpResponse:
    """Events: `changed` (subject, version, who), `here` (a piece of page), `ready`; a comment as heartbeat."""
    user: User = await request.auser()  # type: ignore[assignment]
    ref = subject_of(request.GET.get("subject", ""))
    if ref:
        await sync_to_async(visible)(ref, user)
    listener = Listener(team=user.team_id, sees_everything=user.sees_everything, user=user.pk, watches=str(ref or ""))
    # The thread that answers this request keeps its connection until the stream ends, unless it is told otherwise.
    await sync_to_async(connections.close_all)()
    response = StreamingHttpResponse(
        events(listener, user, translation.get_language() or "en"), content_type="text/event-stream"
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    response.headers["Content-Encoding"] = "identity"  # compressed, a short event would wait for the next
    return response


async def events(listener: Listener, user: User, language: str) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    ends = loop.time() + LIFE
    yield "retry: 2000\n\n"
    async with hub().listening(listener):
        while (left := ends - loop.time()) > 0:
            try:
                news = await asyncio.wait_for(listener.queue.get(), timeout=min(HEARTBEAT, left))
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if news is None:
                return
            yield await _told(news, user, language)


async def _told(news: dict[str, Any], user: User, language: str) -> str:
    match news["kind"]:
        case "changed":
            by = Actor.parse(news["by"])
            data = {
                "subject": news["subject"],
                "version": news["version"],
                "aspects": news["aspects"],
                "places": news["places"],
                "by": by.name,
                "kind": by.kind.value,
                "mine": by.is_person and by.key == str(user.pk),
            }
            return f"event: changed\ndata: {json.dumps(data)}\n\n"
        case "here":
            people = await sync_to_async(presence.others, thread_sensitive=False)(Ref.parse(news["subject"]), user=user)
            with translation.override(language):
                html = render_to_string("_presence.html", {"people": people})
            return f"event: here\ndata: {json.dumps({'html': html})}\n\n"
    return "event: ready\ndata: {}\n\n"


@require_safe
def check(request: HttpRequest) -> JsonResponse:
    """The version in force of `subject`; without it, the deals that changed since `since` (at most 200)."""
    user: User = request.user  # type: ignore[assignment]
    now = timezone.now().isoformat()
    if ref := subject_of(request.GET.get("subject", "")):
        found = visible(ref, user)
        return JsonResponse({"now": now, "changed": [{"subject": str(ref), "version": found.version}]})
    since = _time(request.GET.get("since", ""))
    rows = Opportunity.objects.visible_to(user).filter(changed_at__gt=since).values_list("pk", "version")
    changed = [{"subject": f"crm.opportunity:{pk}", "version": number} for pk, number in rows[:CHECKED]]
    return JsonResponse({"now": now, "changed": changed})


def _time(text: str) -> dt.datetime:
    try:
        at = dt.datetime.fromisoformat(text) if text else timezone.now()
    except ValueError:
        raise BadRequest("Not a time.") from None
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


@require_POST
def here(request: HttpRequest) -> HttpResponse:
    """A sign of life from an open page: `doing` is empty (looking), what is being written, or `gone`."""
    user: User = request.user  # type: ignore[assignment]
    ref = subject_of(request.POST.get("subject", ""))
    if ref is None:
        raise BadRequest("Which record?")
    visible(ref, user)
    sent = request.POST.get("sent", "")
    clock = int(sent) if sent.isascii() and sent.isdigit() and len(sent) < 16 else 0
    presence.enter(ref, user=user, doing=request.POST.get("doing", ""), sent=clock)
    return HttpResponse(status=204)
