"""WhatsApp Cloud API: what we send, and who may tell us something.

Guarantees that a post is believed only under a signature over its very bytes, and that every message of ours carries
its outbox key, so that a status proves what became of one whose answer was lost: the provider cannot be asked.
What it tells us is read in `whatsapp_posts.py`; a signed post for trials is made in `specimens.py`.
"""

import hashlib
import hmac
from typing import Any
from urllib.parse import quote

from django.conf import settings

from conflicts.destinations import Missing, NotAccepted, NotSent, ReadBack
from crm.channels import http, registry
from crm.channels.http import Answer
from crm.channels.registry import Forged
from crm.channels.whatsapp_posts import words_of
from crm.models import ChannelAccount
from crm.models.channel_account import Provider

TOO_MUCH = frozenset({4, 80007, 130429, 131048, 131056, 133016})
"""Error codes that say: too often. The message was not taken; the status beside them is 400 as often as 429."""
AWAY = frozenset({2, 131016})
"""Error codes that say: the service is away for the moment. It was not taken."""


def sign(raw: bytes, secret: str) -> str:
    """The value of X-Hub-Signature-256 for these bytes."""
    return "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def check(raw: bytes, signature: str) -> None:
    """Raises Forged. Two secrets may be in force while one replaces the other."""
    given = signature.encode("utf-8", "replace")
    good = [hmac.compare_digest(sign(raw, secret).encode(), given) for secret in settings.VIGENTE_WHATSAPP_APP_SECRET]
    if not any(good):
        raise Forged


def verifies(mode: str, token: str) -> bool:
    """The provider asks once, when the address of the webhook is entered there, whether it is ours."""
    expected: str = settings.VIGENTE_WHATSAPP_VERIFY_TOKEN
    return bool(expected) and mode == "subscribe" and hmac.compare_digest(expected.encode(), token.encode())


class WhatsApp:
    name = Provider.WHATSAPP.value
    conditional = False
    settles_in = 60.0

    def send(self, account: ChannelAccount, to: str, payload: dict[str, Any], *, key: str) -> str:
        if not settings.VIGENTE_WHATSAPP_TOKEN:
            raise NotAccepted("VIGENTE_WHATSAPP_TOKEN is not set, so this channel cannot send")
        answer = http.post_json(
            f"{settings.VIGENTE_WHATSAPP_URL}/{quote(account.address, safe='')}/messages",
            _body(to, payload, key=key),
            headers={"Authorization": f"Bearer {settings.VIGENTE_WHATSAPP_TOKEN}"},
        )
        return _number(answer)

    def read_back(self, account: ChannelAccount, key: str) -> ReadBack:
        """There is nothing to ask: only a status that carries our key can tell (crm/channels/sending.py)."""
        return Missing.CANNOT_TELL


def _body(to: str, payload: dict[str, Any], *, key: str) -> dict[str, Any]:
    # A customer without a number is addressed by the id under which this business knows them.
    address = {"to": to} if to.isdigit() else {"recipient": to}
    body = {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        **address,
        "biz_opaque_callback_data": key,
    }
    if payload.get("template"):
        return {**body, "type": "template", "template": _template(payload)}
    return {**body, "type": "text", "text": {"body": payload["text"], "preview_url": False}}


def _template(payload: dict[str, Any]) -> dict[str, Any]:
    """`name` or `name:language` as it was approved there; else the language of the conversation."""
    name, _, language = str(payload["template"]).partition(":")
    code = language or _language(payload.get("language", ""))
    found: dict[str, Any] = {"name": name, "language": {"code": code}}
    if values := payload.get("parameters"):
        found["components"] = [{"type": "body", "parameters": [{"type": "text", "text": str(v)} for v in values]}]
    return found


def _language(ours: str) -> str:
    """`pt-br` -> `pt_BR`."""
    spoken, _, country = (ours or settings.LANGUAGE_CODE).replace("_", "-").partition("-")
    return f"{spoken.lower()}_{country.upper()}" if country else spoken.lower()


def _number(answer: Answer) -> str:
    """The message's number there. Raises NotAccepted, NotSent, PutOff; ConnectionError where nobody can tell."""
    if answer.ok:
        messages = answer.body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[0], dict) and messages[0].get("id"):
            return str(messages[0]["id"])
        raise ConnectionError("the answer names no message")
    problem = answer.body.get("error")
    error = problem if isinstance(problem, dict) else {}
    code = error.get("code")
    words = words_of(error) or f"HTTP {answer.status}"
    if answer.status == 429 or code in TOO_MUCH:
        raise http.not_now(answer, words)
    if code in AWAY:
        raise NotSent(words)
    if 400 <= answer.status < 500:
        raise NotAccepted(words)
    raise ConnectionError(f"HTTP {answer.status}")


registry.register(WhatsApp())
