"""Field values in the one form in which they are compared, stored as evidence and shown.

Guarantees that two values which mean the same compare equal (`10` and `Decimal("10.00")`, a date and its ISO text):
a false conflict, born of a format, would teach people to click conflicts away.
"""

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db import models

type Value = str | int | float | bool | list[Any] | dict[str, Any] | None


def plain(value: Any, field: "models.Field[Any, Any] | None" = None) -> Value:
    """`value` as JSON can hold it: decimals at the field's scale, times in UTC ISO form, objects as their key."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, models.Model):
        return plain(value.pk)
    if isinstance(value, Decimal | float):
        places = getattr(field, "decimal_places", None)
        number = Decimal(str(value))
        return str(
            number.quantize(Decimal(1).scaleb(-places)) if places is not None else format(number.normalize(), "f")
        )
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return field_text(value, field)
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def field_text(value: str, field: "models.Field[Any, Any] | None") -> Value:
    """Text that came for a typed field (`"10"` for a decimal, `"2026-01-31"` for a date) in that field's plain form."""
    if field is None or isinstance(field, models.CharField | models.TextField):
        return value
    return plain(field.to_python(value), field)


def read(obj: models.Model, names: Iterable[str]) -> dict[str, Value]:
    """The fields `names` of `obj` in plain form; relations by the key of what they point at."""
    found: dict[str, Value] = {}
    for name in names:
        field = obj._meta.get_field(name)
        found[name] = plain(getattr(obj, field.attname), field)  # type: ignore[union-attr,arg-type]
    return found


def native(model: type[models.Model], name: str, value: Value) -> Any:
    """The Python value that `plain` came from, ready to be set on the field's attribute."""
    field = model._meta.get_field(name)
    target = getattr(field, "target_field", field)
    return None if value is None else target.to_python(value)  # type: ignore[union-attr]
