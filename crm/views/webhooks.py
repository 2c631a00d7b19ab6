"""Webhooks: what providers tell us, over HTTP. Stored, then answered; no model, no call outside.

Guarantees that a provider hears 200 only of what is stored, and a status that makes it come again of what is not; that
nothing is stored of a post that is forged, too large, unreadable or for an address that is not ours, and that each of
those is logged without its content. A post that is told again is the same post: 200, and nothing is written.
Next in the flow: `crm/accepting.py`.
"""

import json
import logging
from collections.abc import Callable, Iterable

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, OperationalError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from conflicts.exceptions import KernelError
from crm import accepting
from crm.channels import twilio, whatsapp, whatsapp_posts
from crm.channels.events import Event
from crm.channels.registry import Forged, Unreadable
from crm.models import ChannelAccount
from crm.models.channel_account import Provider

logger = logging.getLogger(__name__)

LARGEST = 4 * 1024 * 1024
"""Bytes of one post: WhatsApp's may have three million."""
RETRY_AFTER = 10
"""Seconds, in the answer to what could not be stored just now."""

type View = Callable[..., HttpResponse]


class TooLarge(Exception):
    pass


class NobodysAddress(Exception):
    """No channel in use has that address."""


def webhook(view: View) -> View:
    """For machines: no session, no CSRF token, and a plain answer for each way in which a post is refused."""

    def guarded(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except Forged:
            return _refused(request, 403, "the signature is missing or wrong")
        except TooLarge:
            return _refused(request, 413, f"it has more than {LARGEST} bytes")
        except Unreadable as error:
            return _refused(request, 400, str(error))
        except NobodysAddress as error:
            return _refused(request, 404, f"no channel in use has the address {error}")

    guarded.__name__, guarded.__doc__ = view.__name__, view.__doc__
    return csrf_exempt(login_not_required(guarded))


@webhook
@require_http_methods(["GET", "POST"])
def whatsapp_webhook(request: HttpRequest) -> HttpResponse:
    """GET: is this address yours? POST: messages, statuses and echoes, of all numbers of the app."""
    if request.method == "GET":
        if not whatsapp.verifies(request.GET.get("hub.mode", ""), request.GET.get("hub.verify_token", "")):
            raise Forged
        return HttpResponse(request.GET.get("hub.challenge", ""), content_type="text/plain")
    raw = _body(request)
    whatsapp.check(raw, request.headers.get("X-Hub-Signature-256", ""))
    post = _json(raw)
    events = whatsapp_posts.read(post)
    ours = _accounts(Provider.WHATSAPP, whatsapp_posts.numbers(post))
    stored = [_stored(account, [e for number, e in events if number == account.address]) for account in ours.values()]
    return _answer(all(stored))


@webhook
@require_POST
def twilio_webhook(request: HttpRequest) -> HttpResponse:
    """One message of a customer, by SMS or WhatsApp."""
    address, event = twilio.incoming(_form(request))
    [account] = _accounts(Provider.TWILIO, [address]).values()
    return _answer(_stored(account, [event]), empty_twiml=True)


@webhook
@require_POST
def twilio_status(request: HttpRequest) -> HttpResponse:
    """What became of a message of ours; its key is part of the address that we gave, and so of what is signed."""
    address, event = twilio.reported(_form(request), key=request.GET.get("key", ""))
    [account] = _accounts(Provider.TWILIO, [address]).values()
    return _answer(_stored(account, [event] if event else []), empty_twiml=True)


def _stored(account: ChannelAccount, events: Iterable[Event]) -> bool:
    """Each event by itself: one that cannot be stored does not hold up the others. False if there was one."""
    whole = True
    for event in events:
        try:
            accepting.take(account, [event])
        except (accepting.NotStored, OperationalError) as error:  # busy, or the database is away
            logger.warning("%s was not stored, its provider is to tell it again: %s", type(event).__name__, error)
            whole = False
        except (DatabaseError, KernelError, ValueError):
            logger.exception("%s was not stored, its provider is to tell it again", type(event).__name__)
            whole = False
    return whole


def _accounts(provider: Provider, addresses: list[str]) -> dict[str, ChannelAccount]:
    """The channels in use by address. A stranger's address beside one of ours is passed over: told again for it, we
    would hear our own again and again. Raises NobodysAddress if there are addresses, and none of them is ours.
    """
    found = ChannelAccount.objects.filter(provider=provider, address__in=addresses, active=True)
    ours = {account.address: account for account in found}
    strangers = ascii(sorted(set(addresses) - set(ours)))[:200]
    if addresses and not ours:
        raise NobodysAddress(strangers)
    if len(ours) < len(addresses):
        logger.warning("A post also spoke of addresses that no channel in use has: %s", strangers)
    return ours


def _body(request: HttpRequest) -> bytes:
    """The raw bytes. Raises TooLarge without reading more than may be."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if declared.isdigit() and int(declared) > LARGEST:
        raise TooLarge
    raw: bytes = request.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise TooLarge
    return raw


def _json(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise Unreadable("it is no JSON") from None


def _form(request: HttpRequest) -> QueryDict:
    """The fields of a signed form. Raises TooLarge, Forged, Unreadable."""
    raw = _body(request)
    try:
        fields = QueryDict(raw, encoding="utf-8")
    except Exception:  # too many fields, or bytes that are no text
        raise Unreadable("it is no form") from None
    twilio.check(request.build_absolute_uri(), fields, request.headers.get("X-Twilio-Signature", ""))
    return fields


def _answer(stored: bool, *, empty_twiml: bool = False) -> HttpResponse:
    if not stored:
        return HttpResponse("later", status=503, content_type="text/plain", headers={"Retry-After": str(RETRY_AFTER)})
    if empty_twiml:  # we say nothing in the answer itself: what we say goes through the outbox
        return HttpResponse('<?xml version="1.0" encoding="UTF-8"?><Response/>', content_type="text/xml")
    return HttpResponse("ok", content_type="text/plain")


def _refused(request: HttpRequest, status: int, why: str) -> HttpResponse:
    logger.warning("%s %s was refused with %d: %s", request.method, request.path, status, why)
    return HttpResponse("refused", status=status, content_type="text/plain")
