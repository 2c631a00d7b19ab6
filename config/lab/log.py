"""The event log: who saved what to which case and when, as saves that know what their writer had seen.

A log says when something was saved, not when its writer had opened the record. We derive it: a writer has seen their
own saves, and whatever was saved more than some minutes (THINKING) before they saved themselves; what others saved
within that time lay between their reading and their saving. So both writers of a near pair have read before either
saves.

What a save changed is the difference between its row and the row before it. Next: `config/lab/replaying.py`.
"""

import csv
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

THINKING = dt.timedelta(minutes=2)
FIELDS = ("state", "assigned_to", "assignment_group", "priority", "made_sla")
"""The columns that are content. The others are derived from them (counters, `active`) or never change."""
NEEDED = (*FIELDS, "case_id", "updated_at", "actor", "actor_kind")


class UnreadableLog(Exception):
    """The file is not an event log; says what is missing, and where."""


@dataclass(frozen=True, slots=True)
class Save:
    """One row: a save of one case."""

    case: str
    place: int
    """Which save of its case it is, from 0, the one that made it."""
    at: dt.datetime
    actor: str
    automatic: bool
    row: Mapping[str, str]
    changed: Mapping[str, str]
    """The fields that this save set; empty if it changed something that the log does not show."""
    thinking: dt.timedelta = THINKING

    def had_seen(self, earlier: "Save") -> bool:
        return earlier.place == 0 or earlier.actor == self.actor or earlier.at < self.at - self.thinking


def read(path: Path, *, limit: int | None = None, thinking: dt.timedelta = THINKING) -> list[list[Save]]:
    """The saves, case by case, each in the order of the log. Raises UnreadableLog."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if missing := [name for name in NEEDED if name not in (rows.fieldnames or ())]:
                raise UnreadableLog(f"{path} has no column {', '.join(missing)}.")
            kept = [row for _, row in zip(range(limit), rows, strict=False)] if limit is not None else list(rows)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableLog(f"{path} cannot be read: {error}.") from None
    return [_saves(list(of_case), path, thinking) for _, of_case in groupby(kept, key=lambda row: row["case_id"])]


def _saves(rows: Sequence[Mapping[str, str]], path: Path, thinking: dt.timedelta) -> list[Save]:
    return [
        Save(
            case=row["case_id"],
            place=place,
            at=_moment(row["updated_at"], path),
            actor=row["actor"],
            automatic=row["actor_kind"] == "automation",
            row=row,
            changed={name: row[name] for name in FIELDS if place == 0 or row[name] != rows[place - 1][name]},
            thinking=thinking,
        )
        for place, row in enumerate(rows)
    ]


def _moment(text: str, path: Path) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    except ValueError:
        raise UnreadableLog(f"{path}: {text!r} is not a time.") from None
