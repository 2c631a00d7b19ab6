"""Three-way merge of one field: base / current / proposed.

Guarantees that it never invents a value (the result is the current one, the proposed one, or what the declared rule
builds from both), that equal values agree (but for counters), and that the answer depends on its arguments alone.
Next in the flow: `conflicts/gate.py`.
"""

from dataclasses import dataclass
from decimal import Decimal

from conflicts.actors import Actor
from conflicts.policies import Rule
from conflicts.values import Value


@dataclass(frozen=True, slots=True)
class Merged:
    value: Value


@dataclass(frozen=True, slots=True)
class Unmerged:
    """Nobody but a person can tell which of the two it should be."""

    base: Value
    current: Value
    proposed: Value


def merge(
    *,
    rule: Rule,
    base: Value,
    current: Value,
    proposed: Value,
    theirs: Actor,
    mine: Actor,
) -> Merged | Unmerged:
    """`theirs` wrote `current`, `mine` proposes `proposed`; both began at `base`."""
    if proposed == base:
        return Merged(current)
    if current == base:
        return Merged(proposed)
    if current == proposed and rule is not Rule.ADD:  # two who counted one each have counted two
        return Merged(current)
    clash = Unmerged(base, current, proposed)
    match rule:
        case Rule.HUMAN_WINS if theirs.is_person != mine.is_person:
            return Merged(current if theirs.is_person else proposed)
        case Rule.APPEND:
            return _append(base, current, proposed) or clash
        case Rule.ADD:
            return Merged(str(Decimal(str(current or 0)) + Decimal(str(proposed or 0)) - Decimal(str(base or 0))))
        case Rule.LATEST if current is not None and proposed is not None:
            return Merged(max(str(current), str(proposed)))
    return clash


def _append(base: Value, current: Value, proposed: Value) -> Merged | None:
    """Lists: what either added is in, what either took out is out. Texts: both endings, if both only added lines."""
    if isinstance(current, list) and isinstance(proposed, list):
        start = base if isinstance(base, list) else []
        gone = [item for item in start if item not in proposed or item not in current]
        kept = [item for item in current if item not in gone]
        return Merged(kept + [item for item in proposed if item not in kept and item not in gone])
    if isinstance(current, str) and isinstance(proposed, str):
        start_text = str(base or "")
        theirs, mine = _lines_after(start_text, current), _lines_after(start_text, proposed)
        if theirs is not None and mine is not None:
            return Merged("\n".join(part for part in (start_text.rstrip("\n"), theirs, mine) if part))
    return None


def _lines_after(start: str, text: str) -> str | None:
    """The lines that `text` adds below `start`; None if it changes `start` itself, or goes on in its last line."""
    if not text.startswith(start):
        return None
    added = text[len(start) :]
    at_a_line = not start or not added or start.endswith("\n") or added.startswith("\n")
    return added.strip("\n") if at_a_line else None
