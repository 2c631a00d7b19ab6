"""MergePolicy: per model, what happens to a field that two authors changed from the same base.

Guarantees a deterministic answer for every field: what is not declared is *refused*. A policy carries a version and the
process owner who agreed to it. Next in the flow: `conflicts/merging.py`, which carries it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from django.utils.translation import gettext_lazy as _


class Rule(StrEnum):
    REFUSE = "refuse"
    HUMAN_WINS = "human_wins"
    APPEND = "append"
    ADD = "add"
    LATEST = "latest"

    @property
    def words(self) -> str:
        return _WORDS[self]  # type: ignore[return-value]


_WORDS = {
    Rule.REFUSE: _("a person decides"),
    Rule.HUMAN_WINS: _("a person's value beats an agent's"),
    Rule.APPEND: _("both are kept"),
    Rule.ADD: _("the differences are added up"),
    Rule.LATEST: _("the later one counts"),
}


@dataclass(frozen=True, kw_only=True)
class MergePolicy:
    version: int = 1
    owner: str = ""
    """Who answers for these rules in the business."""
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def rule(self, name: str) -> Rule:
        return self.rules.get(name, Rule.REFUSE)
