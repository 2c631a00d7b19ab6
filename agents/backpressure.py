"""Back-pressure: an agent does not propose faster than people decide. Counted in rows, in bulk, anew for each page.

Guarantees that a sweep leaves nobody with more than `VIGENTE_WAITING_PER_PERSON` suggestions to decide (0: no limit);
that what it holds back is a verdict with a reason (`Q`), seen on the deal, under Suggestions and on My day; and that it
goes on with the first sweep after some were decided. Of one queue's deals in a page of the sweep (500) the
most urgent are proposed first.

A queue is a person's: the owner's of the deals. Deals without an owner share one queue per team, which whoever may see
them works off. In it counts what waits for a decision, whether the policy says `suggest` or `ask`. What was put off
does not (the person has decided when), nor does what the agent may do by itself: that is held back by nobody's queue.

Why a limit at all: fifty suggestions are more than a working day's decisions. A list that nobody can finish is a list
that nobody reads, and what stands in it grows stale before its turn comes.

Not promised: two sweeps at once each count before they write, so together they may leave up to a page too many; a
snooze that ends, and a person who asks the agent to look again, are not held back. Next in the flow:
`agents/proposing.py`.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Q

from agents.context import Snapshot
from agents.models import Mode, Recommendation
from agents.policies import Autonomy
from agents.recommenders.answers import Answer, LeftAlone, Suggestion
from agents.states import State
from conflicts.sentences import Sentence
from crm.models import User

CODE = "Q"
"""Of the verdict on a deal that is held back."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Whose decisions: the owner's, or, where there is none, the team's (None: of all)."""

    owner: int | None
    team: int | None = None

    @classmethod
    def of(cls, owner: int | None, team: int | None) -> "Queue":
        return cls(owner) if owner else cls(None, team)


def limit() -> int:
    return int(settings.VIGENTE_WAITING_PER_PERSON)


def waiting() -> Counter[Queue]:
    """How many suggestions wait in each queue, in one query."""
    rows = (
        Recommendation.objects.filter(state=State.PROPOSED)
        .exclude(mode=Mode.ACT)
        .order_by()
        .values_list("opportunity__owner", "opportunity__team")
        .annotate(count=Count("pk"))
    )
    found: Counter[Queue] = Counter()
    for owner, team, count in rows:
        found[Queue.of(owner, team)] += count
    return found


def full(*, most: int) -> dict[Queue, int]:
    """The queues in which nothing more is put, with what waits in them. `most`: 0 for no limit."""
    return {queue: count for queue, count in waiting().items() if count >= most} if most else {}


def deals_of(queues: Collection[Queue]) -> Q:
    """The condition that a deal belongs to one of these queues."""
    teams = [queue.team for queue in queues if queue.owner is None]
    shared = Q(team__in=[team for team in teams if team])
    if None in teams:
        shared |= Q(team=None)
    return Q(owner__in=[queue.owner for queue in queues if queue.owner]) | Q(shared, owner=None)


def hold_back(
    answers: Sequence[tuple[Snapshot, Answer]], *, autonomy: Autonomy, now: dt.datetime, most: int
) -> list[tuple[Snapshot, Answer]]:
    """The same answers in the same order, with a reason in place of each suggestion that nobody has room for."""
    wishes = [
        (deal, answer)
        for deal, answer in answers
        if isinstance(answer, Suggestion) and autonomy.mode(answer.action, amount=deal.amount) != Mode.ACT
    ]
    if not (most and wishes):
        return list(answers)
    counted = waiting()
    held: dict[int, LeftAlone] = {}
    for deal, _wish in sorted(wishes, key=lambda pair: (-pair[1].priority, pair[0].pk)):
        queue = Queue.of(deal.owner.pk if deal.owner else None, deal.team)
        if counted[queue] < most:
            counted[queue] += 1
        else:
            held[deal.pk] = _waits(deal, count=counted[queue], now=now)
    return [(deal, held.get(deal.pk, answer)) for deal, answer in answers]


def _waits(deal: Snapshot, *, count: int, now: dt.datetime) -> LeftAlone:
    """Until the queue is shorter (`agents/sweeps.py`); the day is for what may change without it, a policy's mode."""
    why = (
        Sentence("q", {"who": deal.owner.name, "count": count})
        if deal.owner
        else Sentence("q.nobody", {"count": count})
    )
    return LeftAlone(code=CODE, why=why, review_on=deal.today(now) + dt.timedelta(days=1))


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person is told of full queues: how many wait for them, and how many for whoever takes them."""

    mine: int = 0
    shared: int = 0

    def __bool__(self) -> bool:
        return bool(self.mine or self.shared)


def notice(user: User) -> Notice:
    """Nothing of a queue that is not full, nor of deals the person may not see."""
    found = full(most=limit())
    shared = sum(
        count
        for queue, count in found.items()
        if queue.owner is None and (user.sees_everything or queue.team in (None, user.team_id))
    )
    return Notice(mine=found.get(Queue(user.pk), 0), shared=shared)
