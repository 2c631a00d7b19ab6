"""Plain values, as history and evidence keep them, in the words of the page.

Guarantees one form everywhere (timeline, live bar, settling): money with its sign, days and times where the viewer is,
related records by name. All names of a page are looked up in one query. Next in the flow: `crm/timeline.py`.
"""

import datetime as dt
from collections import defaultdict
from typing import Any

from babel import Locale, UnknownLocaleError
from django.db import models
from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.text import capfirst
from django.utils.translation import get_language, pgettext, to_locale
from django.utils.translation import gettext as _

from conflicts.values import Value as Plain
from crm.models import User
from crm.templatetags.vigente import money_text, weekday

COUNTED = frozenset({"discount", "quantity"})
"""Decimals that are no money."""


class Shower:
    """Words for the fields of one model. `learn` everything first, then ask for `text`: one query for all names."""

    def __init__(self, model: type[models.Model], *, currency: str = "") -> None:
        self.model = model
        self.currency = currency
        self._wanted: dict[type[models.Model], set[int]] = defaultdict(set)
        self._names: dict[tuple[str, int], str] = {}

    def knows(self, *objects: models.Model | None) -> None:
        """Related records that the page has loaded anyway."""
        for obj in objects:
            if obj is not None:
                self._names[obj._meta.label_lower, obj.pk] = str(obj)

    def learn(self, name: str, *values: Plain) -> None:
        related = self.model._meta.get_field(name).related_model
        if related is None or isinstance(related, str):
            return
        for value in values:
            if isinstance(value, int) and (related._meta.label_lower, value) not in self._names:
                self._wanted[related].add(value)

    def text(self, name: str, value: Plain) -> str:
        """Empty for an empty value; the page says what that means there."""
        field: Any = self.model._meta.get_field(name)
        if value is None or value == "" or value == []:
            return ""
        if field.related_model is not None:
            return self._name(field.related_model, value)
        match field:
            case models.DecimalField() if self.currency and name not in COUNTED:
                return money_text(str(value), self.currency)
            case models.DateTimeField():
                return date_format(
                    timezone.localtime(dt.datetime.fromisoformat(str(value))), pgettext("date", "D j M, H:i")
                )
            case models.DateField():
                return weekday(dt.date.fromisoformat(str(value)))
            case models.BooleanField():
                return _("yes") if value else _("no")
            case _ if field.choices:
                return str(dict(field.flatchoices).get(value, value))
            case models.IntegerField() | models.DecimalField() if name not in ("founded",):
                return number_format(str(value), use_l10n=True)
            case models.CharField() if name == "language":
                return language_name(str(value))
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    def _name(self, model: type[models.Model], key: Any) -> str:
        if not isinstance(key, int):
            return str(key)
        self.learn_now()
        label = model._meta.label_lower
        if (label, key) not in self._names:
            self._wanted[model].add(key)
            self.learn_now()
        return self._names.get((label, key), _("no longer there"))

    def learn_now(self) -> None:
        wanted = {model: keys for model, keys in self._wanted.items() if keys}
        self._wanted.clear()
        if not wanted:
            return
        first, *others = [_named(model, keys) for model, keys in wanted.items()]
        for label, key, text in first.union(*others, all=True) if others else first:
            self._names[label, key] = text.strip()


def language_name(code: str) -> str:
    """A code in words of the reader's language: "Portuguese (Brazil)". What is no code stays as it was typed."""
    try:
        named = Locale.parse(code, sep="-").get_display_name(to_locale(get_language() or "en"))
    except (UnknownLocaleError, ValueError):
        return code
    return capfirst(named or code)


def _named(model: type[models.Model], keys: set[int]) -> QuerySet[Any, Any]:
    text: Any = Concat("first_name", Value(" "), "last_name", output_field=CharField()) if model is User else F("name")
    rows = model._default_manager.filter(pk__in=keys).order_by()
    return rows.values_list(Value(model._meta.label_lower, output_field=CharField()), "pk", text)
