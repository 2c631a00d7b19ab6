"""Destinations as a program would write them for the fake server: one that minds keys, one that can only overwrite."""

import http.client
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from conflicts.destinations import Found, Missing, NotAccepted, NotSent, ReadBack
from conflicts.models.outbox import OutboxMessage
from conflicts.sentences import Sentence


class Mailbox:
    """Takes each key once."""

    conditional = True
    settles_in = 0.0

    def __init__(self, name: str, port: int, *, seconds: float = 5.0) -> None:
        self.name = name
        self.port = port
        self.seconds = seconds
        self.objection: Callable[[OutboxMessage], Sentence | None] = lambda message: None

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.seconds)
        try:
            try:
                line.connect()
            except OSError as error:
                raise NotSent("nobody is there") from error
            line.request(method, path, json.dumps(body) if body else None)
            answer = line.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            line.close()

    def write(self, method: str, path: str, key: str, payload: dict[str, Any]) -> str:
        status, body = self.ask(method, path, {"key": key, "payload": payload})
        if status == 503:
            raise NotSent("not now")
        if status == 422:
            raise NotAccepted(body["error"])
        if status != 201:
            raise OSError(status)
        return str(body["id"])

    def send(self, key: str, payload: dict[str, Any]) -> str:
        return self.write("POST", "/messages", key, payload)

    def read_back(self, key: str) -> ReadBack:
        status, body = self.ask("GET", f"/messages/{quote(key, safe='')}")
        if status == 501:
            return Missing.CANNOT_TELL
        return Found(str(body["id"])) if status == 200 else Missing.ABSENT

    def last_look(self, message: OutboxMessage) -> Sentence | None:
        return self.objection(message)


class Record(Mailbox):
    """Holds one record, which the last writer overwrites."""

    conditional = False

    def __init__(self, name: str, port: int, *, seconds: float = 5.0, settles_in: float = 0.0) -> None:
        super().__init__(name, port, seconds=seconds)
        self.settles_in = settles_in

    def send(self, key: str, payload: dict[str, Any]) -> str:
        return self.write("PUT", "/record", key, payload)

    def read_back(self, key: str) -> ReadBack:
        status, body = self.ask("GET", "/record")
        if status == 501:
            return Missing.CANNOT_TELL
        return Found(str(body["id"])) if status == 200 and body["key"] == key else Missing.ABSENT
