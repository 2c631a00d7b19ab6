"""The timeline of a deal: every version with who wrote it, the evidence of what did not happen, what other apps add.

Guarantees that one write is one entry (its fields, tasks and activities together), that the pages of it neither repeat
nor miss an entry while new ones arrive (keyset by version), and that its queries do not grow with the deal.
`slots.filled("deal.timeline", request, deal=deal, after=..., before=..., who=...)`: each filler returns a list of
`Entry` with `after <= at < before` (either may be None) for `who` ("", "people", "agents").
Next in the flow: `templates/deal/page.html`.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.functions import JSONObject
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from conflicts import actions, history
from conflicts.actors import Actor, person
from conflicts.models import Conflict
from conflicts.refs import Ref
from conflicts.sentences import aspect_label
from conflicts.values import plain
from crm import slots
from crm.models import Activity, Opportunity, Participant, Task
from crm.showing import Shower
from crm.templatetags.vigente import weekday

PAGE = 20
EVIDENCE = 30
"""At most so many refusals between two versions of a page; an agent that tries again and again tells nothing new."""
HIDDEN = frozenset(
    {"next_step", "next_step_on", "next_step_at", "last_contact_at", "stage_since", "team", "pipeline", "external_id"}
)
"""Follow from what the entry tells anyway."""
MOVE = frozenset({"stage", "status", "closed_on", "lost_reason"})
TOLD = ("superseded", "conflict", "refused")
UNTOLD = ("key_reused",)
"""About a request, not about the deal: a form sent twice. Seen in the review queue only."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that was done: words, what it was and is, what was said."""

    words: str
    was: str = ""
    now: str = ""
    said: str = ""
    aspect: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    at: dt.datetime
    by: Actor
    lines: tuple[Line, ...] = ()
    version: int | None = None
    current: bool = False
    badge: str = ""
    tone: str = ""
    link: str = ""
    """Where it can be looked at or settled, if anywhere."""
    link_words: str = ""

    @property
    def day(self) -> dt.date:
        return timezone.localtime(self.at).date()


@dataclass(kw_only=True)
class Page:
    entries: list[Entry]
    before: int | None
    """The version below which the older page begins; None on the last."""
    first: int | None
    """The oldest version on it, for bringing the same stretch up to date."""
    fresh: dict[str, Entry] = field(default_factory=dict)
    """Field -> the entry that changed it last, among those shown."""


def page(
    request: HttpRequest,
    deal: Opportunity,
    *,
    who: str = "",
    before: int | None = None,
    down_to: int | None = None,
) -> Page:
    """Newest first. `before`: older than that version. `down_to`: the first page, as far as it was shown."""
    versions, rows = _versions(deal, who=who, before=before, down_to=down_to)
    more = versions[-1] > 1 if versions and down_to is not None else len(versions) > PAGE
    versions = versions[:PAGE] if down_to is None else versions
    shower = Shower(Opportunity, currency=deal.currency)
    shower.knows(deal.company, deal.contact, deal.product, deal.owner, deal.stage)
    entries = list(_entries(deal, versions, rows, shower))

    newest = rows[before].changed_at if before in rows else None
    oldest = rows[versions[-1]].changed_at if versions and more else None
    reader = person(request.user)
    entries += _evidence(deal, shower, reader=reader, who=who, after=oldest, before=newest)
    for found in slots.filled("deal.timeline", request, deal=deal, after=oldest, before=newest, who=who):
        entries += found
    entries.sort(key=lambda e: (e.at, e.version or 0), reverse=True)
    fresh: dict[str, Entry] = {}
    for entry in entries:
        for line in entry.lines:
            if line.aspect:
                fresh.setdefault(line.aspect, entry)
    last = versions[-1] if versions else None
    return Page(entries=entries, before=last if more else None, first=last, fresh=fresh)


def _versions(
    deal: Opportunity, *, who: str, before: int | None, down_to: int | None
) -> tuple[list[int], dict[int, Any]]:
    """The versions of a page and one more; and the deal as it was at each, at the one before, and at `before`."""
    events: Any = history.events_of(Opportunity)._default_manager.filter(pgh_obj_id=deal.pk)
    limit = PAGE + 1 if down_to is None else PAGE * 10
    shown = events.order_by("-version")
    if before is not None:
        shown = shown.filter(version__lt=before)
    if down_to is not None:
        shown = shown.filter(version__gte=down_to)
    prefix = {"people": "person:", "agents": "agent:"}.get(who)
    if prefix is None and before is None:
        # The page that everybody opens: the versions without a gap, so one query has them and their predecessors.
        rows = {row.version: row for row in events.order_by("-version")[: limit + 1]}
        versions = [version for version in rows if down_to is None or version >= down_to][:limit]
        return versions, rows
    if prefix:
        shown = shown.filter(changed_by__startswith=prefix)
    versions = list(shown.values_list("version", flat=True)[:limit])
    wanted = {n for version in versions for n in (version, version - 1)} | ({before} if before else set())
    return versions, {row.version: row for row in events.filter(version__in=wanted)}


def _entries(deal: Opportunity, versions: list[int], rows: dict[int, Any], shower: Shower) -> Iterator[Entry]:
    tasks = _tasks(deal, versions)
    activities = _activities(deal, versions)
    changed = {version: dict(_changed(rows, version)) for version in versions}
    for fields in changed.values():
        for name, values in fields.items():
            shower.learn(name, *values)
    silent = [n for n in versions if n > 1 and not (changed[n] or tasks[n] or activities[n])]
    people = _people_lines(deal, silent)
    for version in versions:
        row = rows[version]
        lines = [*_activity_lines(activities[version], row), *_task_lines(tasks[version])]
        moved = any(activity.kind == "stage" for activity in activities[version])
        if version == 1:
            lines.insert(0, Line(words=_("added the deal")))
        lines += [
            _field_line(name, values, shower)
            for name, values in changed[version].items()
            if not (moved and name in MOVE)
        ]
        lines = lines or people[version]
        yield Entry(
            at=row.changed_at,
            by=Actor.parse(row.changed_by),
            lines=tuple(lines) or (Line(words=_("saved the deal")),),
            version=version,
            current=version == deal.version,
        )


def _changed(rows: dict[int, Any], version: int) -> Iterator[tuple[str, tuple[Any, Any]]]:
    before, after = rows.get(version - 1), rows[version]
    if before is None:
        return
    for name in Opportunity.content_fields():
        model_field: Any = Opportunity._meta.get_field(name)
        old, new = getattr(before, model_field.attname), getattr(after, model_field.attname)
        if old != new and name not in HIDDEN:
            yield name, (plain(old, model_field), plain(new, model_field))


def _field_line(name: str, values: tuple[Any, Any], shower: Shower) -> Line:
    was, now = (shower.text(name, value) for value in values)
    label = label_of(name)
    if not now:
        return Line(words=_("removed the %(what)s") % {"what": label}, was=was, aspect=name)
    if not was:
        return Line(words=_("set the %(what)s") % {"what": label}, now=now, aspect=name)
    return Line(words=_("changed the %(what)s") % {"what": label}, was=was, now=now, aspect=name)


def label_of(name: str) -> str:
    """A field or aspect as it reads after "changed the"."""
    return _("closing day") if name == "expected_close" else aspect_label("crm.opportunity", name)


def _activities(deal: Opportunity, versions: list[int]) -> dict[int, list[Any]]:
    rows: Any = history.events_of(Activity)._default_manager.filter(
        opportunity_id=deal.pk, subject_version__in=versions, pgh_label="insert"
    )
    return _by_version(rows.order_by("pgh_id"))


def _tasks(deal: Opportunity, versions: list[int]) -> dict[int, list[Any]]:
    """Each with what it was before (`old`), None where it was made."""
    if not versions:
        return defaultdict(list)
    events: Any = history.events_of(Task)._default_manager.filter(opportunity_id=deal.pk)
    earlier = events.filter(pgh_obj_id=OuterRef("pgh_obj_id"), pgh_id__lt=OuterRef("pgh_id")).order_by("-pgh_id")
    old = JSONObject(state="state", due_on="due_on", claimed_by="claimed_by_id")
    rows = events.filter(subject_version__in=versions).annotate(old=Subquery(earlier.values(old=old)[:1]))
    return _by_version(rows.order_by("pgh_id"))


def _people_lines(deal: Opportunity, versions: list[int]) -> dict[int, list[Line]]:
    """Who was added and taken out; asked only for versions that nothing else explains."""
    found: dict[int, list[Line]] = defaultdict(list)
    if not versions:
        return found
    rows: Any = history.events_of(Participant)._default_manager.filter(
        opportunity_id=deal.pk, subject_version__in=versions
    )
    for row in rows.select_related("contact").order_by("pgh_id"):
        words = _("took out of the deal") if row.removed else _("added to the deal")
        found[row.subject_version].append(Line(words=words, now=str(row.contact), aspect="participants"))
    return found


def _by_version(rows: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.subject_version].append(row)
    return found


def _activity_lines(activities: list[Any], row: Any) -> Iterator[Line]:
    for activity in activities:
        if activity.kind == "stage":
            was, now = activity.facts.get("from", ""), activity.facts.get("to", "")
            yield Line(words=_("moved the stage"), was=was, now=now, said=activity.text, aspect="stage")
            continue
        words = {
            "call": _("logged a call"),
            "meeting": _("logged a meeting"),
            "mail": _("logged an e-mail"),
            "note": _("wrote a note"),
        }.get(activity.kind, activity.get_kind_display())
        if abs(row.changed_at - activity.at) > dt.timedelta(minutes=10):
            at = date_format(timezone.localtime(activity.at), pgettext("date", "D j M, H:i"))
            words = _("%(what)s (%(when)s)") % {"what": words, "when": at}
        yield Line(words=words, said=activity.text, aspect="activities")


def _task_lines(tasks: list[Any]) -> Iterator[Line]:
    for task in tasks:
        due = weekday(task.due_on)
        if task.pgh_label == "insert":
            words = _("set the next step") if task.due_on else _("added a task")
            yield Line(words=words, now=f"{task.title}, {due}" if due else task.title, aspect="tasks")
        elif task.state != task.old["state"]:
            words = {
                "done": _("completed"),
                "cancelled": pgettext("somebody did it", "cancelled"),
                "open": _("reopened"),
            }[task.state]
            yield Line(words=words, now=task.title, aspect="tasks")
        elif str(task.due_on or "") != (task.old["due_on"] or ""):
            words = _("moved the task “%(title)s”") % {"title": task.title}
            was = dt.date.fromisoformat(task.old["due_on"]) if task.old["due_on"] else None
            yield Line(words=words, was=weekday(was), now=due or _("no date"), aspect="tasks")
        elif task.claimed_by_id != task.old["claimed_by"]:
            yield Line(words=_("took the task"), now=task.title, aspect="tasks")
        else:
            yield Line(words=_("changed the task"), now=task.title, aspect="tasks")


def _evidence(
    deal: Opportunity, shower: Shower, *, reader: Actor, who: str, after: dt.datetime | None, before: dt.datetime | None
) -> Iterator[Entry]:
    """What was meant and not done: by whom, why, and what did not happen."""
    records = Conflict.objects.about(Ref.of(deal)).filter(result__in=TOLD).exclude(rule__in=UNTOLD)
    if prefix := {"people": "person:", "agents": "agent:"}.get(who):
        records = records.filter(actor__startswith=prefix)
    if after is not None:
        records = records.filter(opened_at__gte=after)
    if before is not None:
        records = records.filter(opened_at__lt=before)
    found = list(records.order_by("-opened_at")[:EVIDENCE])
    for d in (d for record in found for d in record.differences):
        shower.learn(d["field"], d["proposed"])
    for record in found:
        badge, tone = _badge(record)
        lines = (_told(record, shower, reader),)
        yield Entry(at=record.opened_at, by=record.intended_by, lines=lines, badge=badge, tone=tone)


def _badge(record: Conflict) -> tuple[str, str]:
    """The word for how it ended, and its tone."""
    if record.result == "superseded":
        tone = "agent" if record.intended_by.kind == "agent" else ""
        return _("overtaken"), tone
    if record.closed_at is None:
        return _("waits for a decision"), "warn"
    return (_("not done") if record.result == "refused" else _("settled")), ""


def _told(record: Conflict, shower: Shower, reader: Actor) -> Line:
    action = actions.registered().get(record.action)
    wish = str(action.words) if action else record.action
    title = record.params.get("title") or record.params.get("next_title")
    words = (
        _("wanted: %(what)s “%(title)s”") % {"what": wish, "title": title}
        if title
        else (_("wanted: %(what)s") % {"what": wish})
    )
    if record.version_read:
        words = _("%(words)s, having read v%(version)d") % {"words": words, "version": record.version_read}
    said = [str(record.told.told_to(reader))]
    if record.also_not_done and record.result != "conflict":
        said.append(str(record.also_not_done))
    for d in record.differences:
        mine = shower.text(d["field"], d["proposed"])
        label = aspect_label(record.subject_model, d["field"])
        said.append(_("%(what)s, as it was meant: %(value)s.") % {"what": label.capitalize(), "value": mine or "-"})
    return Line(words=words, said=" ".join(dict.fromkeys(said)))
