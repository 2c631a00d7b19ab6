"""Twilio, for SMS and WhatsApp: what we send, who may tell us something, and what they tell.

Guarantees that a post is believed only under a signature over the address it was sent to and every field of it, also
behind a proxy that speaks HTTPS for us; and that each message of ours names an address for its statuses that holds its
outbox key. Next in the flow: `crm/views/webhooks.py`.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse

from conflicts.destinations import Missing, NotAccepted, NotSent, ReadBack
from crm.channels import http, media, registry, twilio_list
from crm.channels.events import Incoming, Reported
from crm.channels.http import Answer
from crm.channels.registry import Forged, Unreadable
from crm.channels.whatsapp_posts import phone_of
from crm.models import ChannelAccount
from crm.models.channel_account import Medium, Provider

STATES: Mapping[str, str] = {
    # Taken over there, not yet passed on: for us it has left the house.
    **dict.fromkeys(("accepted", "scheduled", "queued", "sending", "sent"), "sent"),
    "delivered": "delivered",
    "read": "read",
    **dict.fromkeys(("undelivered", "failed", "canceled"), "failed"),
}
WHATSAPP = "whatsapp:+"
TAPBACK = re.compile(
    r"((Dis)?[Ll]iked|Loved|Laughed at|Emphasized|Questioned|Reacted \S{1,12} to"
    r"|Removed an? [a-z ]{4,20} from) (“.*”|an? (image|movie|attachment))",
    re.DOTALL,
)
"""What a reaction on an iPhone becomes on its way through SMS: nobody wrote it, and nobody waits for an answer."""
AWAY = frozenset({20503})
"""Error codes that say: the service is away for the moment. It was not taken."""


# ---- who may tell us something


def sign(url: str, fields: QueryDict, token: str) -> str:
    """The value of X-Twilio-Signature for a form sent to `url`."""
    said = "".join(name + value for name in sorted(fields) for value in sorted(set(fields.getlist(name))))
    digest = hmac.new(token.encode(), f"{url}{said}".encode("utf-8", "replace"), hashlib.sha1).digest()
    return base64.b64encode(digest).decode()


def check(url: str, fields: QueryDict, signature: str) -> None:
    """Raises Forged. `url` is the address as it reached us; the provider signed it as it knows it."""
    given = signature.encode("utf-8", "replace")
    tokens: list[str] = settings.VIGENTE_TWILIO_AUTH_TOKEN
    good = [
        hmac.compare_digest(sign(known, fields, token).encode(), given) for known in _forms(url) for token in tokens
    ]
    if not any(good):
        raise Forged


def _forms(url: str) -> Iterator[str]:
    """The same address as it is known outside: a proxy ends HTTPS, hides a port, calls us by an inner name."""
    parts = urlsplit(url)
    rest = (parts.path, parts.query, "")
    if settings.VIGENTE_PUBLIC_URL:
        yield settings.VIGENTE_PUBLIC_URL + urlunsplit(("", "", *rest))
    for scheme, port in (("https", 443), ("http", 80)):
        hosts = dict.fromkeys((parts.netloc, parts.hostname or "", f"{parts.hostname}:{port}"))
        yield from (urlunsplit((scheme, host, *rest)) for host in hosts)


# ---- what they tell us


def incoming(fields: QueryDict) -> tuple[str, Incoming]:
    """(our address, the message). Raises Unreadable."""
    number, sender, ours = (clean(fields.get(name, "")) for name in ("MessageSid", "From", "To"))
    if not (number and sender and ours):
        raise Unreadable("MessageSid, From or To is missing")
    text, attached = clean(fields.get("Body", "")), tuple(_media(fields))
    reacts = fields.get("MessageType") == "reaction"
    if reacts:
        text, attached = "", (media.item("reaction", name=text, id=fields.get("OriginalRepliedMessageSid", "")),)
    return ours.lower(), Incoming(
        provider_id=number,
        peer=sender,
        name=clean(fields.get("ProfileName", "")),
        text=text,
        media=attached,
        automatic=reacts or (not sender.startswith(WHATSAPP) and bool(TAPBACK.fullmatch(text.strip()))),
        phone=phone_of(sender.removeprefix(WHATSAPP)) if sender.startswith(WHATSAPP) else sender,
    )


def reported(fields: QueryDict, *, key: str) -> tuple[str, Reported | None]:
    """(our address, what became of a message of ours; None for a state that tells nothing). Raises Unreadable."""
    number, ours, status = (clean(fields.get(name, "")) for name in ("MessageSid", "From", "MessageStatus"))
    if not (number and ours and status):
        raise Unreadable("MessageSid, From or MessageStatus is missing")
    error = f"{clean(fields.get('ErrorCode', ''))} {clean(fields.get('ErrorMessage', ''))}".strip()
    if status not in STATES:
        return ours.lower(), None
    return ours.lower(), Reported(provider_id=number, state=STATES[status], error=error, key=clean(key))  # type: ignore[arg-type]


def _media(fields: QueryDict) -> Iterator[dict[str, str]]:
    count = fields.get("NumMedia", "0")
    for index in range(min(int(count), 20) if count.isascii() and count.isdigit() else 0):
        kind = fields.get(f"MediaContentType{index}", "").partition("/")[0]
        name = fields.get(f"MediaContentType{index}", "")
        known = kind if kind in ("image", "audio", "video") else "document"
        yield media.item(known, name=name, id=fields.get(f"MediaUrl{index}", "").rpartition("/")[2])
    if fields.get("Latitude") and fields.get("Longitude"):
        place = fields.get("Label") or fields.get("Address") or ""
        where = f"{fields['Latitude']}, {fields['Longitude']}"
        yield media.item("location", name=f"{place} ({where})" if place else where)


def clean(text: str) -> str:
    """Without NUL, which no column holds."""
    return text.replace("\0", "")


# ---- what we send


class Twilio:
    name = Provider.TWILIO.value
    conditional = False
    settles_in = 60.0

    def send(self, account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> str:
        answer = http.post_form(
            f"{messages_url()}.json",
            dict(_fields(account, to, payload, key=key)),
            headers=authorization(),
        )
        return _number(answer)

    def read_back(self, account: ChannelAccount, key: str) -> ReadBack:
        """It keeps no key of ours, but it lists what it sent (twilio_list.py)."""
        try:
            answer = http.get(f"{messages_url()}.json", twilio_list.query(account, key), headers=authorization())
        except NotAccepted:  # not set up: it cannot be asked
            return Missing.CANNOT_TELL
        return twilio_list.find(answer.body, key) if answer.ok else Missing.CANNOT_TELL


def messages_url() -> str:
    return f"{settings.VIGENTE_TWILIO_URL}/2010-04-01/Accounts/{quote(settings.VIGENTE_TWILIO_ACCOUNT_SID)}/Messages"


def authorization() -> dict[str, str]:
    """Raises NotAccepted where this channel is not set up."""
    if not (settings.VIGENTE_TWILIO_ACCOUNT_SID and settings.VIGENTE_TWILIO_AUTH_TOKEN):
        raise NotAccepted(
            "VIGENTE_TWILIO_ACCOUNT_SID and VIGENTE_TWILIO_AUTH_TOKEN are not both set, so this channel cannot send"
        )
    word = f"{settings.VIGENTE_TWILIO_ACCOUNT_SID}:{settings.VIGENTE_TWILIO_AUTH_TOKEN[0]}"
    return {"Authorization": f"Basic {base64.b64encode(word.encode()).decode()}"}


def _fields(account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> Iterable[tuple[str, str]]:
    yield "To", to
    yield "From", account.address
    template = str(payload.get("template") or "")
    if template and account.medium == Medium.WHATSAPP:
        yield "ContentSid", template
    else:  # SMS knows no templates: it is a text like any other
        yield "Body", payload["text"]
    if settings.VIGENTE_PUBLIC_URL:
        yield "StatusCallback", f"{settings.VIGENTE_PUBLIC_URL}{reverse('twilio_status')}?{urlencode({'key': key})}"


def _number(answer: Answer) -> str:
    """The message's number there. Raises NotAccepted, NotSent, PutOff; ConnectionError where nobody can tell."""
    if answer.ok:
        if sid := answer.body.get("sid"):
            return str(sid)
        raise ConnectionError("the answer names no message")
    words = f"{answer.body.get('code', '')} {answer.body.get('message', '')}".strip()[:200] or f"HTTP {answer.status}"
    if answer.status == 429:
        raise http.not_now(answer, words)
    if answer.body.get("code") in AWAY:
        raise NotSent(words)
    if 400 <= answer.status < 500:
        raise NotAccepted(words)
    raise ConnectionError(f"HTTP {answer.status}")


registry.register(Twilio())
