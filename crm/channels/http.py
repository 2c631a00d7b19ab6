"""HTTP calls to a provider: one request, one answer, and a clear word on whether it left.

Guarantees that a call ends where the other side falls silent or never comes to an end, that nothing is sent again by
the client itself (the outbox does that, and knows what it may), and that only what surely did not leave raises NotSent:
no name, no connection, no valid certificate. Anything else that is raised means that nobody knows. No redirects and no
proxies from the environment: a token goes to the address that was configured and nowhere else.
"""

import datetime as dt
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import urllib3
from django.utils import timezone
from urllib3.exceptions import ConnectTimeoutError, LocationParseError, LocationValueError, NewConnectionError

from conflicts.destinations import NotAccepted, NotSent
from conflicts.jobs import PutOff

CONNECT, READ, LONGEST = 5.0, 15.0, 25.0
"""Seconds: for the connection, between two bytes, for all of an answer. Well below what one delivery may take."""
LARGEST = 256 * 1024
"""Bytes of an answer that are read; no provider says more about one message."""
LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: dict[str, Any]
    """Empty where the answer was no JSON object: a proxy's page, for instance."""
    retry_after: float | None = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


def post_json(url: str, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> Answer:
    raw = json.dumps(body, ensure_ascii=False).encode()
    return _call("POST", url, raw, {**headers, "Content-Type": "application/json"})


def post_form(url: str, fields: Mapping[str, str], *, headers: Mapping[str, str]) -> Answer:
    raw = urlencode(fields).encode()
    return _call("POST", url, raw, {**headers, "Content-Type": "application/x-www-form-urlencoded"})


def get(url: str, query: Mapping[str, str], *, headers: Mapping[str, str]) -> Answer:
    return _call("GET", f"{url}?{urlencode(query)}", None, headers)


def not_now(answer: Answer, words: str) -> Exception:
    """For an answer that says the message was not taken and may be sent again: when it says, or after a pause."""
    return PutOff(answer.retry_after, words) if answer.retry_after else NotSent(words)


def _call(method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
    ends = time.monotonic() + LONGEST
    # A connection of its own: one that was kept may be closed by the other side at any moment, and then nobody could
    # tell whether the request had been read.
    with urllib3.PoolManager(num_pools=1, maxsize=1) as pool:
        try:
            response = pool.request(
                method,
                url,
                body=body,
                headers={"Accept": "application/json", "User-Agent": "Vigente", **headers},
                timeout=urllib3.Timeout(connect=CONNECT, read=READ),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (NewConnectionError, ConnectTimeoutError) as error:
            raise NotSent("no connection") from error
        except (LocationParseError, LocationValueError) as error:
            raise NotAccepted("its configured address cannot be read") from error
        except urllib3.exceptions.SSLError as error:
            # Raised by the handshake as well as later: only a certificate that was refused is surely before a byte.
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise NotSent("its certificate is not valid") from error
            raise
        return Answer(response.status, _read(response, ends), _retry_after(response.headers.get("Retry-After", "")))


def _read(response: urllib3.BaseHTTPResponse, ends: float) -> dict[str, Any]:
    """The JSON object, or nothing. Raises TimeoutError if it trickles on, ValueError if it is endless."""
    raw = bytearray()
    while piece := response.read1(16 * 1024):
        raw += piece
        if time.monotonic() > ends:
            raise TimeoutError("the answer took too long")
        if len(raw) > LARGEST:
            raise ValueError("the answer is too long")
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _retry_after(text: str) -> float | None:
    """Seconds, from either form of the header."""
    try:
        seconds = float(text) if text.strip().isdigit() else _until(text)
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 1.0), LONGEST_WAIT)


def _until(date: str) -> float:
    return (parsedate_to_datetime(date).replace(tzinfo=dt.UTC) - timezone.now()).total_seconds()
