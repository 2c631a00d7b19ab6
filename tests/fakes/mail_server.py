"""A mail server on this machine that keeps what it took, and can refuse or fall silent where a test says."""

import email
import email.policy
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller


class Box:
    """`refuse`: the answer to a recipient. `cut`: the line breaks after the text was taken, before the answer."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refuse = ""
        self.cut = False

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if self.refuse:
            return self.refuse
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.mails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))  # type: ignore[arg-type]
        if self.cut:
            server.transport.abort()
        return "250 taken"


@contextmanager
def mail_server() -> Iterator[tuple[int, Box]]:
    """The port, and the box."""
    box = Box()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield port, box
    finally:
        controller.stop()
