"""MergePolicy: per model, what becomes of two changes that meet.

Guarantees a deterministic answer for every field and every state: what is not declared is *refused*. A policy carries a
version and the process owner who agreed to it; one that names an unknown field or state refuses to start
(conflicts/checks.py), and the admin shows it as it is declared (conflicts/admin/policies.py). Next in the flow:
`conflicts/merging.py`, which puts fields together, and `conflicts/policing.py`, which holds the rest against a change.
"""

import hashlib
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


class Authority(StrEnum):
    """What a conflict may be about, beyond what everybody may settle. Who has it is the product's to say."""

    AMOUNT = "amount"
    DISCOUNT = "discount"
    LEGAL = "legal"

    @property
    def words(self) -> str:
        return _AUTHORITY[self]  # type: ignore[return-value]


_AUTHORITY = {
    Authority.AMOUNT: _("amounts"),
    Authority.DISCOUNT: _("discounts"),
    Authority.LEGAL: _("legal terms"),
}


@dataclass(frozen=True, kw_only=True)
class MergePolicy:
    """Names are fields of the model or aspects of its children, states are values of its `state_field`."""

    version: int = 1
    """Raised with every change of what stands below: an approval holds under the rules it was given under."""
    owner: str = ""
    """Who answers for these rules in the business."""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    """Fields that are merged, and how; a person decides about every other."""
    derived: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Fields that nobody writes: each with what it is recalculated from."""
    exclusive: frozenset[str] = frozenset()
    """States of which only the first to come counts; whoever wanted another of them is asked."""
    terminal: frozenset[str] = frozenset()
    """States in which no agent does anything any more, besides those that have no way out."""
    voids_approval: frozenset[str] = frozenset()
    """A change of these makes a yes void, also where the proposal did not rest on it."""
    demands_reread: frozenset[str] = frozenset()
    """A change of these makes all that a machine had read before worthless: it reads again, and decides again."""
    authority: Mapping[str, Authority] = field(default_factory=dict)
    """A conflict about these is settled by somebody with that authority."""

    def rule(self, name: str) -> Rule:
        return self.rules.get(name, Rule.REFUSE)

    @property
    def names(self) -> frozenset[str]:
        """Every field and aspect it speaks of."""
        sources = frozenset().union(*self.derived.values()) if self.derived else frozenset()
        return frozenset(
            {*self.rules, *self.derived, *sources, *self.voids_approval, *self.demands_reread, *self.authority}
        )

    @property
    def mark(self) -> str:
        """Version and content in one short text: two marks are equal only if the rules are."""
        content = repr(
            (
                sorted(self.rules.items()),
                sorted((name, sorted(sources)) for name, sources in self.derived.items()),
                *(sorted(names) for names in (self.exclusive, self.terminal, self.voids_approval, self.demands_reread)),
                sorted(self.authority.items()),
            )
        )
        return f"{self.version}.{hashlib.sha256(content.encode()).hexdigest()[:8]}"
