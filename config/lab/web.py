"""The web server as a race needs it: the product's own application, started by the product's own words, to be killed.

Besides the product's routes it has one that is written the usual way: no version, no key. Signed in as somebody through
the session table, and talked to by `Browser`, who sends a form and may leave before the answer.
"""

import http.client
import secrets
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from config.embedded.processes import until
from config.lab.crew import WAIT
from config.lab.processes import Process
from config.management.commands import run
from crm.models import User

HOST = run.HOST


class Web:
    """One server process at a time, always on the same port."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind((HOST, 0))
            self.port = int(free.getsockname()[1])
        self.process: Process | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        words = run.web(self.port, 1).command
        self.process = Process(
            [word if word != "config.asgi:application" else "config.lab.web_application:application" for word in words]
        )
        if not until(lambda: run.answers(self.port), seconds=WAIT):
            raise RuntimeError(f"The web server did not start: {self.process.last_words()}")

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process = None

    def ask_to_end(self) -> None:
        assert self.process is not None
        self.process.ask_to_end()

    def ended(self) -> bool:
        """By itself, in the time that its supervisor gives it."""
        assert self.process is not None
        [(_, seconds)] = run.web(self.port, 1).ending
        return self.process.ended(seconds=seconds)


class Browser:
    """Sends the same form as often as its person presses the button."""

    def __init__(self, port: int, user: User) -> None:
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        token = secrets.token_hex(16)
        self._port = port
        self._headers = {
            "Cookie": f"{settings.SESSION_COOKIE_NAME}={session.session_key}; {settings.CSRF_COOKIE_NAME}={token}",
            "X-CSRFToken": token,
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def press(self, path: str, form: Mapping[str, str]) -> http.client.HTTPConnection:
        """The form is on its way; the answer is read by whoever wants it."""
        line = http.client.HTTPConnection(HOST, self._port, timeout=WAIT)
        line.request("POST", path, urlencode(form), self._headers)
        return line


def status(line: http.client.HTTPConnection) -> int:
    """0 where no answer came."""
    try:
        return line.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        line.close()
