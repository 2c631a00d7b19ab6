"""The ledger: the first answer under an idempotency key, written in the transaction of its effect."""

from collections.abc import Sequence

from conflicts import writing
from conflicts.models import LedgerEntry
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal


def write(proposals: Sequence[Proposal], outcomes: Sequence[Outcome]) -> None:
    """Keep what was answered. The unique key decides between two that raced for it."""
    entries = [
        LedgerEntry(key=p.key, fingerprint=p.fingerprint, actor=str(p.by)[:200], answer=outcome.as_json())
        for p, outcome in zip(proposals, outcomes, strict=True)
        if p.key and outcome.result is not Result.DUPLICATE and not _key_reused(outcome)
    ]
    if entries:
        writing.insert(entries)


def _key_reused(outcome: Outcome) -> bool:
    return outcome.sentence is not None and outcome.sentence.code == "key_reused"
