"""The plan: which line is said when, in seconds of the replay.

Pauses keep their true length up to what can matter (Pace.longest_pause); longer ones are cut to that. Conversations
begin at moments that the seed spreads so that all fit into the time of the longest one: about as many run side by side
at any time.

A line of the role `agent` is a person's: said on our screen or, by the seed's choice, on the phone, whose echo we hear.
Either takes the conversation over. Right before the customer's next line the person gives it back, so that what follows
is the agent's again: the replay wants both owners in one conversation, as often as the log changes between them.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from config.lab.chat.log import Chat
from config.lab.chat.pace import Pace


class Voice(StrEnum):
    CUSTOMER = "customer"
    SCREEN = "screen"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Said:
    at: float
    number: int
    voice: Voice
    who: str
    given_back: bool = False
    """A person had the conversation until this line."""


@dataclass(frozen=True, slots=True)
class Part:
    """One conversation's lines, in order."""

    name: str
    lines: list[Said] = field(default_factory=list)


def lay_out(chats: Sequence[Chat], pace: Pace) -> list[Part]:
    lengths = [_offsets(chat, pace) for chat in chats]
    whole = max(offsets[-1] for offsets in lengths)
    parts = []
    for chat, offsets in zip(chats, lengths, strict=True):
        dice = random.Random(f"{pace.seed}:{chat.name}")
        start = dice.uniform(0, whole - offsets[-1])
        said, persons = [], False
        for line, offset in zip(chat.lines, offsets, strict=True):
            voice = Voice.CUSTOMER if line.from_customer else dice.choice([Voice.SCREEN, Voice.PHONE])
            back = persons and line.from_customer
            said.append(Said(pace.real(start + offset), line.number, voice, line.sender, back))
            persons = not line.from_customer
        parts.append(Part(chat.name, said))
    return parts


def _offsets(chat: Chat, pace: Pace) -> list[float]:
    offsets = [0.0]
    for before, line in zip(chat.lines, chat.lines[1:], strict=False):
        pause = max(0.0, (line.at - before.at).total_seconds())
        offsets.append(offsets[-1] + min(pause, pace.longest_pause))
    return offsets


def seconds(parts: Sequence[Part]) -> float:
    return max(part.lines[-1].at for part in parts)


def text_of(name: str, number: int) -> str:
    """What the replay's customers write: which line it is, and nothing else."""
    return f"{name}/{number}"
