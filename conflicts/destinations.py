"""Destinations: what the delivery must know of a place outside, and nothing else.

Guarantees a small vocabulary for how a sending ended. Whatever a destination raises besides `NotSent` and `NotAccepted`
means that nobody knows, and is treated so. Next in the flow: `conflicts/delivery.py`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from conflicts.exceptions import KernelError
from conflicts.models.outbox import OutboxMessage
from conflicts.sentences import Sentence


class NotSent(Exception):
    """It surely did not arrive (no connection, an answer that says so): it may be sent again."""


class NotAccepted(Exception):
    """The destination has read it and will never take it. Its words are kept and shown: no secrets in them."""


@dataclass(frozen=True, slots=True)
class Found:
    remote_id: str


class Missing(Enum):
    ABSENT = "absent"
    """It is surely not there now."""
    CANNOT_TELL = "cannot_tell"


type ReadBack = Found | Missing


class Destination(Protocol):
    name: str
    conditional: bool
    """It takes a key only once, however often it is sent: then sending again can do no harm. A destination that can
    only overwrite says False, and is served under a lease, with a look before and after."""
    settles_in: float
    """Seconds after which a sending that was begun can no longer arrive; asked of those that are not conditional."""

    def send(self, key: str, payload: dict[str, Any]) -> str:
        """The number it got there. Within a time-out of its own, well below a minute."""

    def read_back(self, key: str) -> ReadBack:
        """What became of it there. May raise: then it is asked again later."""

    def last_look(self, message: OutboxMessage) -> Sentence | None:
        """Why it must not be sent any more (consent withdrawn, a person took over), or None. Asked right before."""


def title(destination: Destination) -> str:
    """What people call it (`title`), where it says so."""
    return str(getattr(destination, "title", "") or destination.name)


def trusted(destination: Destination) -> bool:
    """True where a yes stays true: a key is taken once, or each sending makes something new (`appends = True`: a mail,
    a message), so that nobody can overwrite what it said yes to."""
    return destination.conditional or bool(getattr(destination, "appends", False))


@runtime_checkable
class Listening(Protocol):
    """A destination that wants to be told how a delivery ended."""

    def ended(self, message: OutboxMessage, state: str) -> None:
        """Called in the transaction that notes `sent` or `failed`: what it writes is there if, and only if, that is."""


def tell(message: OutboxMessage, state: str) -> None:
    """Its destination, if it listens and is known here, hears how it ended. In the transaction that notes the end."""
    listening: object = _DESTINATIONS.get(message.destination)
    if isinstance(listening, Listening):
        listening.ended(message, state)


class UnknownDestination(KernelError):
    """No destination of that name is registered."""


_DESTINATIONS: dict[str, Destination] = {}


def register(destination: Destination) -> None:
    """Raises ValueError if another one has that name."""
    if _DESTINATIONS.setdefault(destination.name, destination) is not destination:
        raise ValueError(f"The destination {destination.name!r} is already registered.")


def get(name: str) -> Destination:
    """Raises UnknownDestination."""
    try:
        return _DESTINATIONS[name]
    except KeyError:
        raise UnknownDestination(f"There is no destination {name!r}.") from None
