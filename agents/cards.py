"""A suggestion as the pages show it: what, why, what it rests on and whether that is still so, what a yes would do.

Guarantees that a button is drawn only if the write behind it would be allowed now, by the same check, and that a card
which has been overtaken cannot be pressed and says why. A page of cards costs a fixed number of queries.
Next in the flow: `templates/agents/card.html`.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from agents import content, freshness, loading, rights, voided
from agents.exceptions import NotPossible
from agents.freshness import Freshness
from agents.models import DeclineReason, Recommendation
from agents.models.recommendation import EDIT_REASONS
from agents.states import State
from agents.voided import Void
from conflicts import actors
from conflicts.sentences import Sentence
from crm.clock import today_for
from crm.models import User
from crm.models.task import TaskKind

WITH = ("opportunity__company", "opportunity__owner", "opportunity__team", "conflict")
"""What a card needs of a suggestion's surroundings (`select_related`)."""


@dataclass(kw_only=True)
class Card:
    recommendation: Recommendation
    freshness: Freshness
    effect: Sentence
    content: str
    """Hash of exactly what this reader is shown (agents/content.py): what the yes will be bound to."""
    can_approve: bool
    approve_why: str
    """Why there is no Approve, where the facts are still good."""
    can_edit: bool
    can_snooze: bool
    can_decline: bool
    can_ask_again: bool
    snooze_days: Sequence[tuple[dt.date, Any]]
    place: str = "card"
    """Where it stands: `card` on the deal, `hint` in lists, `pick` in the list where many are approved at once."""
    void: Void | None = None
    """The yes to this, or to what it took the place of, that was not used."""
    told: str = ""
    """What just came of a press."""
    again: bool = False
    """The press did not do what it said."""
    fresh: "Card | None" = None
    errors: dict[str, list[str]] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)

    reasons = DeclineReason.choices
    edit_reasons = EDIT_REASONS
    kinds = TaskKind.choices

    @property
    def partial(self) -> str:
        return "card" if self.place == "card" else "hint"

    @property
    def can_pick(self) -> bool:
        return self.place == "pick" and self.can_approve

    @property
    def rests_on(self) -> str:
        """What makes this card old when it changes, for static/js/suggestions.js."""
        return " ".join(str(read.subject) for read in self.recommendation.reads)

    @property
    def deal(self) -> Any:
        return self.recommendation.opportunity

    @property
    def is_proposed(self) -> bool:
        return self.recommendation.state == State.PROPOSED

    @property
    def fingerprint(self) -> str:
        """Of the content alone, whoever reads it: what an edit is bound to."""
        return self.recommendation.proposal().fingerprint

    @property
    def version_state(self) -> str:
        """For the version mark: in force, or read and moved on since."""
        return "now" if self.freshness.version_now == self.recommendation.version_read else "past"

    @property
    def values(self) -> dict[str, str]:
        """What the edit form holds: what was typed, else the content."""
        params = self.recommendation.params
        found = {name: str(self.typed.get(name, params.get(name) or "")) for name in ("title", "kind", "due_on")}
        return found | {"reason": str(self.typed.get("reason", ""))}

    @property
    def edits_words(self) -> bool:
        return "title" in rights.EDITABLE.get(self.recommendation.action, ())

    @property
    def score(self) -> list[tuple[int, Sentence]]:
        return [(term["points"], Sentence.from_json(term["why"])) for term in self.recommendation.score]


def build(
    recommendations: Sequence[Recommendation], *, viewer: User, now: dt.datetime, place: str = "card"
) -> list[Card]:
    """The cards of these suggestions (read with `WITH`), in their order."""
    wanted = {one.opportunity_id for one in recommendations}
    deals = {deal.pk: deal for deal in loading.load(wanted, now=now, around=False)} if wanted else {}
    looks = freshness.look([(one, deals[one.opportunity_id]) for one in recommendations], now=now, viewer=viewer)
    void = voided.of(recommendations, viewer=viewer, now=now) if recommendations else {}
    cards = [_card(one, looks[one.pk], viewer=viewer, now=now, place=place) for one in recommendations]
    for card in cards:
        card.void = void.get(card.recommendation.pk)
    return cards


def _card(one: Recommendation, look: Freshness, *, viewer: User, now: dt.datetime, place: str) -> Card:
    by = actors.person(viewer)
    why = ""
    try:
        rights.check_approve(one, by=by, now=now)
    except NotPossible as no:
        why = str(no.sentence)
    today = today_for(viewer, now=now)
    return Card(
        recommendation=one,
        freshness=look,
        effect=content.effect(one, reader=by),
        content=content.of(one, reader=by).hash if one.state == State.PROPOSED else "",
        can_approve=look.good and not why,
        approve_why=why if look.good else "",
        can_edit=look.good and rights.can_edit(one, by=by),
        can_snooze=rights.can_snooze(one, by=by),
        can_decline=rights.can_decline(one, by=by),
        can_ask_again=not look.good and rights.can_ask_again(one, by=by),
        snooze_days=_snooze_days(today),
        place=place,
    )


def _snooze_days(today: dt.date) -> list[tuple[dt.date, Any]]:
    monday = today + dt.timedelta(days=7 - today.weekday())
    return [
        (today + dt.timedelta(days=1), _("Tomorrow")),
        (monday, _("Next Monday")),
        (today + dt.timedelta(days=14), _("In two weeks")),
    ]
