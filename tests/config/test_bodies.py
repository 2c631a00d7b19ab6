"""What a stranger sends to a webhook is counted while it comes in; pages keep Django's own limits."""

import asyncio
from collections.abc import Iterable
from typing import Any

from config.bodies import limited
from crm.views.webhooks import LARGEST


def send(path: str, pieces: Iterable[bytes], *, declared: int | None = None) -> tuple[list[Any], int, bool]:
    """(what was answered, bytes that were asked for, whether the application was called)."""
    answered: list[Any] = []
    asked, called = 0, False
    waiting = iter(pieces)

    async def receive() -> dict[str, Any]:
        nonlocal asked
        piece = next(waiting, None)
        asked += len(piece or b"")
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def answer(message: Any) -> None:
        answered.append(message)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        nonlocal called
        called = True
        while (message := await receive())["type"] == "http.request" and message["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    headers = [] if declared is None else [(b"content-length", str(declared).encode())]
    scope = {"type": "http", "path": path, "headers": headers}
    asyncio.run(limited(application)(scope, receive, answer))
    return answered, asked, called


def status(answered: list[Any]) -> int:
    [one] = [message["status"] for message in answered if message["type"] == "http.response.start"]
    return int(one)


def test_a_body_that_says_it_is_too_large_is_not_even_asked_for() -> None:
    answered, asked, called = send("/webhooks/whatsapp/", [b"x" * 1000], declared=5 * 1024 * 1024)
    assert (status(answered), asked, called) == (413, 0, False)


def test_a_body_that_hides_its_length_is_left_where_it_becomes_too_large() -> None:
    piece = b"x" * (1024 * 1024)
    answered, asked, _ = send("/webhooks/twilio/", [piece] * 50)
    assert status(answered) == 413
    assert asked == LARGEST + len(piece)


def test_a_body_that_fits_passes_untouched() -> None:
    answered, asked, called = send("/webhooks/whatsapp/", [b"x" * LARGEST], declared=LARGEST)
    assert (status(answered), asked, called) == (200, LARGEST, True)


def test_pages_are_left_alone() -> None:
    answered, _, called = send("/deals/", [b"x" * (LARGEST + 1)], declared=LARGEST + 1)
    assert (status(answered), called) == (200, True)
