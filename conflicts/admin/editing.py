"""Editor: the content of a conflict's wish as inputs, and back: what "edit and apply" sends.

Guarantees that a field with two values is chosen between them or typed anew, that the safe choice stands first, and
that what was typed comes back as it was typed, with its fault beside it. Knows the types of fields only; the app that
knows the records makes better inputs of some (crm/admin/editing.py).
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from conflicts.admin.words import Words, field_of, label
from conflicts.history import children_of
from conflicts.models.versioned import VersionedModel
from conflicts.resolving import Clash, Resolution

PICKS = ("current", "proposed", "other")


class Fault(Exception):
    """What is wrong with a typed value, in words for the person."""


@dataclass(kw_only=True)
class Control:
    """An input: text, long, date, number, choice, yes, or fixed (shown, not changed)."""

    kind: str = "text"
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()


@dataclass(kw_only=True)
class Line:
    name: str
    label: str
    control: Control
    fault: str = ""
    clash: Clash | None = None
    current: str = ""
    proposed: str = ""
    picked: str = "current"


class Editor:
    def lines(
        self,
        resolution: Resolution,
        *,
        words: Words,
        posted: Mapping[str, str] | None = None,
        faults: Mapping[str, list[str]] | None = None,
    ) -> list[Line]:
        """A line for each field of the wish; nothing for a wish that cannot be done again."""
        posted, faults = posted or {}, faults or {}
        model = resolution.action.subject if resolution.action else None
        if model is None or not resolution.possible:
            return []
        clashes = {clash.name: clash for clash in resolution.clashes}
        found = []
        for name, value in resolution.params().items():
            clash = clashes.get(name)
            control = self.control(resolution, name, value)
            control.value = posted.get(f"value-{name}", control.value)
            found.append(
                Line(
                    name=name,
                    label=label(model, name),
                    control=control,
                    fault=" ".join(faults.get(name, ())),
                    clash=clash,
                    current=words.text(model, name, clash.current) if clash else "",
                    proposed=words.text(model, name, clash.proposed) if clash else "",
                    picked=posted.get(f"pick-{name}", "current"),
                )
            )
        return found

    def params(self, resolution: Resolution, posted: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """`(params, faults)`: the wish as the form says it."""
        clashes = {clash.name: clash for clash in resolution.clashes}
        params = resolution.params()
        faults: dict[str, list[str]] = {}
        for name, value in list(params.items()):
            pick = posted.get(f"pick-{name}", "current")
            if name in clashes and pick in ("current", "proposed"):
                params[name] = getattr(clashes[name], pick)
                continue
            typed = posted.get(f"value-{name}")
            if typed is None or self.control(resolution, name, value).kind == "fixed":
                continue
            try:
                params[name] = self.parse(resolution, name, typed)
            except Fault as fault:
                faults[name] = [str(fault)]
        return params, faults

    def control(self, resolution: Resolution, name: str, value: Any) -> Control:
        """The input for a param, filled with its value."""
        field = self.field(resolution, name)
        text = "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        match field:
            case None:
                return Control(kind="fixed" if isinstance(value, int | dict) else "text", value=text)
            case models.Field() if field.related_model is not None:
                return Control(kind="fixed", value=text)
            case models.Field() if field.choices:
                return Control(kind="choice", value=text, options=tuple((str(v), str(w)) for v, w in field.flatchoices))
            case models.BooleanField():
                return Control(kind="choice", value="1" if value else "", options=(("1", _("yes")), ("", _("no"))))
            case models.DateField() if not isinstance(field, models.DateTimeField):
                return Control(kind="date", value=text)
            case models.TextField():
                return Control(kind="long", value=text)
        return Control(value=text)

    def parse(self, resolution: Resolution, name: str, text: str) -> Any:
        """The value meant by `text`; the action's own params have the last word. Raises Fault."""
        field = self.field(resolution, name)
        text = text.strip()
        match field:
            case models.BooleanField():
                return text == "1"
            case models.DateField() if not isinstance(field, models.DateTimeField):
                try:
                    return dt.date.fromisoformat(text) if text else None
                except ValueError:
                    raise Fault(_("There is no day “%(text)s”.") % {"text": text[:40]}) from None
        if type(field).__name__ == "ArrayField":
            return [part.strip() for part in text.split(",") if part.strip()]
        return None if not text and field is not None and field.null else text

    def field(self, resolution: Resolution, name: str) -> Any:
        """The model's field of that name, or that of a child (`due_on` of "plan a task" is the task's)."""
        model: type[VersionedModel] = resolution.action.subject  # type: ignore[union-attr]
        if name in model.content_fields():
            return field_of(model, name)
        child = next((child for child in children_of(model) if name in child.content_fields()), None)
        return field_of(child, name) if child else None
