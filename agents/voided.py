"""A yes that was not used, for whoever decides next: to what it was, why it is void, what moved, before and now.

Guarantees that the difference is the one the gate found (its record), not what happens to be different when the page is
opened; in one query for a page of cards. Next in the flow: `templates/agents/card.html`.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agents.identity import short_name
from agents.models import Approval, ApprovalState, Recommendation
from conflicts.actors import Actor
from conflicts.models import Conflict
from conflicts.proposals import Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence, aspect_label
from crm.models import User
from crm.showing import Shower

REMEMBERED = dt.timedelta(days=7)
DERIVED = frozenset({"next_step_at", "stage_since", "team"})
"""Say what another line says already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    label: str
    before: str
    now: str
    by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Void:
    what: Sentence
    """Headline of what was approved."""
    why: Sentence | None
    giver: Actor
    given_at: dt.datetime
    moved: tuple[Moved, ...]


def of(ones: Sequence[Recommendation], *, viewer: User, now: dt.datetime) -> dict[int, Void]:
    """Suggestion -> the yes to it, or to the one it took the place of, that was given lately and not used."""
    deals = {one.opportunity_id for one in ones}
    rows = (
        Approval.objects.filter(
            state=ApprovalState.VOID, recommendation__opportunity__in=deals, settled_at__gt=now - REMEMBERED
        )
        .select_related("recommendation__conflict", "recommendation__opportunity")
        .order_by("settled_at")
    )
    newest = {row.recommendation.opportunity_id: row for row in rows}
    return {
        one.pk: _void(newest[one.opportunity_id], viewer)
        for one in ones
        if one.opportunity_id in newest and newest[one.opportunity_id].recommendation_id <= one.pk
    }


def _void(row: Approval, viewer: User) -> Void:
    one = row.recommendation
    record = one.conflict if one.conflict_id else None
    return Void(
        what=one.headline,
        why=row.void_because,
        giver=row.giver,
        given_at=row.given_at,
        moved=tuple(_moved(record, [Read.from_json(item) for item in row.basis], viewer)) if record else (),
    )


def _moved(record: Conflict, reads: Sequence[Read], viewer: User) -> Iterator[Moved]:
    """Each field of what it rested on, from what was read to what was found, and who changed it last."""
    for read in reads:
        model = read.subject.model
        policy = model.policy
        ground = {*read.values, *read.aspects, *policy.voids_approval, *policy.demands_reread} - DERIVED
        changes = [c for c in record.changes if Ref.parse(c["subject"]) == read.subject and c["aspect"] in ground]
        shower = Shower(model)
        fields = set(model.content_fields())
        for change in changes:
            if change["aspect"] in fields:
                shower.learn(change["aspect"], change["old"], change["new"])
        for name in dict.fromkeys(change["aspect"] for change in changes):
            own = [change for change in changes if change["aspect"] == name]
            yield Moved(
                label=aspect_label(read.subject.label, name),
                before=_text(shower, name, own[0]["old"]) if name in fields else "",
                now=_text(shower, name, own[-1]["new"]) if name in fields else "",
                by=_who(own[-1], viewer),
            )


def _text(shower: Shower, name: str, value: Any) -> str:
    return shower.text(name, value) or "–"


def _who(change: dict[str, Any], viewer: User) -> str:
    by = Actor.parse(change["by"])
    return "" if by.is_person and by.key == str(viewer.pk) else short_name(by)
