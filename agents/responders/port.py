"""The port of a responder: what it is given and what it may say. Values; it has no other way to act.

Guarantees by its shape that a responder cannot choose a recipient, write a row or speak to anybody: it gets one
conversation's public facts and returns words, or hands over. It is called outside any transaction, and may take as long
as `settings.VIGENTE_MODEL_TIMEOUT` per request, twice.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message in the thread. What a customer wrote is data, whatever it says."""

    ours: bool
    text: str
    at: dt.datetime
    media: int = 0
    """How many attachments came with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What may be said to this customer: their own deal's public side, and our hours."""

    contact: str
    workspace: str
    language: str
    now: dt.datetime
    zone: str
    deal: str = ""
    stage: str = ""
    deal_open: bool = False
    product: str = ""
    owner: str = ""
    opens_at: dt.time | None = None
    closes_at: dt.time | None = None
    open_days: str = ""
    templates: Mapping[str, str] = field(default_factory=dict)
    """Slug -> text with the facts filled in, of the stage and language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything that is pending, to be answered at once."""

    conversation: int
    counter: int
    thread: tuple[Line, ...]
    """The last lines before, oldest first."""
    pending: tuple[Line, ...]
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Words for the customer; or, with `hand_over`, a person has to answer (a code of crm's HandOver.reason)."""

    text: str = ""
    hand_over: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0
    """Requests made to a model."""


class Responder(Protocol):
    name: str

    def answer(self, prompt: Prompt) -> Answer:
        """Raises anything where it could not write: the turn has failed and is tried again."""
