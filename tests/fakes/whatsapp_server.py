"""A small WhatsApp Cloud API: takes messages as it does, and tells what became of them at the address it is given.

POST /NUMBER/messages    Authorization: Bearer TOKEN; JSON; {"messages": [{"id": "wamid.1"}]} or {"error": {...}}
"""

import json
from typing import Any

import urllib3

from crm.channels import specimens
from tests.fakes.provider_server import ProviderServer, _Handler

TOKEN = "token-of-the-test"


class WhatsAppServer(ProviderServer):
    def read(self, request: _Handler, raw: bytes) -> dict[str, Any] | None:
        if request.headers["Authorization"] != f"Bearer {TOKEN}" or not request.path.endswith("/messages"):
            return None
        return {**json.loads(raw), "from": request.path.split("/")[1]}

    def accepted(self, number: int) -> tuple[int, dict[str, Any]]:
        return 200, {"messaging_product": "whatsapp", "messages": [{"id": f"wamid.{number}"}]}

    def problem(self, fault: str) -> tuple[int, dict[str, Any]]:
        status, code, words = {
            "refuse": (400, 131026, "Message undeliverable"),
            "throttle": (429, 130429, "Rate limit hit"),
            "away": (503, 131016, "Service unavailable"),
            "denied": (401, 190, "Access token has expired"),
        }[fault]
        error = {"message": f"(#{code}) {words}", "code": code, "error_data": {"details": words}}
        return status, {"error": error}

    def status(self, number: int, state: str, **more: Any) -> dict[str, Any]:
        """The post that says what became of the message it took as `number`."""
        message = self.taken[number - 1]
        status = {
            "id": f"wamid.{number}",
            "status": state,
            "timestamp": "1900000000",
            "recipient_id": message.get("to"),
            "biz_opaque_callback_data": message["biz_opaque_callback_data"],
            **more,
        }
        return specimens.whatsapp_post({"metadata": {"phone_number_id": message["from"]}, "statuses": [status]})


def tell(url: str, post: Any, *, path: str = "/webhooks/whatsapp/") -> int:
    """Deliver a post as the provider does; the status it is answered with."""
    raw, headers = specimens.signed_whatsapp(post)
    with urllib3.PoolManager() as pool:
        return pool.request("POST", f"{url}{path}", body=raw, headers=headers, retries=False, timeout=30).status
