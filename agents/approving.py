"""Giving, using and voiding a yes. Each is one compare-and-swap, in the transaction of what goes with it.

Guarantees that a yes is kept together with the state "approved" or not at all, that it is used at most once (in the
transaction of the effect, or the effect is taken back), and that one which is not used is void with the reason.
Next in the flow: `agents/execution.py`.
"""

import datetime as dt
from collections.abc import Iterable, Sequence

from django.db import transaction

from agents import news
from agents.content import Content, policies
from agents.models import Approval, ApprovalState, Recommendation
from agents.states import State, move
from conflicts import actors, proposals
from conflicts.actors import Actor
from conflicts.clock import ClockTimestamp
from conflicts.sentences import Sentence
from crm.models import User

ALONE = dt.timedelta(hours=24)
TOGETHER = dt.timedelta(minutes=5)
"""Of many that are approved at once nobody remembers each for long."""


def give(
    one: Recommendation, *, by: Actor, now: dt.datetime, content: Content, together: bool = False
) -> Approval | None:
    """The yes, kept with the state it moves; None if somebody else moved the suggestion first."""
    with transaction.atomic():
        if not move(one, of=[State.PROPOSED], to=State.APPROVED, decided_by=str(by), decided_at=now):
            return None
        news.tell(one, by=by)
        return Approval.objects.create(
            recommendation=one,
            revision=one.revision,
            action=one.action,
            params=one.params,
            basis=one.basis,
            policies=policies(one),
            fingerprint=one.proposal().fingerprint,
            content=content.hash,
            shown=content.as_json(),
            together=together,
            given_by=str(by)[:200],
            given_at=now,
            expires_at=now + (TOGETHER if together else ALONE),
        )


def in_force(ones: Iterable[Recommendation]) -> dict[int, proposals.Approval]:
    """Suggestion -> its yes that is not used yet, as the gate takes it, with the giver's account as it is now."""
    wanted = {one.pk: one.revision for one in ones}
    given = Approval.objects.filter(recommendation__in=wanted, state=ApprovalState.GIVEN)
    rows = [row for row in given if row.revision == wanted[row.recommendation_id]]
    people = {str(user.pk): user for user in User.objects.filter(pk__in={int(row.giver.key) for row in rows})}
    return {
        row.recommendation_id: proposals.Approval(
            by=actors.person(people[row.giver.key]) if row.giver.key in people else row.giver,
            fingerprint=row.fingerprint,
            policies=row.policies,
            expires_at=row.expires_at,
        )
        for row in rows
    }


def use(one: Recommendation, *, now: dt.datetime) -> bool:
    """Compare-and-swap; False: it has been used, or is void. Inside the transaction of the effect."""
    return _settle(one, ApprovalState.USED, now=now) == 1


def void(one: Recommendation, *, now: dt.datetime, why: Sentence | None) -> None:
    """Nothing may be done by this yes any more."""
    _settle(one, ApprovalState.VOID, now=now, why=why.as_json() if why else {})


def void_those_of(recommendations: Sequence[int], *, why: Sentence) -> None:
    """Of suggestions that are closed in this transaction, their rows locked by it: every yes not used yet is void."""
    given = Approval.objects.filter(recommendation__in=recommendations, state=ApprovalState.GIVEN)
    given.update(state=ApprovalState.VOID, settled_at=ClockTimestamp(), why=why.as_json())


def _settle(one: Recommendation, to: ApprovalState, *, now: dt.datetime, **values: object) -> int:
    given = Approval.objects.filter(recommendation=one, revision=one.revision, state=ApprovalState.GIVEN)
    return given.update(state=to, settled_at=now, **values)
