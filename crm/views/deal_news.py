"""News of a deal: one sentence on what others changed since the page was shown, and whether it touches what is open."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conflicts import history
from conflicts.actors import Actor
from conflicts.outcomes import Change
from conflicts.refs import Ref
from crm.models import Opportunity, User
from crm.showing import Shower
from crm.timeline import HIDDEN, label_of


@dataclass(frozen=True, kw_only=True)
class News:
    by: Actor
    others: tuple[Actor, ...]
    what: str
    """The fields and aspects, by their labels."""
    at: dt.datetime
    was: str
    now: str
    """Old and new, where it is one field."""
    untouched: str
    """The fields that are being edited and did not change, if any are being edited."""
    touched: str
    """Those that did."""
    version: int


def news(deal: Opportunity, *, since: int, viewer: User, editing: Sequence[str] = ()) -> News | None:
    """What others changed after version `since`; None if nobody did."""
    changes = [
        change
        for change in history.changes_since(Ref.of(deal), since)
        if change.aspect not in HIDDEN and not _own(change, viewer)
    ]
    if not changes:
        return None
    last = max(changes, key=lambda change: change.version)
    by = Actor.parse(last.by)
    moved = dict.fromkeys(change.aspect for change in changes)
    if "stage" in moved:
        for follows in ("activities", "status", "closed_on", "lost_reason"):
            moved.pop(follows, None)
    was, now = _one_field(deal, changes, list(moved))
    return News(
        by=by,
        others=tuple(dict.fromkeys(a for change in changes if not (a := Actor.parse(change.by)).same_as(by))),
        what=_listed(list(moved)),
        at=dt.datetime.fromisoformat(last.at),
        was=was,
        now=now,
        untouched=_listed([name for name in editing if name not in moved]),
        touched=_listed([name for name in editing if name in moved]),
        version=last.version,
    )


def _own(change: Change, viewer: User) -> bool:
    by = Actor.parse(change.by)
    return by.is_person and by.key == str(viewer.pk)


def _one_field(deal: Opportunity, changes: list[Change], moved: list[str]) -> tuple[str, str]:
    if len(moved) != 1 or moved[0] not in deal.content_fields():
        return "", ""
    mine = [change for change in changes if change.aspect == moved[0]]
    shower = Shower(Opportunity, currency=deal.currency)
    shower.learn(moved[0], mine[0].old, mine[-1].new)
    return shower.text(moved[0], mine[0].old) or _("empty"), shower.text(moved[0], mine[-1].new) or _("empty")


def _listed(names: Sequence[str]) -> str:
    labels = list(dict.fromkeys(label_of(name) for name in names))
    if len(labels) > 3:
        rest = len(labels) - 2
        return ngettext("%(some)s and %(n)d more", "%(some)s and %(n)d more", rest) % {
            "some": ", ".join(labels[:2]),
            "n": rest,
        }
    if len(labels) > 1:
        return _("%(some)s and %(last)s") % {"some": ", ".join(labels[:-1]), "last": labels[-1]}
    return "".join(labels)
