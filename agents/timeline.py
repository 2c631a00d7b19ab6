"""What the agents add to a deal's timeline: what they suggested, and what people decided about it.

What was overtaken is told by the CRM itself, from the gate's evidence (crm/timeline.py); it is not told twice.
"""

import datetime as dt
from collections.abc import Iterator

from agents.models import Recommendation
from agents.states import State
from conflicts.actors import Actor
from conflicts.outcomes import Result
from conflicts.sentences import Sentence, date
from crm.models import Opportunity
from crm.timeline import Entry, Line

AT_MOST = 60


def entries(
    deal: Opportunity, *, after: dt.datetime | None = None, before: dt.datetime | None = None, who: str = ""
) -> list[Entry]:
    """With `after < at <= before` (either may be None), for `who` ("", "people", "agents"). Newest first."""
    rows = Recommendation.objects.filter(opportunity=deal).order_by("-created_at", "-pk")[:AT_MOST]
    found = [
        entry
        for row in rows
        for entry in _of(row)
        if (after is None or entry.at > after) and (before is None or entry.at <= before) and _asked(entry.by, who)
    ]
    return sorted(found, key=lambda entry: entry.at, reverse=True)


def _asked(by: Actor, who: str) -> bool:
    return {"people": by.is_person, "agents": by.kind == "agent"}.get(who, True)


def _of(row: Recommendation) -> Iterator[Entry]:
    what = {"what": str(row.headline)}
    yield _entry(row.created_at, row.proposer, Sentence("line.suggested", what), said=str(row.reason))
    if row.decider is None or row.decided_at is None:
        return
    match row.state:
        case State.DECLINED:
            yield _entry(row.decided_at, row.decider, Sentence("line.declined", what))
        case State.APPLIED | State.APPROVED | State.FAILED:
            yield _entry(row.decided_at, row.decider, Sentence("line.approved", what), said=_rebased(row))
        case State.SNOOZED if row.snoozed_until:
            put_off = Sentence("line.snoozed", {**what, "day": date(row.snoozed_until)})
            yield _entry(row.decided_at, row.decider, put_off)


def _rebased(row: Recommendation) -> str:
    """What others had changed between the agent's reading and the deed, and did no harm."""
    told = row.outcome.get("sentence") if row.outcome.get("result") == Result.REBASED else None
    return str(Sentence.from_json(told)) if told else ""


def _entry(at: dt.datetime, by: Actor, sentence: Sentence, *, said: str = "") -> Entry:
    words = str(sentence)
    # It follows the name of who did it.
    return Entry(at=at, by=by, lines=(Line(words=words[:1].lower() + words[1:], said=said),))
