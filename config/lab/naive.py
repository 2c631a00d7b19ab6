"""What plain Django sends, for the naive half of a race: an UPDATE of the row with this key, whatever has become of it.

Our models refuse a stale save by themselves, so the usual way has to be written out here.
"""

from typing import Any

from django.db import models

from conflicts.models import ChildModel, VersionedModel
from conflicts.refs import Ref


def load(ref: Ref) -> Any:
    return ref.model._base_manager.get(pk=ref.pk)


def save(obj: VersionedModel | ChildModel) -> None:
    """As `save()`: every column, with the values that were in memory."""
    _update(obj, obj.content_fields())


def save_only(obj: VersionedModel | ChildModel, *names: str) -> None:
    """As `save(update_fields=...)`."""
    _update(obj, names)


def _update(obj: VersionedModel | ChildModel, names: tuple[str, ...]) -> None:
    type(obj)._base_manager.filter(pk=obj.pk).update(**values(obj, names))


def save_at_version(obj: VersionedModel, version: int, *names: str) -> bool:
    """The usual optimistic lock: the whole record must be as the page showed it. False: it was not."""
    found = type(obj)._base_manager.filter(pk=obj.pk, version=version)
    return found.update(**values(obj, names), version=models.F("version") + 1) == 1


def values(obj: models.Model, names: tuple[str, ...]) -> dict[str, Any]:
    """Field name -> what is in memory, relations by their key."""
    fields: dict[str, Any] = {field.name: field for field in obj._meta.concrete_fields}
    return {name: getattr(obj, fields[name].attname) for name in names}
