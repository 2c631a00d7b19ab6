"""A table of moves, held by the database as well: whoever writes a state writes one that the table leads to."""

from collections.abc import Mapping
from typing import Any

import pgtrigger

from conflicts import guard


class MoveGuard(pgtrigger.FSM, guard.RuleGuard):
    """Refuses an UPDATE that moves `field` as no line of the table does."""

    def __init__(self, *, field: str, table: Mapping[Any, frozenset[Any]]) -> None:
        moves = [(str(old), str(new)) for old, after in table.items() for new in sorted(after)]
        super().__init__(name="moves", field=field, transitions=moves)
