"""The ledger: the first answer under an idempotency key, written in the transaction of its effect."""

from collections.abc import Sequence

from conflicts import writing
from conflicts.models import LedgerEntry
from conflicts.outcomes import Outcome, Result
from conflicts.work import Send, Work

ABOUT_THE_ASKER = frozenset(
    {"key_reused", "key_unusable", "lease_expired", "settled_meanwhile", "held_by", "revised_meanwhile"}
    | {"waits_for_authority"}
    | {"approval_of_other_content", "approval_expired", "approval_of_other_rules", "approval_without_right"}
)
"""Refusals that say nothing about the work: whoever has the right content, the lease or the yes may still do it. Kept
under the unit's key, such an answer would be given to its rightful holder as well, and the work never done."""


def write(works: Sequence[Work], outcomes: Sequence[Outcome]) -> None:
    """Keep what was answered, and whether it reached outside (conflicts/pruning.py leaves those alone).

    The unique key decides between two that raced for it.
    """
    entries = [
        LedgerEntry(
            key=work.proposal.key,
            fingerprint=work.proposal.fingerprint,
            actor=str(work.by)[:200],
            answer=outcome.as_json(),
            outbound=outcome.written and any(isinstance(effect, Send) for effect in work.effects),
        )
        for work, outcome in zip(works, outcomes, strict=True)
        if work.proposal.key and outcome.result is not Result.DUPLICATE and not _about_the_asker(outcome)
    ]
    if entries:
        writing.insert(entries)


def _about_the_asker(outcome: Outcome) -> bool:
    return outcome.sentence is not None and outcome.sentence.code in ABOUT_THE_ASKER
