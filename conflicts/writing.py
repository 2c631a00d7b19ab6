"""The only statements that change a subject: conditional UPDATEs and INSERTs, of one Work or of five hundred.

Guarantees that each subject's version rises by exactly one, compared in the WHERE (compare-and-swap), before any of its
children is written, and that all is refused if a single row was not as it was locked.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models

from conflicts.batch import Answer, Batch
from conflicts.models.versioned import VersionedModel
from conflicts.work import Work


class LostRow(Exception):
    """A locked row was not as it was locked: the last line of defence, which a correct gate never reaches."""


def write(works: Sequence[Work]) -> None:
    """Carry out what the works ask for, in the caller's transaction."""
    # New subjects first, and by themselves: their children need the keys.
    insert(obj for work in works for obj in work.added if isinstance(obj, VersionedModel))
    batch = Batch()
    updates = [_raise_version(batch, work) for work in works if work.subject not in work.added]
    updates += [_update(batch, child, values) for work in works for child, values in work.changed]
    kept = _insert(batch, [obj for work in works for obj in work.added if not isinstance(obj, VersionedModel)])
    batch.send()
    if any(update.count != 1 for update in updates):
        raise LostRow
    _take_keys(kept)


def insert(objects: Iterable[models.Model]) -> None:
    """Write new rows, a statement per model, and give the objects their keys; nothing else is read back."""
    batch = Batch()
    kept = _insert(batch, objects)
    batch.send()
    _take_keys(kept)


def _raise_version(batch: Batch, work: Work) -> Answer:
    version = work.subject.version
    work.subject.version = version + 1
    return _update(batch, work.subject, work.changes, version=version)


def _update(batch: Batch, obj: Any, values: Mapping[str, Any], *, version: int | None = None) -> Answer:
    model: type[models.Model] = type(obj)
    names = tuple(sorted(values))
    params = [_field(model, name).get_db_prep_save(values[name], connection) for name in names]
    key = [obj.pk] if version is None else [obj.pk, version]
    return batch.add(_update_sql(model, names, versioned=version is not None), [*params, *key])


@cache
def _field(model: type[models.Model], name: str) -> Any:
    """The field by its name or its attribute's name (`stage`, `stage_id`)."""
    return next(field for field in model._meta.concrete_fields if name in (field.name, field.attname))


@cache
def _update_sql(model: type[models.Model], names: tuple[str, ...], *, versioned: bool) -> str:
    quote = connection.ops.quote_name
    sets = [f"{quote(_field(model, name).column)} = %s" for name in names]
    where = f"{quote('id')} = %s"
    if versioned:
        sets.append("version = version + 1")
        where += " AND version = %s"
    return f"UPDATE {quote(model._meta.db_table)} SET {', '.join(sets)} WHERE {where}"


type Kept = list[tuple[Answer, list[models.Model]]]


def _insert(batch: Batch, objects: Iterable[models.Model]) -> Kept:
    by_model: dict[type[models.Model], list[models.Model]] = defaultdict(list)
    for obj in objects:
        by_model[type(obj)].append(obj)
    kept: Kept = []
    database = connections[DEFAULT_DB_ALIAS]  # looked up once: the proxy would be asked for each value of each row
    for model, group in by_model.items():
        fields, head, key = _insert_sql(model)
        place = f"({', '.join(['%s'] * len(fields))})"
        rows = [[_value(field, obj, database) for field in fields] for obj in group]
        kept.append((batch.add_rows(f"{head} VALUES", place, rows, f"RETURNING {key}"), group))
    return kept


def _take_keys(kept: Kept) -> None:
    for answer, group in kept:
        for obj, (key,) in zip(group, answer.rows, strict=True):
            obj.pk = key
            obj._state.adding, obj._state.db = False, connection.alias


@cache
def _insert_sql(model: type[models.Model]) -> tuple[list[Any], str, str]:
    quote = connection.ops.quote_name
    fields = [f for f in model._meta.concrete_fields if not f.primary_key and not f.has_db_default()]
    columns = ", ".join(quote(str(field.column)) for field in fields)
    return fields, f"INSERT INTO {quote(model._meta.db_table)} ({columns})", quote("id")


def _value(field: Any, obj: models.Model, database: Any) -> Any:
    if field.is_relation and field.is_cached(obj):
        # The row it points at may have got its key only a moment ago, in this same write.
        related = field.get_cached_value(obj)
        setattr(obj, field.attname, related.pk if related is not None else None)
    return field.get_db_prep_save(field.pre_save(obj, add=True), database)
