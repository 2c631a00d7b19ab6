"""Building conversations in tests: an account, a customer who writes, a responder that says what the test wants."""

import datetime as dt
import itertools
from collections.abc import Callable
from typing import Any

from agents.responders.port import Answer, Prompt
from conflicts import running
from conflicts.clock import database_now
from conflicts.partitions import count
from crm import accepting
from crm.channels.events import Incoming
from crm.models import ChannelAccount, Conversation, ReplyTimer
from tests import cast

_numbers = itertools.count(1)


def account(**values: Any) -> ChannelAccount:
    """The web chat of the shop; `quiet_seconds` 0 and `cap_seconds` 0 unless said otherwise: due at once."""
    address = values.pop("address", "shop")
    if found := ChannelAccount.objects.filter(address=address).first():
        return found
    given = {"name": "Shop", "provider": "webchat", "medium": "webchat", "quiet_seconds": 0, "cap_seconds": 0} | values
    cast.propose("channel.create", by=cast.manager(), address=address, **given)
    return ChannelAccount.objects.get(address=address)


def writes(text: str = "Hello", *, to: ChannelAccount | None = None, peer: str = "ana", **more: Any) -> Conversation:
    """The customer writes; the conversation as it is afterwards."""
    event = Incoming(provider_id=more.pop("provider_id", f"m{next(_numbers)}"), peer=peer, text=text, **more)
    [taken] = accepting.take(to or account(), [event])
    assert taken.conversation is not None
    return Conversation.objects.get(pk=taken.conversation)


class Says:
    """A responder that says `text`, or what `text(prompt)` returns; keeps the prompts it was asked with."""

    name = "says"

    def __init__(self, text: str | Callable[[Prompt], Answer | str] = "Here you are.") -> None:
        self.text = text
        self.prompts: list[Prompt] = []

    def answer(self, prompt: Prompt) -> Answer:
        self.prompts.append(prompt)
        said = self.text(prompt) if callable(self.text) else self.text
        return said if isinstance(said, Answer) else Answer(text=said, calls=1)


def deliver() -> None:
    """Run every job that is due, deliveries among them, as the workers would."""
    while any(running.run_next(partition) is not None for partition in range(count())):
        pass  # what one of them does may be work for a partition that was empty before


def due_in(conversation: Conversation) -> dt.timedelta | None:
    timer = ReplyTimer.objects.get(conversation=conversation)
    return timer.due_at - database_now() if timer.due_at else None
