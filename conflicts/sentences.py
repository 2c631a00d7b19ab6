"""Sentences: what a person reads of an outcome, as a code with facts, put into words in the reader's language.

Guarantees that evidence stored today is read in Portuguese tomorrow: nothing stored is already translated. Apps add
their own with `register`; a code without words fails the start (conflicts/checks.py).
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import get_text_list
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from conflicts import actors, policies

_WORDS: dict[str, Any] = {
    "moved": _("{who} changed {what} after this was read. Nothing was written."),
    "person_was_faster": _("{who} changed {what} after the agent had read it. The agent's change was not made."),
    "rested_on": _("{who} changed {what} after this was read. Nothing was written until someone looks again."),
    "not_mergeable": _("There are two values now for {what}. Nothing was written until someone chooses."),
    "merged": _("{what} was put together with the change by {who}."),
    "rebased": _("{who} had changed {what}; that does not touch this, so it was written on the newer version."),
    "gone": _("This record is no longer there. Nothing was written."),
    "busy": _("Somebody is saving this right now. Nothing was written; try again in a moment."),
    "key_reused": _("This request was sent before with other content. Nothing was written."),
    "key_unusable": _(
        "The key of this request has more than 255 characters, or some that cannot be kept. Nothing was written."
    ),
    "lease_expired": _(
        "The time reserved for this work had run out and it may be somebody else's now. Nothing was written."
    ),
    "names_nothing": _("Something that this names is not there. Nothing was written."),
    "taken": _("Somebody has just made the same record. Nothing was written."),
    "not_allowed": _("Only {who} can do this. Nothing was written."),
    "read_again": _(
        "{who} changed {what} after this was read, so it is read again from the start. Nothing was written."
    ),
    "approval_void": _("{who} changed {what} after this was read. The approval is void. Nothing was written."),
    "approval_expired": _("The approval had run out before it was used. Nothing was written."),
    "approval_without_right": _("{who} may not approve this any more. Nothing was written."),
    "approval_of_other_rules": _("The rules have changed since the approval was given. Nothing was written."),
    "state_is_final": _("It is {status} now, and agents leave it alone. Nothing was written."),
    "no_such_move": _("What is {old} does not become {new}. Nothing was written."),
    "exclusive_meanwhile": _("{who} was first, and it is {status} now. The two exclude each other: a person decides."),
    "next.authority": _("Somebody with the authority for it decides: {authority}."),
    "next.choose": _("Choose which value counts."),
    "next.approve_again": _("Look at the difference and decide again."),
    "next.look_again": _("The agent looks again; if it cannot tell, a person decides."),
    "next.decide": _("A person decides."),
    "approval_of_other_content": _("What was approved is not what was to be done. Nothing was written."),
}

_WHOLE = {
    *("moved", "person_was_faster", "rested_on", "not_mergeable", "gone", "busy", "key_reused", "lease_expired"),
    "key_unusable",
    *("names_nothing", "taken", "not_allowed", "approval_of_other_content", "approval_void", "approval_expired"),
    *("approval_of_other_rules", "approval_without_right", "state_is_final", "no_such_move", "read_again"),
}


def register(words: Mapping[str, Any], *, whole: Iterable[str] = ()) -> None:
    """Add an app's sentences. Raises ValueError for a code that another app already gave words to.

    `whole`: those that say themselves what did not happen, so that no page says it a second time.
    """
    _WHOLE.update(whole)
    for code, text in words.items():
        if code in _WORDS and str(_WORDS[code]) != str(text):
            raise ValueError(f"The sentence {code!r} is already registered.")
        _WORDS[code] = text


def known(code: str) -> bool:
    return code in _WORDS


def is_whole(code: str) -> bool:
    """True if the sentence itself says what did not happen."""
    return code in _WHOLE


def aspects(model: str, names: Iterable[str]) -> dict[str, list[str]]:
    """A fact that names fields or child aspects of a model (`app.model`); shown by their labels."""
    return {"aspects": [f"{model}:{name}" for name in names]}


def date(day: dt.date | str) -> dict[str, str]:
    """A fact that is a day; shown in the reader's format."""
    return {"date": day if isinstance(day, str) else day.isoformat()}


def actor(by: actors.Actor | str) -> dict[str, str]:
    """A fact that is somebody; shown by name, and to themselves as "You" (Sentence.told_to)."""
    return {"actor": str(by)}


def choice(model: str, name: str, value: str) -> dict[str, list[str]]:
    """A fact that is one of a field's choices (a state); shown by its words."""
    return {"choice": [model, name, value]}


def authority(names: Iterable[str]) -> dict[str, list[str]]:
    """A fact that names kinds of authority."""
    return {"authority": sorted(names)}


def anyone(these: Iterable[actors.Actor | str]) -> dict[str, list[str]]:
    """A fact that is a few people, each of whom can do it; shown as "Ana or Bob"."""
    return {"anyone": [str(by) for by in these]}


_SHOWN_BY: dict[str, Callable[[Any], str]] = {}


def shown_by(kind: str, words: Callable[[Any], str]) -> None:
    """A kind of fact that only the product can put into words: `{kind: value}` reads as `words(value)`."""
    _SHOWN_BY[kind] = words


def aspect_label(model: str, name: str) -> str:
    """What a person calls that field or aspect of the model."""
    cls = apps.get_model(model)
    for child in apps.get_models():
        if getattr(child, "aspect", None) == name:
            return str(child._meta.verbose_name_plural)
    try:
        return str(cls._meta.get_field(name).verbose_name)
    except FieldDoesNotExist:
        return name


def _shown(value: Any) -> Any:
    match value:
        case {"aspects": names}:
            labels = [aspect_label(*name.rsplit(":", 1)) for name in names]
            return get_text_list(list(dict.fromkeys(labels)), _t("and")) or "-"
        case {"date": day}:
            found = dt.date.fromisoformat(day)
            # Without its year, a day of 2017 would read as one of this year.
            this_year = found.year == timezone.localdate().year
            return date_format(found, pgettext("date", "D, j M") if this_year else pgettext("date", "D, j M Y"))
        case {"actor": by}:
            return actors.Actor.parse(by).shown
        case {"choice": [model, name, value]}:
            field: Any = apps.get_model(model)._meta.get_field(name)
            return str(dict(field.flatchoices).get(value, value))
        case {"authority": names}:
            return get_text_list([str(policies.Authority(name).words) for name in names], _t("and"))
        case {"anyone": these}:
            return get_text_list([actors.Actor.parse(by).shown for by in these], _t("or")) or _t("Nobody here yet")
        case dict() if len(value) == 1 and (kind := next(iter(value))) in _SHOWN_BY:
            return _SHOWN_BY[kind](value[kind])
        case str():
            return actors.said(value)
    return value


def _to(reader: actors.Actor, value: Any) -> Any:
    match value:
        case {"actor": by} if actors.Actor.parse(by).same_as(reader):
            return pgettext("the reader, beginning a sentence", "You")
    return value


class _Facts(dict[str, Any]):
    """A fact that an old record does not hold leaves a dash, never an error on the page."""

    def __missing__(self, key: str) -> str:
        return "-"


@dataclass(frozen=True, slots=True)
class Sentence:
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        facts = {name: _shown(value) for name, value in self.facts.items()}
        text = str(_WORDS.get(self.code, self.code)).format_map(_Facts(facts))
        # A sentence may begin with the name of a field, which is written small.
        return text[:1].upper() + text[1:] if self.code in _WORDS else text

    def told_to(self, reader: actors.Actor) -> "Sentence":
        """As `reader` is told: nobody reads their own name in the third person."""
        return Sentence(self.code, {name: _to(reader, value) for name, value in self.facts.items()})

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Sentence":
        return cls(data["code"], data["facts"])
