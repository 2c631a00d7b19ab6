"""A conflict held against what is in force now: base / current / proposed, and the wish as it is after choosing.

Guarantees that what its author did not touch never travels (it would write an old value over a new one), and that what
the model's policy merges arrives merged; where two values stand against each other, one is chosen by name.
Next in the flow: `conflicts/decisions.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy as _

from conflicts import actions, history, sentences
from conflicts.actions import AS_SHOWN, Action
from conflicts.actors import Actor
from conflicts.exceptions import BadParams, UnknownAction
from conflicts.merging import Merged, merge
from conflicts.models import Conflict, VersionedModel
from conflicts.outcomes import Change
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.values import Value, plain, read

SHOWN = (AS_SHOWN, "document")
"""The params that say which content a word was given to; the record has the one in force under the same names."""

sentences.register(
    {"not_in_force": _("What this was about is not in force any more; it is decided on its own page, as it is now.")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """One field with two values that no rule puts together."""

    name: str
    base: Value
    current: Value
    proposed: Value
    last: Change | None
    """The change that made the current value."""


@dataclass
class Resolution:
    record: Conflict
    subject: VersionedModel | None
    """As it is now; None where the record is about none, or it is gone."""
    shown: int | None = None
    """The version that the decision is made on, where it is not the one in force: what came later is the gate's to put
    together, once."""
    action: Action | None = field(init=False)

    def __post_init__(self) -> None:
        try:
            self.action = actions.get(self.record.action)
        except UnknownAction:
            self.action = None

    @property
    def version(self) -> int | None:
        return self.subject.version if self.subject is not None else None

    @property
    def possible(self) -> bool:
        """It can be done again at all: the action is known, the record it is about is there, and what was shown is."""
        there = self.action is not None and (self.subject is not None or self.action.creates)
        return there and not self.outdated

    @property
    def outdated(self) -> bool:
        """It was a word on one content, which is not in force any more: from here nobody can say it of another."""
        if self.action is None or not self.action.as_shown or self.subject is None:
            return False
        meant = self.record.params
        return any(meant.get(name) != getattr(self.subject, name, None) for name in SHOWN if name in meant)

    @property
    def why_not(self) -> Sentence | None:
        """Why it cannot be done again from here; None if it can."""
        if self.possible:
            return None
        return Sentence("not_in_force" if self.outdated else "cannot_be_done")

    @cached_property
    def ref(self) -> Ref | None:
        return Ref.of(self.subject) if self.subject is not None else None

    @cached_property
    def moved(self) -> tuple[Change, ...]:
        """All that changed since it was read, up to what was shown (now, where nothing was)."""
        read_at = self.record.version_read
        found = history.changes_since(self.ref, read_at) if self.ref and read_at else ()
        return tuple(c for c in found if self.shown is None or c.subject != self.ref or c.version <= self.shown)

    @cached_property
    def wish(self) -> dict[str, Value]:
        """The fields it would write, in plain form."""
        if self.action is None or self.subject is None:
            return {}
        try:
            wanted = self.action.writes(actions.validate(self.action, self.record.params))
        except BadParams:
            return {}
        model = self.action.subject
        return {name: plain(value, model._meta.get_field(name)) for name, value in wanted.items()}  # type: ignore[arg-type]

    @cached_property
    def base(self) -> dict[str, Value]:
        known = {d["field"]: d["base"] for d in self.record.differences}
        if self.ref and self.record.version_read:
            known = {**known, **(history.values_at(self.ref, self.record.version_read) or {})}
        return known

    @cached_property
    def current(self) -> dict[str, Value]:
        """Of the fields it would write: what was shown, or what is in force where nothing (known) was."""
        if self.subject is None:
            return {}
        now = read(self.subject, self.wish)
        if self.ref is None or self.shown in (None, self.subject.version):
            return now
        then = history.values_at(self.ref, self.shown) or {}
        return {name: then.get(name, value) for name, value in now.items()}

    @cached_property
    def _answers(self) -> dict[str, Any]:
        """Merged or Unmerged for each field that its author touched."""
        found = {}
        for name, proposed in self.wish.items():
            base = self.base.get(name)
            if proposed == base:
                continue
            last = self._last(name)
            found[name] = merge(
                rule=type(self.subject).policy.rule(name),  # type: ignore[union-attr]
                base=base,
                current=self.current[name],
                proposed=proposed,
                theirs=Actor.parse(last.by) if last else Actor.parse(""),
                mine=self.record.intended_by,
            )
        return found

    def _last(self, name: str) -> Change | None:
        return next((c for c in reversed(self.moved) if c.subject == self.ref and c.aspect == name), None)

    @cached_property
    def clashes(self) -> list[Clash]:
        return [
            Clash(
                name=name,
                base=answer.base,
                current=answer.current,
                proposed=answer.proposed,
                last=self._last(name),
            )
            for name, answer in self._answers.items()
            if not isinstance(answer, Merged)
        ]

    @property
    def settled(self) -> dict[str, Value]:
        """The fields that need no choice: merged, or touched by its author alone."""
        return {name: answer.value for name, answer in self._answers.items() if isinstance(answer, Merged)}

    @property
    def extras(self) -> dict[str, Any]:
        """Params that are no fields: the reason of a move, the whole of an action that adds a row."""
        return {name: value for name, value in self.record.params.items() if name not in self.wish}

    def params(self, chosen: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The wish on what is in force: as it was meant where two values clash, unless `chosen` says otherwise."""
        meant = {clash.name: clash.proposed for clash in self.clashes}
        return {**self.extras, **self.settled, **meant, **(chosen or {})}


def of(record: Conflict, *, shown: int | None = None) -> Resolution:
    return Resolution(record=record, subject=subject_of(record), shown=shown)


def subject_of(record: Conflict) -> VersionedModel | None:
    """The record it is about as it is now."""
    try:
        model = apps.get_model(record.subject_model)
    except (LookupError, ValueError):
        return None
    if not issubclass(model, VersionedModel) or record.subject_id is None:
        return None
    return model._base_manager.filter(pk=record.subject_id).first()
