"""The log of a chat: who wrote a line and when. No words: the replay makes its own, which say which line they are."""

import csv
import datetime as dt
import random
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("conversation_id", "seq", "sent_at", "sender", "role")


class UnreadableChat(Exception):
    """Says in one line what is wrong with the file."""


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    at: dt.datetime
    sender: str
    from_customer: bool


@dataclass(frozen=True, slots=True)
class Chat:
    name: str
    lines: tuple[Line, ...]


def read(path: Path) -> list[Chat]:
    """In the order of the file. Raises UnreadableChat."""
    found: dict[str, list[Line]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if missing := [name for name in NEEDED if name not in (rows.fieldnames or ())]:
                raise UnreadableChat(f"{path} has no column {', '.join(missing)}.")
            for row in rows:
                found.setdefault(row["conversation_id"], []).append(_line(row, f"{path}, line {rows.line_num}"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableChat(f"{path} cannot be read: {error}") from None
    if not found:
        raise UnreadableChat(f"{path} holds no conversation.")
    # Several lines carry the same second, so the source's own order decides.
    return [Chat(name, tuple(sorted(lines, key=lambda line: line.number))) for name, lines in found.items()]


def _line(row: dict[str, str], where: str) -> Line:
    try:
        number, at = int(row["seq"]), dt.datetime.fromisoformat(row["sent_at"])
    except (TypeError, ValueError):
        raise UnreadableChat(f"{where}: seq is a whole number and sent_at a time.") from None
    if row["role"] not in ("customer", "agent"):
        raise UnreadableChat(f"{where}: role is customer or agent, not {row['role']!r}.")
    return Line(number, at, row["sender"] or "", row["role"] == "customer")


def pick(chats: list[Chat], count: int | None, *, seed: int) -> list[Chat]:
    """So many of them, by the seed's choice, in their order; all for None."""
    if count is None or count >= len(chats):
        return chats
    chosen = set(random.Random(f"{seed}:pick").sample(range(len(chats)), count))
    return [chat for place, chat in enumerate(chats) if place in chosen]
