"""Autonomy: per action, how far an agent may go on its own. The table is the administrator's (AutonomyPolicy).

suggest   shown on the deal; whoever may change the deal may say yes
ask       waits for the yes of the deal's owner or a manager
act       carried out at once, through the gate; above the amount limit it asks
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from agents.models import AutonomyPolicy, Mode


@dataclass(frozen=True, slots=True)
class Autonomy:
    """The whole table, read once for a sweep."""

    rows: Mapping[str, tuple[str, Decimal | None]]

    @classmethod
    def load(cls) -> "Autonomy":
        found = AutonomyPolicy.objects.values_list("action", "mode", "amount_limit")
        return cls({action: (mode, limit) for action, mode, limit in found})

    def mode(self, action: str, *, amount: Decimal | None) -> Mode:
        """An action without a row is only suggested. Under a limit, a deal without an amount is asked about."""
        mode, limit = self.rows.get(action, (Mode.SUGGEST, None))
        if mode == Mode.ACT and limit is not None and (amount is None or amount > limit):
            return Mode.ASK
        return Mode(mode)
