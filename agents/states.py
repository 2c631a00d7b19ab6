"""How a suggestion changes its state: by compare-and-swap on the old one, and never otherwise.

Guarantees that of two who press at once exactly one moves it, and that the other is told who it was. The table of
allowed moves stands beside the model (agents/models/recommendation.py). Next in the flow: `agents/execution.py`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from agents.exceptions import NotPossible
from agents.identity import short_name
from agents.models import Recommendation, RecommendationState
from agents.models.recommendation import TRANSITIONS
from conflicts.actors import Actor
from conflicts.outcomes import Outcome
from conflicts.sentences import Sentence, date

State = RecommendationState


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What came of a step, in a sentence for the person who asked for it."""

    done: bool
    sentence: Sentence
    recommendation: Recommendation
    outcome: Outcome | None = None
    fresh: Recommendation | None = None
    """The suggestion that took its place."""


def move(recommendation: Recommendation, *, of: Collection[State], to: State, **values: Any) -> bool:
    """Compare-and-swap: from one of the states `of`, at the revision in hand, to `to`. False: somebody was faster."""
    for state in of:
        if to not in TRANSITIONS[state]:
            raise ValueError(f"A suggestion does not go from {state} to {to}.")
    return (
        Recommendation.objects.filter(pk=recommendation.pk, state__in=of, revision=recommendation.revision).update(
            state=to, **values
        )
        == 1
    )


def why_not(recommendation: Recommendation) -> Sentence:
    """Who was first, for somebody who would still like to decide about a suggestion that is not proposed any more."""
    decider, overtaker = recommendation.decider, recommendation.overtaker
    who = short_name(decider) if decider else "-"
    match recommendation.state:
        case State.APPROVED:
            return Sentence("no.approved", {"who": who})
        case State.APPLIED:
            return Sentence("no.applied", {"who": who}) if decider else Sentence("no.applied.alone")
        case State.DECLINED:
            return Sentence("no.declined", {"who": who})
        case State.SNOOZED if recommendation.snoozed_until:
            return Sentence("no.snoozed", {"who": who, "day": date(recommendation.snoozed_until)})
        case State.SUPERSEDED:
            return Sentence("no.superseded", {"who": short_name(overtaker) if overtaker else "-"})
        case State.EXPIRED:
            return Sentence("no.expired")
        case State.FAILED:
            return Sentence("no.failed")
    return Sentence("no.edited", {"who": _editor(recommendation)})


def _editor(recommendation: Recommendation) -> str:
    return short_name(Actor.parse(recommendation.edited_by)) if recommendation.edited_by else "-"


def check_state(recommendation: Recommendation, *, of: Collection[State]) -> None:
    """Raises NotPossible with who was first."""
    if recommendation.state not in of:
        raise NotPossible(why_not(recommendation))


def told_no(recommendation: Recommendation, sentence: Sentence) -> Told:
    return Told(done=False, sentence=sentence, recommendation=recommendation)


def lost(recommendation: Recommendation) -> Told:
    """The compare-and-swap found another state or revision: read it again and say who was first."""
    recommendation.refresh_from_db()
    return told_no(recommendation, why_not(recommendation))
