"""The history of a subject for a reader: one entry per version, with who, when and what.

A page holds PAGE versions, so that a deal with thousands of them opens as fast as a new one. Next in the flow:
`templates/admin/vigente/history.html`.
"""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from conflicts.actors import Actor
from conflicts.admin.words import NOTHING, Words, child_of, label
from conflicts.history import changes_since, events_of
from conflicts.models import VersionedModel
from conflicts.outcomes import Change
from conflicts.refs import Ref

PAGE = 50


@dataclass(frozen=True)
class Line:
    what: str
    old: str
    new: str


@dataclass(frozen=True)
class Entry:
    version: int
    by: Actor
    at: dt.datetime
    lines: list[Line] = field(default_factory=list)


def entries(subject: VersionedModel, *, until: int) -> list[Entry]:
    """The versions (until - PAGE, until], newest first."""
    after = max(0, until - PAGE)
    events: Any = events_of(type(subject))
    rows = events._default_manager.filter(pgh_obj_id=subject.pk, version__gt=after, version__lte=until)
    by_version: dict[int, list[Change]] = defaultdict(list)
    for change in changes_since(Ref.of(subject), after):
        if change.version <= until:
            by_version[change.version].append(change)
    words = Words()
    for changes in by_version.values():
        want(words, changes)
    return [
        Entry(row.version, Actor.parse(row.changed_by), row.changed_at, lines(words, by_version[row.version]))
        for row in rows.order_by("-version")
    ]


def want(words: Words, changes: list[Change]) -> None:
    for change in changes:
        model = child_of(change.subject.model, change.aspect) or change.subject.model
        for value in (change.old, change.new):
            words.want(model, change.aspect, value)


def lines(words: Words, changes: list[Change]) -> list[Line]:
    """What a version changed; an addition of a child has nothing before it."""
    found = []
    for change in changes:
        model = change.subject.model
        what = label(model, change.aspect)
        if child := child_of(model, change.aspect):
            old = NOTHING if change.old is None else _("changed")
            found.append(Line(what, old, words.text(child, change.aspect, change.new)))
        else:
            old, new = (words.text(model, change.aspect, value) for value in (change.old, change.new))
            found.append(Line(what, old, new))
    return found
