"""Keeping what was decided: suggestions, and reasons why there is none.

Guarantees one open suggestion per deal, whoever decides at once: the unique key drops the later one. Next in the flow:
`agents/recommendations.py`.
"""

import datetime as dt
from collections.abc import Iterable, Sequence

from agents import loading
from agents.context import Snapshot
from agents.facts import LINES
from agents.identity import FOLLOW_UP
from agents.models import Recommendation, SweepRun, Verdict
from agents.policies import Autonomy
from agents.recommenders import decide
from agents.recommenders.answers import Answer, LeftAlone, Suggestion
from conflicts.actors import Actor
from conflicts.sentences import Sentence


def record(
    answers: Sequence[tuple[Snapshot, Answer]],
    *,
    autonomy: Autonomy,
    run: SweepRun | None = None,
    by: Actor = FOLLOW_UP,
) -> list[Recommendation]:
    """Keep what was decided: a suggestion, or the reason why there is none. Returns the suggestions that are new.

    Of two sweeps that decide about one deal at once, the first to write leaves its suggestion; the other's is dropped.
    """
    wishes = [(deal, answer) for deal, answer in answers if isinstance(answer, Suggestion)]
    _leave_alone([(deal, answer) for deal, answer in answers if isinstance(answer, LeftAlone)])
    if not wishes:
        return []
    rows = [_row(deal, answer, autonomy=autonomy, run=run, by=by) for deal, answer in wishes]
    Recommendation.objects.bulk_create(rows, ignore_conflicts=True)
    # An ignored row has no key: what stands in the table now, of this very reading, is what we have written.
    mine = Recommendation.objects.open().filter(sweep=run, opportunity__in=[deal.pk for deal, _answer in wishes])
    read_at = {deal.pk: deal.read_at for deal, _answer in wishes}
    return [row for row in mine.order_by("pk") if row.read_at == read_at[row.opportunity_id]]


def _row(deal: Snapshot, wish: Suggestion, *, autonomy: Autonomy, run: SweepRun | None, by: Actor) -> Recommendation:
    return Recommendation(
        opportunity_id=deal.pk,
        agent=str(by),
        rule=wish.rule,
        priority=wish.priority,
        score=[{"points": points.count, "why": points.why.as_json()} for points in wish.score],
        mode=autonomy.mode(wish.action, amount=deal.amount),
        sweep=run,
        action=wish.action,
        params=dict(wish.params),
        title=wish.title.as_json(),
        why=wish.why.as_json(),
        basis=[read.as_json() for read in wish.basis],
        facts=[
            {"label": Sentence(line.label).as_json(), "value": line.say(deal).as_json(), "aspect": name}
            for name, line in ((name, LINES[name]) for name in wish.rests_on)
        ],
        version_read=deal.version,
        read_at=deal.read_at,
        expires_at=wish.expires_at,
    )


def _leave_alone(answers: Iterable[tuple[Snapshot, LeftAlone]]) -> None:
    """Upsert: a verdict is the last word on a deal, not a subject; whichever sweep comes last is right enough."""
    rows = [
        Verdict(
            opportunity_id=deal.pk,
            code=answer.code,
            why=answer.why.as_json(),
            version_read=deal.version,
            review_on=answer.review_on,
            judged_at=deal.read_at,
        )
        for deal, answer in answers
    ]
    Verdict.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["opportunity"],
        update_fields=["code", "why", "version_read", "review_on", "judged_at"],
    )


def look_again(opportunity: int, *, now: dt.datetime) -> Recommendation | LeftAlone:
    """Read the deal as it is now and decide anew. A suggestion that somebody else's sweep left meanwhile counts too."""
    [deal] = loading.load([opportunity], now=now)
    answer = decide(deal, now=now)
    record([(deal, answer)], autonomy=Autonomy.load())
    if isinstance(answer, LeftAlone):
        return answer
    return Recommendation.objects.open().select_related("opportunity").get(opportunity=opportunity)
