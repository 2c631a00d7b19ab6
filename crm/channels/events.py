"""Events: what a provider tells us, in one form for all of them. Values; next in the flow: `crm/accepting.py`."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message of the customer."""

    provider_id: str
    """The provider's number for it: the same one however often it is told."""
    peer: str
    """Whose conversation: the sender's address as the provider writes it; of a mail its thread."""
    reply_to: str = ""
    """Where answers go, if not to `peer`."""
    name: str = ""
    text: str = ""
    media: tuple[dict[str, str], ...] = ()
    sent_at: dt.datetime | None = None
    automatic: bool = False
    """An auto-reply, an out-of-office note, a bounce, a reaction to a message: stored, never answered."""
    imported: bool = False
    """From an archive: stored at its own time, sets nothing off."""
    headers: dict[str, Any] = field(default_factory=dict)
    email: str = ""
    phone: str = ""
    """The addresses by which the contact is found or made."""
    language: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A message of ours that somebody wrote outside Vigente, on the phone for instance."""

    provider_id: str
    peer: str
    text: str = ""
    media: tuple[dict[str, str], ...] = ()
    sent_at: dt.datetime | None = None
    phone: str = ""
    email: str = ""
    headers: dict[str, Any] = field(default_factory=dict)
    reaction: bool = False
    """To a message: it says nothing, answers nothing and takes nobody's conversation over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What became of a message of ours. Changes no consent and gets no answer."""

    provider_id: str
    state: Literal["sent", "delivered", "read", "failed"]
    at: dt.datetime | None = None
    error: str = ""
    key: str = ""
    """Our outbox key, where the provider gives it back."""


type Event = Incoming | Echo | Reported
