"""How much a stranger may send: looked at while it comes in, before anybody keeps it.

Guarantees that of a post to a webhook no more is read than may be: Django's own door would first write the whole of it
to the disk. Pages keep Django's limits. Next in the flow: `config/urls.py`.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from crm.middleware import WEBHOOKS
from crm.views.webhooks import LARGEST

type Message = Mapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def limited(application: App) -> App:
    """`application` behind that look."""

    async def look_first(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(WEBHOOKS):
            await application(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > LARGEST:
            await _too_large(send)
            return
        count, over = 0, False

        async def counted() -> Message:
            nonlocal count, over
            message = await receive()
            count += len(message.get("body", b""))
            if count > LARGEST:
                over = True
                return {"type": "http.disconnect"}  # the application lets go of what it has
            return message

        async def unless_over(message: Message) -> None:
            if not over:
                await send(message)

        await application(scope, counted, unless_over)
        if over:
            await _too_large(send)

    return look_first


async def _too_large(send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": b"refused"})
