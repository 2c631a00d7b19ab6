"""A proxy before PostgreSQL that can lose an answer: it cuts the line after the server has committed.

Guarantees that the server's "COMMIT" was seen before the cut, so the work is done and the caller cannot know. It reads
no more of the protocol than that: the client's COMMIT going in, the server's completion coming out.
"""

import socket
import threading
from types import TracebackType
from typing import Any, Self

COMMIT = b"COMMIT\x00"
"""As a simple query ends, and as its completion does."""


class Proxy:
    """Listens on a free port of this machine and passes everything on."""

    def __init__(self, upstream: dict[str, Any]) -> None:
        """`upstream` is a database's settings."""
        host, port = upstream["HOST"], upstream["PORT"] or 5432
        self._there: str | tuple[str, int] = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._cut = threading.Event()
        self.cuts = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, name="proxy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def lose_the_next_answer(self) -> None:
        """Of the next COMMIT of anybody."""
        self._cut.set()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            family = socket.AF_UNIX if isinstance(self._there, str) else socket.AF_INET
            server = socket.socket(family)
            server.connect(self._there)
            committing = threading.Event()
            for name, call, line in (
                ("in", self._pass_in, (client, server, committing)),
                ("out", self._pass_out, (server, client, committing)),
            ):
                threading.Thread(target=call, args=line, name=f"proxy-{name}", daemon=True).start()

    def _pass_in(self, client: socket.socket, server: socket.socket, committing: threading.Event) -> None:
        for data in _all_from(client):
            if self._cut.is_set() and data.endswith(COMMIT):
                committing.set()
            server.sendall(data)
        _hang_up(server)

    def _pass_out(self, server: socket.socket, client: socket.socket, committing: threading.Event) -> None:
        for data in _all_from(server):
            if committing.is_set() and COMMIT in data:
                self._cut.clear()
                self.cuts += 1
                break
            try:
                client.sendall(data)
            except OSError:
                break
        _hang_up(client)
        _hang_up(server)


def _all_from(line: socket.socket) -> Any:
    while True:
        try:
            data = line.recv(65_536)
        except OSError:
            return
        if not data:
            return
        yield data


def _hang_up(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other side was faster
    line.close()
