"""The table and the JSON of `manage.py race`."""

from collections.abc import Iterable
from typing import Any

from config.lab.running import Line

KEYS = (
    "scenario",
    "mode",
    "rounds",
    "effects",
    "wrong",
    "conflicts",
    "merged",
    "superseded",
    "duplicates",
    "seconds",
    "seed",
)
COLUMNS = KEYS[:-1]


def as_json(line: Line) -> dict[str, Any]:
    return {key: getattr(line, key) for key in KEYS}


def rows(lines: Iterable[Line]) -> list[str]:
    """One line of text each, in columns, under a head."""
    cells = [list(COLUMNS)] + [[_cell(getattr(line, key)) for key in COLUMNS] for line in lines]
    widths = [max(len(row[column]) for row in cells) for column in range(len(COLUMNS))]
    return ["  ".join(_set(text, widths[n], left=n < 2) for n, text in enumerate(row)).rstrip() for row in cells]


def _cell(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _set(text: str, width: int, *, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)
