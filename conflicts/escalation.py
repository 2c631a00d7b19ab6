"""Escalation: a conflict that nobody decided in time goes to the next authority up.

Guarantees that each step is one act of the gate under a key of its own, so that it happens once however many watches
look at once; that whoever is deciding right now is not interrupted; and that where nobody is further up it stays with
the last. Rows are the truth: every round of the watch asks them (conflicts/watching.py).
"""

import logging

from conflicts import claims, gate, review
from conflicts.actors import SYSTEM
from conflicts.clock import ClockTimestamp
from conflicts.models import Conflict, DecisionKind, Why
from conflicts.proposals import Proposal

logger = logging.getLogger(__name__)

TOP = 2
"""Steps up: from whom it began with to the team's manager, from there to an administrator."""

AT_ONCE = 200


def escalate_due() -> int:
    """One step for each that is over its deadline. Returns how many moved."""
    due = Conflict.objects.waiting().filter(deadline__lt=ClockTimestamp(), level__lt=TOP)
    rows = list(due.select_related("responsible").order_by("deadline", "id")[:AT_ONCE])
    held = claims.holders(row.pk for row in rows) if rows else {}
    wishes = []
    for row in rows:
        if row.pk in held:
            continue  # somebody is at it; when the claim ends the next round sees
        account = review.desk().next_up(row)
        if account is None:
            Conflict.objects.waiting().filter(pk=row.pk, level=row.level).update(level=TOP)
            logger.info("Conflict %s is over its deadline, and nobody is further up.", row.pk)
            continue
        wishes.append(_step(row, to=account.pk))
    return sum(outcome.written for outcome in gate.commit_many(wishes)) if wishes else 0


def _step(row: Conflict, *, to: int) -> Proposal:
    return Proposal(
        action=f"conflict.{DecisionKind.ESCALATE}",
        by=SYSTEM,
        params={"conflict": row.pk, "reason": Why.OVERDUE.value, "revision": row.revision, "to": to},
        # Of the step, not of the round: whoever is second finds the first one's answer.
        key=f"conflict:{row.pk}:escalate:{row.level}:{row.revision}",
        source=f"deadline:{row.pk}",
        settles=row.pk,
        settles_at=row.revision,
    )
