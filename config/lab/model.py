"""A language model as far as a race needs one: a call that is answered when the race says so."""

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from config.lab.crew import WAIT


class Model:
    """Answers at once, or, once it was told to be slow, when it is told to answer."""

    def __init__(self) -> None:
        self._called, self._may_answer = threading.Event(), threading.Event()
        self._may_answer.set()
        called, may_answer = self._called, self._may_answer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                called.set()
                may_answer.wait(WAIT)
                with suppress(OSError):  # whoever asked may be dead by now
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(b"Dear Rui, here is our offer.")

            def log_message(self, format: str, *args: object) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, name="model", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._may_answer.set()
        self._server.shutdown()
        self._server.server_close()

    def be_slow(self) -> None:
        self._called.clear()
        self._may_answer.clear()

    def wait_for_a_call(self) -> None:
        if not self._called.wait(WAIT):
            raise TimeoutError("Nobody called the model.")

    def answer(self) -> None:
        self._may_answer.set()
