"""Specimens: posts as the providers send them, signed with our own secrets. For the bench, trials and tests.

They prove nothing to anybody else: who can sign with our secrets has them.
"""

import json
from typing import Any

from django.conf import settings

from crm.channels import whatsapp


def whatsapp_message(
    text: str, *, number: str, sender: str, message_id: str, at: int, name: str = "Ana Prado", **more: Any
) -> dict[str, Any]:
    """The body of a post with one text message; `more` replaces parts of the message."""
    message = {"from": sender, "id": message_id, "timestamp": str(at), "type": "text", "text": {"body": text}, **more}
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "15550001111", "phone_number_id": number},
        "contacts": [{"profile": {"name": name}, "wa_id": sender}],
        "messages": [message],
    }
    return whatsapp_post(value)


def whatsapp_post(*values: dict[str, Any], field: str = "messages") -> dict[str, Any]:
    """A post with one entry per value."""
    entries = [{"id": "account", "changes": [{"field": field, "value": value}]} for value in values]
    return {"object": "whatsapp_business_account", "entry": entries}


def signed_whatsapp(post: Any, *, secret: str | None = None) -> tuple[bytes, dict[str, str]]:
    """The bytes of the request and its headers."""
    raw = post if isinstance(post, bytes) else json.dumps(post).encode()
    with_secret = settings.VIGENTE_WHATSAPP_APP_SECRET[0] if secret is None else secret
    return raw, {"Content-Type": "application/json", "X-Hub-Signature-256": whatsapp.sign(raw, with_secret)}
