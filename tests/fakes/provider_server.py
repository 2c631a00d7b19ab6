"""What the fake providers have in common: a server on a port of its own, and faults that a test orders one by one.

Each fault is for one sending: `refuse` (a 4xx with words), `throttle` (429, Retry-After: 7), `away` (503 that says it
was not taken), `error_before` and `error_after` (500, without and with having taken it), `cut` (takes it and hangs up
before a byte of the answer), `half` (takes it and hangs up in the middle of the answer), `nonsense` (takes it and
answers 200 with a page), `slow` (takes it and answers when the test says `release`).
"""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class ProviderServer:
    """`taken` is everything that had an effect: a doubled message is in it twice."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.requests = 0
        self.faults: deque[str] = deque()
        self.release = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            provider = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def fault(self) -> str:
        with self._lock:
            self.requests += 1
            return self.faults.popleft() if self.faults else ""

    def take(self, message: dict[str, Any]) -> int:
        with self._lock:
            self.taken.append(message)
            return len(self.taken)

    # What each provider does in its own way.

    def read(self, request: "_Handler", raw: bytes) -> dict[str, Any] | None:
        """The message, or None where the token or the address is wrong."""
        raise NotImplementedError

    def accepted(self, number: int) -> tuple[int, dict[str, Any]]:
        raise NotImplementedError

    def problem(self, fault: str) -> tuple[int, dict[str, Any]]:
        """`refuse`, `throttle`, `away`, `denied` as this provider says it."""
        raise NotImplementedError

    def listed(self, request: "_Handler") -> tuple[int, dict[str, Any]]:
        return 405, {}


class _Handler(BaseHTTPRequestHandler):
    provider: ProviderServer

    def do_GET(self) -> None:
        self._answer(*self.provider.listed(self))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        message = self.provider.read(self, raw)
        fault = self.provider.fault()
        if message is None:
            return self._answer(*self.provider.problem("denied"))
        match fault:
            case "refuse" | "away":
                return self._answer(*self.provider.problem(fault))
            case "throttle":
                return self._answer(*self.provider.problem(fault), retry_after="7")
            case "error_before":
                return self._answer(500, {})
        status, body = self.provider.accepted(self.provider.take(message))
        match fault:
            case "error_after":
                return self._answer(500, {})
            case "cut":
                self.close_connection = True
                return None
            case "half":
                return self._answer(status, body, missing=10)
            case "nonsense":
                return self._answer(200, {})
            case "slow":
                self.provider.release.wait(30)
        return self._answer(status, body)

    def _answer(self, status: int, body: dict[str, Any], *, retry_after: str = "", missing: int = 0) -> None:
        text = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if retry_after:
                self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(text[: len(text) - missing])
        except OSError:
            pass  # whoever asked has gone
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass
