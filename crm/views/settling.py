"""Clash: what a conflict record says to the person who meant the change, field by field; and back into params.

Guarantees that what the person did not touch never travels (it would write an old value over a new one), that what
the model merges arrives merged, and that keeping the other's value writes nothing. Next: `templates/settle.html`.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from conflicts import actions, actors, history, sentences
from conflicts.actions import AS_SHOWN
from conflicts.actors import Actor, Kind
from conflicts.exceptions import BadParams
from conflicts.merging import Merged, merge
from conflicts.models import Conflict, VersionedModel
from conflicts.outcomes import Outcome
from conflicts.refs import Ref
from conflicts.sentences import Sentence, aspect_label
from conflicts.values import Value, plain
from crm import inputs
from crm.imports import Origin, origin_of
from crm.models import User
from crm.models.activity import ActivityKind
from crm.models.task import TaskKind
from crm.showing import Shower
from crm.templatetags.vigente import name_for, weekday

DERIVED = frozenset({"next_step", "next_step_on", "next_step_at", "last_contact_at", "stage_since", "team", "name_key"})
"""Follow from something else that is told by itself."""


@dataclass(frozen=True, kw_only=True)
class Together:
    """One change that needs nobody: field, what it was and is, and whose it is."""

    label: str
    was: str
    now: str
    whose: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One field that says two things."""

    name: str
    label: str
    base: str
    mine: str
    theirs: str
    whose: str
    """Whose value is in force: "Ana’s"."""
    at: dt.datetime | None
    picked: str = "theirs"
    other: inputs.Input | None = field(default=None)


class Clash:
    def __init__(self, record: Conflict, subject: VersionedModel, *, viewer: Any) -> None:
        self.record = record
        self.subject = subject
        self.viewer: User = viewer
        self.model = type(subject)
        self.ref = Ref.of(subject)
        self.action = actions.get(record.action)
        self.shower = Shower(self.model, currency=getattr(subject, "currency", ""))

    # ---- who and when

    @cached_property
    def file(self) -> Origin | None:
        """The line of a file that meant it; None for what a person meant on a page."""
        return origin_of(self.record)

    @cached_property
    def moved(self) -> list[dict[str, Any]]:
        return [c for c in self.record.changes if c["subject"] == str(self.ref) and c["aspect"] not in DERIVED]

    @property
    def found(self) -> int:
        """The version this decision is made on."""
        return self.record.version_found or self.subject.version

    @property
    def read(self) -> int | None:
        return self.record.version_read

    @cached_property
    def people(self) -> list[Actor]:
        """Who changed it meanwhile, each once, the last first; against a file, whoever changed what it speaks of."""
        return list(dict.fromkeys(Actor.parse(c["by"]) for c in reversed(self._against)))

    @cached_property
    def _against(self) -> list[dict[str, Any]]:
        """A person is told all that moved while they typed; of a file counts only what it speaks against."""
        told = [c for c in self.moved if c["aspect"] in self._differences] if self.file else []
        return told or self.moved

    @property
    def by(self) -> Actor | None:
        return self.people[0] if self.people else None

    @property
    def by_name(self) -> str:
        """A first name, "others", or "you" in another window."""
        if len(self.people) > 1:
            return _("Others")
        return name_for(self.viewer, self.by, short=True, capital=True) if self.by else _("Somebody")

    @property
    def saves(self) -> int:
        return len({c["version"] for c in self._against})

    @property
    def version(self) -> int:
        """The last of them; what fitted of a file was written after it."""
        return int(self._against[-1]["version"]) if self._against else self.found

    @property
    def at(self) -> dt.datetime | None:
        return dt.datetime.fromisoformat(self._against[-1]["at"]) if self._against else None

    @property
    def again(self) -> bool:
        """No field clashed and no rule forbids it: the person may decide to do it on what is in force.

        What was said to a content as a page showed it is said again on the page that shows what is in force.
        """
        return (
            self.record.result == "conflict"
            and AS_SHOWN not in self.record.params
            and self.record.state != "terminal_state_found"
            and not self.record.differences
            and self.record.version_found is not None
            and self.record.closed_at is None
        )

    # ---- fields

    @cached_property
    def _mine(self) -> dict[str, Value]:
        return understood(self.record)

    @cached_property
    def _differences(self) -> dict[str, dict[str, Any]]:
        return {d["field"]: d for d in self.record.differences}

    def fields(self, *, posted: Mapping[str, str], faults: Mapping[str, list[str]]) -> list[Choice]:
        for name, d in self._differences.items():
            self.shower.learn(name, d["base"], d["current"], d["proposed"])
        return [self._choice(name, d, posted, faults) for name, d in self._differences.items()]

    def _choice(
        self, name: str, d: dict[str, Any], posted: Mapping[str, str], faults: Mapping[str, list[str]]
    ) -> Choice:
        last = next((c for c in reversed(self.moved) if c["aspect"] == name), None)
        by = Actor.parse(last["by"]) if last else self.by
        [other] = inputs.build(
            self.subject, [name], typed={name: posted.get(f"other-{name}", "")}, faults=faults, required=()
        )
        other.name = f"other-{name}"
        return Choice(
            name=name,
            label=aspect_label(self.ref.label, name),
            base=self.shower.text(name, d["base"]),
            mine=self.shower.text(name, d["proposed"]),
            theirs=self.shower.text(name, d["current"]),
            whose=_whose(self.viewer, by, from_file=self.file is not None),
            at=dt.datetime.fromisoformat(last["at"]) if last else None,
            picked=posted.get(f"pick-{name}", "theirs"),
            other=other,
        )

    @cached_property
    def of_agents(self) -> dict[str, Actor]:
        """Clashing fields in which the value in force is an agent's."""
        last = {c["aspect"]: Actor.parse(c["by"]) for c in self.moved}
        return {name: last[name] for name in self._differences if name in last and last[name].kind == Kind.AGENT}

    def overridden(self, posted: Mapping[str, str]) -> list[str]:
        """Those of them for which the person chose another value."""
        return [name for name in self.of_agents if posted.get(f"pick-{name}", "theirs") != "theirs"]

    @cached_property
    def together(self) -> list[Together]:
        """What fits: the person's other fields, and what others changed elsewhere."""
        rows = list(self._together())
        for name, *values in rows:
            if name in self.model.content_fields():
                self.shower.learn(name, *values[:2])
        told = [
            Together(
                label=aspect_label(self.ref.label, name),
                was=self._text(name, was),
                now=self._text(name, now),
                whose=whose,
            )
            for name, was, now, whose in rows
        ]
        return told

    def _text(self, name: str, value: Any) -> str:
        if name in self.model.content_fields():
            return self.shower.text(name, value)
        if isinstance(value, dict):  # a child: a task, an activity
            return str(value.get("title") or value.get("text") or value.get("value") or "")
        return ""

    def _together(self) -> Iterator[tuple[str, Any, Any, str]]:
        base = self._base
        merged = self.merged if self._differences else {}  # where nothing is to be chosen, nothing of theirs is saved
        for name, value in merged.items():
            if name not in self._differences:
                both = name in {c["aspect"] for c in self.moved}
                yield name, base.get(name), value, _("both") if both else self._meant_by
        seen = set(merged) | set(self._differences)
        for name in dict.fromkeys(c["aspect"] for c in self.moved):
            if name in seen:
                continue
            changes = [c for c in self.moved if c["aspect"] == name]
            whose = name_for(self.viewer, changes[-1]["by"], short=True)
            yield name, changes[0]["old"] if name in base else None, changes[-1]["new"], whose

    @property
    def _meant_by(self) -> str:
        return _("the file") if self.file else _("you")

    @cached_property
    def _base(self) -> dict[str, Value]:
        return (history.values_at(self.ref, self.record.version_read) if self.record.version_read else None) or {}

    @cached_property
    def _current(self) -> dict[str, Value]:
        return history.values_at(self.ref, self.found) or {}

    @cached_property
    def merged(self) -> dict[str, Value]:
        """What the person changed, put together with what is in force where the model can; the clashing as meant."""
        found: dict[str, Value] = {}
        for name, proposed in self._mine.items():
            base, current = self._base.get(name), self._current.get(name)
            if proposed == base:
                continue
            theirs = next((c["by"] for c in reversed(self.moved) if c["aspect"] == name), "")
            answer = merge(
                rule=self.model.policy.rule(name),
                base=base,
                current=current,
                proposed=proposed,
                theirs=Actor.parse(theirs),
                mine=self.record.intended_by,
            )
            found[name] = answer.value if isinstance(answer, Merged) else proposed
        return found

    # ---- the choice

    def chosen(self, posted: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """`(params, faults)`: the wish as it is after choosing. The other's value is sent as it is in force."""
        params = {**self._extras, **self.merged}
        faults: dict[str, list[str]] = {}
        for name, d in self._differences.items():
            pick = posted.get(f"pick-{name}", "theirs")
            if pick == "other":
                try:
                    params[name] = inputs.parse(
                        posted.get(f"other-{name}", ""), self.model._meta.get_field(name), self.subject
                    )
                except inputs.Fault as fault:
                    faults[name] = [str(fault)]
            else:
                params[name] = d["proposed"] if pick == "mine" else d["current"]
        if "stage" in self._differences and posted.get("pick-stage", "theirs") != "mine":
            # Staying where it is needs no reason of ours; the check wants the one that is there.
            params["reason"] = getattr(self.subject, "lost_reason", "") or params.get("reason", "")
        return params, faults

    @property
    def _extras(self) -> dict[str, Any]:
        """Params that are no fields (the reason of a move, the whole of an action without fields)."""
        return {name: value for name, value in self.record.params.items() if name not in self._mine}

    @property
    def typed(self) -> list[tuple[str, str]]:
        """What was typed, for reading and copying, where nothing can be chosen."""
        return [
            (param_label(self.ref.label, name), str(KINDS.get(value, value)) if name == "kind" else typed_text(value))
            for name, value in self.record.params.items()
            if isinstance(value, str) and value and name != AS_SHOWN
        ]


def is_theirs(record: Conflict, subject: VersionedModel, user: User) -> bool:
    """Whose choice it is: of whoever meant the change; a file's, of everybody who may carry it out."""
    person = actors.person(user)
    if record.intended_by.same_as(person):
        return True
    return origin_of(record) is not None and actions.get(record.action).permits(person, subject) is None


def param_label(model: str, name: str) -> str:
    """What a person calls what an action asks for: a field of the record, else a word of its own (`param.*`)."""
    code = f"param.{name}"
    label = aspect_label(model, name)
    if label != name or not sentences.known(code):
        return label if label != name else name.replace("_", " ")
    return str(Sentence(code))


KINDS = {**dict(TaskKind.choices), **dict(ActivityKind.choices)}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}\S*")


def typed_text(text: str) -> str:
    """A day or a time as the reader writes it, where it is; anything else as it was typed."""
    try:
        if _DAY.fullmatch(text):
            return weekday(dt.date.fromisoformat(text))
        if _MOMENT.fullmatch(text):
            at = dt.datetime.fromisoformat(text)
            return date_format(timezone.localtime(at) if at.tzinfo else at, pgettext("date", "D j M, H:i"))
    except ValueError:
        pass  # looks like a date, and is none
    return text


def understood(record: Conflict) -> dict[str, Value]:
    """The fields that the recorded wish would write, in plain form."""
    action = actions.get(record.action)
    try:
        wanted = action.writes(actions.validate(action, record.params))
    except BadParams:
        return {}
    return {name: plain(value, action.subject._meta.get_field(name)) for name, value in wanted.items()}  # type: ignore[arg-type]


def names_of(outcome: Outcome, *, viewer: Any) -> str:
    """What others changed between reading and saving: "stage (Ana), tags (Bob)". Empty if nobody did."""
    told: dict[str, str] = {}
    for change in outcome.moved:
        by = Actor.parse(change.by)
        own = by.is_person and by.key == str(viewer.pk)
        if not own and change.aspect not in DERIVED:
            told[aspect_label(change.subject.label, change.aspect)] = name_for(viewer, by, short=True)
    return ", ".join(_("%(what)s (%(who)s)") % {"what": what, "who": who} for what, who in told.items())


def _whose(viewer: User, by: Actor | None, *, from_file: bool) -> str:
    if by is None:
        return _("In force")
    if by.is_person and by.key == str(viewer.pk):
        return _("Yours, in force") if from_file else _("Yours from another window, in force")
    return _("%(who)s’s, in force") % {"who": name_for(viewer, by, short=True)}
