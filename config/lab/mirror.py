"""The mirror: an outside system that can only be overwritten, with the troubles that such systems have.

It takes no version and no key; whoever writes last has it. What arrived there, in which order, is the judge's business.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any

from conflicts import destinations
from conflicts.destinations import Found, Missing, ReadBack
from conflicts.models import OutboxMessage
from conflicts.sentences import Sentence


class Fate(StrEnum):
    """What becomes of the first sending of a message."""

    ARRIVES = "arrives"
    ANSWER_LOST = "answer lost"
    """It arrived, and the sender hears of a time-out."""
    NEVER_ARRIVED = "never arrived"
    """The sender hears of a time-out."""
    OVERWRITTEN = "overwritten"
    """It arrived, and before anybody looks somebody else has written there."""


SOMEBODY_ELSE = 0


@dataclass
class Place:
    """What the mirror knows of one deal."""

    arrived: list[int] = field(default_factory=list)
    """Versions, in the order in which they were written there."""
    fates: dict[int, Fate] = field(default_factory=dict)

    @property
    def held(self) -> int | None:
        return self.arrived[-1] if self.arrived else None


class Mirror:
    name = "lab.mirror"
    conditional = False
    settles_in = 0.0

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self._lock = Lock()

    def send(self, key: str, payload: dict[str, Any]) -> str:
        place, version = self._place(key)
        with self._lock:
            fate = place.fates.pop(version, Fate.ARRIVES)
            if fate is not Fate.NEVER_ARRIVED:
                place.arrived.append(version)
            if fate is Fate.OVERWRITTEN:
                place.arrived.append(SOMEBODY_ELSE)
        if fate in (Fate.ANSWER_LOST, Fate.NEVER_ARRIVED):
            raise TimeoutError
        return key

    def read_back(self, key: str) -> ReadBack:
        place, version = self._place(key)
        if place.held == version:
            return Found(remote_id=key)
        # Ours may have been there and be overwritten by now: only an older one of ours says that it never came.
        older = place.held is None or (place.held != SOMEBODY_ELSE and place.held < version)
        return Missing.ABSENT if older and version not in place.arrived else Missing.CANNOT_TELL

    def last_look(self, message: OutboxMessage) -> Sentence | None:
        return None

    def _place(self, key: str) -> tuple[Place, int]:
        deal, _, version = key.rpartition("@")
        return self.places[deal], int(version)


MIRROR = Mirror()
destinations.register(MIRROR)
