"""A small destination on a port of its own, with a plain JSON protocol and faults that a test orders one by one.

    POST /messages {"key", "payload"}   takes a message; a key that it knows, if it minds keys, gets the first answer
    GET  /messages/KEY                  {"id"} or 404; 501 if it does not say what it has
    PUT  /record   {"key", "payload"}   overwrites the one record it has
    GET  /record                        {"key", "payload", "id"} of the last writer, or 404

Faults, each for one write: `refuse` (422), `unavailable` (503), `error_before` and `error_after` (500, without and with
having taken it), `drop_answer` (takes it and hangs up), `hold` (takes it only when the test says `release`).
"""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote


class DestinationServer:
    def __init__(self, *, minds_keys: bool = True, says_what_it_has: bool = True) -> None:
        self.minds_keys = minds_keys
        self.says_what_it_has = says_what_it_has
        self.taken: list[tuple[str, Any]] = []
        """Everything that had an effect here, in order; a doubled message is in it twice."""
        self.faults: deque[str] = deque()
        self.held = threading.Semaphore(0)
        """Released once for each write that is being held: `held.acquire(timeout=...)` waits for one."""
        self.release = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            destination = server

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
    def port(self) -> int:
        return int(self._http.server_address[1])

    def keys(self) -> list[str]:
        return [key for key, _ in self.taken]

    def fault(self) -> str:
        with self._lock:
            return self.faults.popleft() if self.faults else ""

    def take(self, key: str, payload: Any) -> int:
        with self._lock:
            if self.minds_keys and key in self.keys():
                return self.keys().index(key) + 1
            self.taken.append((key, payload))
            return len(self.taken)

    def find(self, key: str) -> int | None:
        with self._lock:
            return self.keys().index(key) + 1 if key in self.keys() else None

    def last(self) -> dict[str, Any] | None:
        with self._lock:
            return (
                {"key": self.taken[-1][0], "payload": self.taken[-1][1], "id": len(self.taken)} if self.taken else None
            )


class _Handler(BaseHTTPRequestHandler):
    destination: DestinationServer

    def do_POST(self) -> None:
        self._write()

    def do_PUT(self) -> None:
        self._write()

    def do_GET(self) -> None:
        if not self.destination.says_what_it_has:
            return self._answer(501, {})
        if self.path == "/record":
            last = self.destination.last()
            return self._answer(200 if last else 404, last or {})
        found = self.destination.find(unquote(self.path.rpartition("/")[2]))
        return self._answer(200 if found else 404, {"id": found})

    def _write(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        match self.destination.fault():
            case "refuse":
                return self._answer(422, {"error": "no such address"})
            case "unavailable":
                return self._answer(503, {})
            case "error_before":
                return self._answer(500, {})
            case "error_after":
                self.destination.take(body["key"], body["payload"])
                return self._answer(500, {})
            case "drop_answer":
                self.destination.take(body["key"], body["payload"])
                self.close_connection = True
                return None
            case "hold":
                self.destination.held.release()
                self.destination.release.wait(30)
        return self._answer(201, {"id": self.destination.take(body["key"], body["payload"])})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass  # whoever asked has gone

    def log_message(self, format: str, *args: Any) -> None:
        pass
