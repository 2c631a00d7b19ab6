"""The history checker: compares what callers were told with every version that the database kept.

Guarantees, for a record and the answers given about it: its versions are 1, 2, 3, … without a gap, and order all that
happened; what was acknowledged is there once, at the version that was named; what was turned away is never there, and
left a record that a person can read; what ended without an answer is there at most once; and nobody's acknowledged
value was replaced by somebody who had not seen it.

It reads the event tables by itself: a checker that asked the code it checks would believe it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from conflicts import history
from conflicts.models import Conflict
from conflicts.refs import Ref


class Told(StrEnum):
    DONE = "done"
    SO_ALREADY = "so_already"
    """Done, and nothing had to be written."""
    TURNED_AWAY = "turned_away"
    UNKNOWN = "unknown"
    """The caller never heard: the connection was cut, or its process died."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What one caller was told about one wish."""

    mark: str
    """A text that only this wish writes; empty if it writes none."""
    told: Told
    subject: Ref | None = None
    version: int | None = None
    """The version that the answer named."""
    read: int = 0
    """The version the caller had read."""
    record: int | None = None
    """The evidence that the answer named."""
    by: str = ""
    writes: frozenset[str] = frozenset()
    """The fields it meant to set."""
    merged: bool = False
    """The record's policy put it together with somebody else's, and said so."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One aspect of a record that one version changed, by the event tables."""

    version: int
    aspect: str
    text: str
    before: str
    by: str


def check(subject: Ref, answers: Iterable[Answer]) -> list[str]:
    """A line for each promise that was broken; none if all were kept."""
    entries, wrong = entries_of(subject)
    mine = [answer for answer in answers if answer.subject == subject]
    for answer in mine:
        wrong += _kept(answer, entries) if answer.mark else []
        if answer.told is Told.TURNED_AWAY and not Conflict.objects.filter(pk=answer.record or 0).exists():
            wrong.append(f"{subject}: {answer.mark or 'a wish'} was turned away and left no record")
    return wrong + lost_updates(subject, mine, entries)


def entries_of(subject: Ref) -> tuple[list[Entry], list[str]]:
    """All that changed after the first version, oldest first; and what is wrong with the order of the versions."""
    model = subject.model
    rows = list(history.events_of(model)._default_manager.filter(pgh_obj_id=subject.pk).order_by("pgh_id").values())
    versions = [row["version"] for row in rows]
    wrong = []
    if versions != list(range(1, len(versions) + 1)):
        wrong.append(f"{subject}: its versions are {versions}")
    entries = []
    names = [model._meta.get_field(name).attname for name in model.content_fields()]  # type: ignore[union-attr]
    for before, after in pairwise(rows):
        entries += [
            Entry(after["version"], name, str(after[name]), str(before[name]), str(after["changed_by"]))
            for name in names
            if before[name] != after[name]
        ]
    for child in history.children_of(model):
        events = history.events_of(child)._default_manager.filter(**{f"{child.subject_field}_id": subject.pk})
        for row in events.order_by("pgh_id").values():
            if row["subject_version"] not in versions:
                wrong.append(f"{subject}: a {child.aspect} row names version {row['subject_version']}")
            text = " ".join(str(row[name]) for name in _text_fields(child))
            entries.append(Entry(row["subject_version"], child.aspect, text, "", str(row["changed_by"])))
    return sorted(entries, key=lambda entry: entry.version), wrong


def _text_fields(model: Any) -> list[str]:
    return [
        field.attname
        for field in model._meta.concrete_fields
        if field.get_internal_type() in ("CharField", "TextField")
    ]


def _kept(answer: Answer, entries: Sequence[Entry]) -> list[str]:
    """Whether the mark stands where it should. A derived field shows it again at the same version: that is once."""
    found = sorted({e.version for e in entries if answer.mark in e.text and answer.mark not in e.before})
    match answer.told:
        case Told.DONE if found != [answer.version]:
            return [f"{answer.mark!r} was acknowledged at version {answer.version} and stands at {found}"]
        case Told.TURNED_AWAY | Told.SO_ALREADY if found:
            return [f"{answer.mark!r} was not written, its caller was told, and it stands at {found}"]
        case Told.UNKNOWN if len(found) > 1:
            return [f"{answer.mark!r} was sent once and stands at {found}"]
    return []


def lost_updates(subject: Ref, answers: Sequence[Answer], entries: Sequence[Entry]) -> list[str]:
    """Acknowledged writes of which something was replaced by a writer who had read an older version.

    What a declared policy put together is not lost: it was said, and both values are kept in the record.
    """
    written = {a.version: a for a in answers if a.told is Told.DONE and a.version}
    by_aspect: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_aspect[entry.aspect].append(entry)
    lost: dict[tuple[int, int], list[str]] = defaultdict(list)
    for aspect, changes in by_aspect.items():
        for earlier, later in pairwise(changes):
            writer = written.get(later.version)
            if writer is None or earlier.version not in written or writer.merged or not writer.read:
                continue
            if writer.read < earlier.version and aspect in _attributes(subject, writer.writes):
                lost[earlier.version, later.version].append(aspect)
    return [
        f"{subject}: {', '.join(sorted(aspects))} of version {was} was replaced unseen at {now}"
        for (was, now), aspects in sorted(lost.items())
    ]


def _attributes(subject: Ref, names: Iterable[str]) -> set[str]:
    model = subject.model
    return {model._meta.get_field(name).attname for name in names}  # type: ignore[union-attr]
