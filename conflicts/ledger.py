"""The ledger: the first answer under an idempotency key, written in the transaction of its effect."""

from collections.abc import Sequence

from conflicts import writing
from conflicts.models import LedgerEntry
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal

ABOUT_THE_ASKER = frozenset({"key_reused", "lease_expired", "approval_of_other_content"})
"""Refusals that say nothing about the work: whoever has the right content, the lease or the yes may still do it. Kept
under the unit's key, such an answer would be given to its rightful holder as well, and the work never done."""


def write(proposals: Sequence[Proposal], outcomes: Sequence[Outcome]) -> None:
    """Keep what was answered. The unique key decides between two that raced for it."""
    entries = [
        LedgerEntry(key=p.key, fingerprint=p.fingerprint, actor=str(p.by)[:200], answer=outcome.as_json())
        for p, outcome in zip(proposals, outcomes, strict=True)
        if p.key and outcome.result is not Result.DUPLICATE and not _about_the_asker(outcome)
    ]
    if entries:
        writing.insert(entries)


def _about_the_asker(outcome: Outcome) -> bool:
    return outcome.sentence is not None and outcome.sentence.code in ABOUT_THE_ASKER
