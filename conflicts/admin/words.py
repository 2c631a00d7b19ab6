"""Plain values, as history and evidence keep them, in the words of the admin's reader.

Guarantees one query per kind of related record, however many values a page shows. Knows no model by name.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from conflicts import sentences
from conflicts.history import children_of
from conflicts.models.versioned import ChildModel, VersionedModel
from conflicts.sentences import Sentence
from conflicts.values import Value

NOTHING = "–"
UNSAID = frozenset({"by", "made_by", "source", "facts", "value_key"})
"""Fields of a child that say again, in code, what the line beside it says."""

type Money = Callable[[str], str]
"""An amount as the record's currency writes it."""


def field_of(model: type[models.Model], name: str) -> Any:
    """The field, or None for a name that is none (an old record may speak of a field that is gone)."""
    try:
        return model._meta.get_field(name)
    except FieldDoesNotExist:
        return None


def child_of(model: type[VersionedModel], aspect: str) -> type[ChildModel] | None:
    return next((child for child in children_of(model) if child.aspect == aspect), None)


class Words:
    """Collects the keys of related records while a page is put together, and looks them up once, at the first text."""

    def __init__(self, *, money: Money | None = None) -> None:
        self._money = money
        self._wanted: dict[type[models.Model], set[int]] = defaultdict(set)
        self._names: dict[type[models.Model], dict[int, str]] = defaultdict(dict)

    def want(self, model: type[models.Model], name: str, value: Value) -> None:
        """Say beforehand that `text` will be asked for this value."""
        if isinstance(value, dict):
            for key, item in value.items():
                self.want(model, key, item)
        field = field_of(model, name)
        target = getattr(field, "related_model", None)
        if isinstance(target, type) and isinstance(value, int) and not isinstance(value, bool):
            self._wanted[target].add(value)

    def text(self, model: type[models.Model], name: str, value: Value) -> str:
        field = field_of(model, name)
        if value is None or value == "" or value == [] or value == {}:
            return NOTHING
        if isinstance(value, bool):
            return _("yes") if value else _("no")
        if isinstance(value, list):
            return ", ".join(str(item) for item in value)
        if isinstance(value, dict):
            return self._row(model, value)
        target = getattr(field, "related_model", None)
        if isinstance(target, type):
            return self._name(target, value)
        if getattr(field, "choices", None):
            return str(dict(field.flatchoices).get(value, value))
        if self._money and isinstance(field, models.DecimalField):
            return self._money(str(value))
        return _typed(field, value)

    def _row(self, model: type[models.Model], row: dict[str, Any]) -> str:
        """A child as one line: texts and choices bare, days and people with what they are."""
        parts = []
        for field in model._meta.concrete_fields:  # in this order: a JSON column keeps none
            name = field.name
            value = row.get(name)
            if name in UNSAID or value in (None, "", [], {}, False):
                continue
            text = self.text(model, name, value)
            bare = isinstance(field, models.CharField | models.TextField)
            parts.append(text if bare else f"{label(model, name)}: {text}")
        return " · ".join(parts) or NOTHING

    def _name(self, model: type[models.Model], key: Any) -> str:
        if not isinstance(key, int):
            return str(key)
        if key not in self._names[model]:
            keys = self._wanted.pop(model, set()) | {key}
            rows = model._base_manager.in_bulk(keys)
            self._names[model] |= {k: str(rows[k]) if k in rows else _("no longer there") for k in keys}
        return self._names[model][key]


def label(model: type[models.Model], name: str) -> str:
    """What a person calls the field, or the kind of child, or (for neither) the name itself."""
    field = field_of(model, name)
    if field is not None and hasattr(field, "verbose_name"):
        return str(field.verbose_name)
    if issubclass(model, VersionedModel):
        if child := child_of(model, name):
            return str(child._meta.verbose_name_plural)
        for child in children_of(model):
            if child._meta.model_name == name:
                return str(child._meta.verbose_name)
    code = f"param.{name}"
    return str(Sentence(code)) if sentences.known(code) else name.replace("_", " ")


def _typed(field: Any, value: Any) -> str:
    try:
        match field:
            case models.DateTimeField():
                moment = dt.datetime.fromisoformat(str(value))
                return date_format(timezone.localtime(moment), "SHORT_DATETIME_FORMAT")
            case models.DateField():
                return date_format(dt.date.fromisoformat(str(value)), "SHORT_DATE_FORMAT")
            case models.DecimalField():
                return number_format(str(value), decimal_pos=field.decimal_places, use_l10n=True, force_grouping=True)
    except ValueError:
        pass  # an old record may hold a text where today a date is expected
    return str(value)
