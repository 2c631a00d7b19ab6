"""The story of a company or a contact: every version with who wrote it, and what was meant and not done.

Guarantees that one write is one entry, that its pages neither repeat nor miss one while new ones arrive (keyset by
version), and that the queries do not grow with the record. Next in the flow: `templates/records/_story.html`.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from conflicts import actions, history
from conflicts.actors import Actor
from conflicts.models import ChildModel, Conflict, VersionedModel
from conflicts.refs import Ref
from conflicts.sentences import aspect_label
from conflicts.values import Value, plain
from crm.models import Consent, ContactPoint, User
from crm.showing import Shower
from crm.timeline import UNTOLD, Entry, Line, Page
from crm.views.deal_news import News

PAGE = 15
EVIDENCE = 15
HIDDEN = frozenset({"name_key", "fingerprint", "document", "approved", "owed", "due_on", "to_review"}) | {
    *("held", "claimed_at", "closed_at", "customer_wrote_at", "decided_at", "ended_at"),
    *("examined_version", "examined_fingerprint"),
}
"""Follow from something that is told by itself."""
TOLD = ("superseded", "conflict", "refused")


def story(
    subject: VersionedModel,
    *,
    before: int | None = None,
    down_to: int | None = None,
    known: tuple[Any, ...] = (),
) -> Page:
    """Newest first. `before`: older than that version; `down_to`: the first page, as far as it was shown.

    `known`: related records that the page has loaded anyway.
    """
    versions = _versions(subject, before, down_to)
    more = len(versions) > PAGE if down_to is None else bool(versions) and versions[-1] > 1
    versions = versions[:PAGE] if down_to is None else versions
    rows = _rows(subject, versions, before)
    shower = Shower(type(subject), currency=getattr(subject, "currency", ""))
    shower.knows(*known)
    newest = rows[before].changed_at if before in rows else None
    oldest = rows[versions[-1]].changed_at if versions and more else None
    records = _evidence(subject, after=oldest, before=newest)
    changed = {version: dict(_changed(type(subject), rows, version)) for version in versions}
    for name, values in [item for fields in changed.values() for item in fields.items()]:
        shower.learn(name, *values)
    for difference in (d for record in records for d in record.differences):
        shower.learn(difference["field"], difference["proposed"])
    children = _children(subject, versions)
    entries = [
        _entry(subject, version, rows[version], changed[version], children[version], shower) for version in versions
    ]
    entries += [_told(record, shower) for record in records]
    entries.sort(key=lambda entry: (entry.at, entry.version or 0), reverse=True)
    last = versions[-1] if versions else None
    fresh: dict[str, Entry] = {}
    for entry in entries:
        for line in entry.lines:
            if line.aspect:
                fresh.setdefault(line.aspect, entry)
    return Page(entries=entries, before=last if more else None, first=last, fresh=fresh)


def _versions(subject: VersionedModel, before: int | None, down_to: int | None) -> list[int]:
    rows: Any = history.events_of(type(subject))._default_manager.filter(pgh_obj_id=subject.pk)
    if before is not None:
        rows = rows.filter(version__lt=before)
    if down_to is not None:
        rows = rows.filter(version__gte=down_to)
    most = PAGE + 1 if down_to is None else PAGE * 10
    return list(rows.order_by("-version").values_list("version", flat=True)[:most])


def _rows(subject: VersionedModel, versions: list[int], before: int | None) -> dict[int, Any]:
    """The record as it was at each version and at the one before it; and at `before`, where the page above ended."""
    wanted = {n for version in versions for n in (version, version - 1)} | ({before} if before else set())
    events: Any = history.events_of(type(subject))._default_manager
    return {row.version: row for row in events.filter(pgh_obj_id=subject.pk, version__in=wanted)}


def _changed(
    model: type[VersionedModel], rows: dict[int, Any], version: int
) -> Iterator[tuple[str, tuple[Value, Value]]]:
    before, after = rows.get(version - 1), rows[version]
    if before is None:
        return
    for name in model.content_fields():
        field: Any = model._meta.get_field(name)
        old, new = getattr(before, field.attname), getattr(after, field.attname)
        if old != new and name not in HIDDEN:
            yield name, (plain(old, field), plain(new, field))


def _children(subject: VersionedModel, versions: list[int]) -> dict[int, list[Line]]:
    """What was done to the rows inside the record, by version."""
    lines: dict[int, list[Line]] = defaultdict(list)
    if not versions:
        return lines
    for model in history.children_of(type(subject)):
        told = _TELLERS.get(model)
        if told is None:
            continue
        rows: Any = history.events_of(model)._default_manager.filter(
            **{f"{model.subject_field}_id": subject.pk}, subject_version__in=versions
        )
        for row in rows.order_by("pgh_id"):
            lines[row.subject_version].append(told(row))
    return lines


type Teller = Callable[[Any], Line]
_TELLERS: dict[type[ChildModel], Teller] = {}


def told_by(model: type[ChildModel], teller: Teller) -> None:
    """How one event of a row of this model is told in the story of its record."""
    _TELLERS[model] = teller


def _point_line(row: Any) -> Line:
    if row.removed:
        return Line(words=_("removed an address"), was=row.value, aspect="points")
    return Line(words=_("added an address"), now=row.value, aspect="points")


def _consent_line(row: Any) -> Line:
    now = _("%(channel)s: %(statement)s") % {
        "channel": row.get_channel_display(),
        "statement": row.get_status_display(),
    }
    return Line(words=_("recorded what the contact said"), now=now, said=row.source, aspect="consents")


told_by(ContactPoint, _point_line)
told_by(Consent, _consent_line)


def _entry(
    subject: VersionedModel,
    version: int,
    row: Any,
    changed: dict[str, tuple[Value, Value]],
    children: list[Line],
    shower: Shower,
) -> Entry:
    label = subject._meta.label_lower
    lines = [_field_line(label, name, values, shower) for name, values in changed.items()] + children
    if version == 1:
        lines.insert(0, Line(words=_("added this record")))
    return Entry(
        at=row.changed_at,
        by=Actor.parse(row.changed_by),
        lines=tuple(lines) or (Line(words=_("saved this record")),),
        version=version,
        current=version == subject.version,
    )


def _field_line(model: str, name: str, values: tuple[Value, Value], shower: Shower) -> Line:
    was, now = (shower.text(name, value) for value in values)
    words = _("removed %(what)s") if not now else _("added %(what)s") if not was else _("changed %(what)s")
    return Line(words=words % {"what": aspect_label(model, name)}, was=was, now=now, aspect=name)


def _evidence(subject: VersionedModel, *, after: Any, before: Any) -> list[Conflict]:
    records = Conflict.objects.about(Ref.of(subject)).filter(result__in=TOLD).exclude(rule__in=UNTOLD)
    if after is not None:
        records = records.filter(opened_at__gte=after)
    if before is not None:
        records = records.filter(opened_at__lt=before)
    return list(records.order_by("-opened_at")[:EVIDENCE])


def _told(record: Conflict, shower: Shower) -> Entry:
    said = [str(record.told)]
    for difference in record.differences:
        label = aspect_label(record.subject_model, difference["field"])
        value = shower.text(difference["field"], difference["proposed"])
        said.append(_("%(what)s, as it was meant: %(value)s.") % {"what": label.capitalize(), "value": value or "-"})
    waits = record.closed_at is None
    action = actions.registered().get(record.action)
    words = _("wanted: %(what)s") % {"what": action.words if action else record.action}
    badge = _("waits for a decision") if waits else _("settled") if record.result == "conflict" else _("not done")
    return Entry(
        at=record.opened_at,
        by=record.intended_by,
        lines=(Line(words=words, said=" ".join(said)),),
        badge=badge,
        tone="warn" if waits else "",
    )


def news(subject: VersionedModel, *, since: int, viewer: User, editing: Sequence[str]) -> News | None:
    """One sentence on what others changed after version `since`; None if nobody did."""
    changes = [
        change
        for change in history.changes_since(Ref.of(subject), since)
        if change.aspect not in HIDDEN and not _own(Actor.parse(change.by), viewer)
    ]
    if not changes:
        return None
    label = subject._meta.label_lower
    last = max(changes, key=lambda change: change.version)
    by = Actor.parse(last.by)
    moved = list(dict.fromkeys(change.aspect for change in changes))
    was = now = ""
    if len(moved) == 1 and moved[0] in subject.content_fields():
        shower = Shower(type(subject), currency=getattr(subject, "currency", ""))
        was = shower.text(moved[0], changes[0].old) or _("empty")
        now = shower.text(moved[0], changes[-1].new) or _("empty")

    def listed(names: Sequence[str]) -> str:
        return ", ".join(dict.fromkeys(aspect_label(label, name) for name in names))

    return News(
        by=by,
        others=tuple(dict.fromkeys(a for change in changes if not (a := Actor.parse(change.by)).same_as(by))),
        what=listed(moved),
        at=dt.datetime.fromisoformat(last.at),
        was=was,
        now=now,
        untouched=listed([name for name in editing if name not in moved]),
        touched=listed([name for name in editing if name in moved]),
        version=last.version,
    )


def _own(by: Actor, viewer: User) -> bool:
    return by.is_person and by.key == str(viewer.pk)
