"""A small Twilio: takes messages as it does, lists them, and tells what became of them at the address they name.

POST /2010-04-01/Accounts/SID/Messages.json   Basic SID:TOKEN; a form; {"sid": "SM1"} or {"code", "message"}
GET  the same with To and From                {"messages": [...]}
"""

import base64
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import urllib3
from django.http import QueryDict

from crm.channels import twilio
from tests.fakes.provider_server import ProviderServer, _Handler

SID, TOKEN = "AC-of-the-test", "token-of-the-test"
WORD = "Basic " + base64.b64encode(f"{SID}:{TOKEN}".encode()).decode()


class TwilioServer(ProviderServer):
    lists = True
    """False: its list lags behind and does not show what it has."""

    def read(self, request: _Handler, raw: bytes) -> dict[str, Any] | None:
        if request.headers["Authorization"] != WORD or not request.path.endswith(f"/Accounts/{SID}/Messages.json"):
            return None
        return dict(parse_qsl(raw.decode(), keep_blank_values=True))

    def accepted(self, number: int) -> tuple[int, dict[str, Any]]:
        return 201, {"sid": f"SM{number}", "status": "queued"}

    def problem(self, fault: str) -> tuple[int, dict[str, Any]]:
        status, code, words = {
            "refuse": (400, 21610, "Attempt to send to unsubscribed recipient"),
            "throttle": (429, 20429, "Too Many Requests"),
            "away": (503, 20503, "Service unavailable"),
            "denied": (401, 20003, "Authenticate"),
        }[fault]
        return status, {"status": status, "code": code, "message": words}

    def listed(self, request: _Handler) -> tuple[int, dict[str, Any]]:
        if request.headers["Authorization"] != WORD:
            return self.problem("denied")
        wanted = dict(parse_qsl(urlsplit(request.path).query))
        rows = [
            {"sid": f"SM{n}", "to": m["To"], "from": m["From"], "body": m.get("Body", ""), "date_created": formatdate()}
            for n, m in enumerate(self.taken, start=1)
            if self.lists and (m["To"], m["From"]) == (wanted["To"], wanted["From"])
        ]
        return 200, {"messages": list(reversed(rows))}

    def tell_status(self, number: int, state: str, **more: str) -> int:
        """Call the address that the message it took as `number` names."""
        message = self.taken[number - 1]
        fields = {"MessageSid": f"SM{number}", "MessageStatus": state, "From": message["From"], "To": message["To"]}
        return tell(message["StatusCallback"], {**fields, **more})


def tell(url: str, fields: dict[str, str], *, token: str = TOKEN) -> int:
    """Deliver a form as the provider does; the status it is answered with."""
    form = QueryDict(mutable=True)
    form.update(fields)
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Twilio-Signature": twilio.sign(url, form, token),
    }
    with urllib3.PoolManager() as pool:
        return pool.request("POST", url, body=form.urlencode(), headers=headers, retries=False, timeout=30).status
