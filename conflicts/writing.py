"""The only statements that change a subject: conditional UPDATEs and INSERTs, of one Work or of five hundred.

Guarantees that each subject's version rises by exactly one, compared in the WHERE (compare-and-swap), before any of its
children is written, and that the whole batch is refused if a single row was not as locked.
Rows go to the server in one pipeline per table (psycopg's executemany), which is what makes a batch fast.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from django.db import connection, models

from conflicts.models.versioned import ChildModel, VersionedModel
from conflicts.work import Work


class LostRow(Exception):
    """A locked row was not as it was locked: the guard's last line, which a correct gate never reaches."""


def write(works: Sequence[Work]) -> None:
    """Carry out what the works ask for, in the caller's transaction."""
    subjects = [
        obj for work in works for obj in work.added if isinstance(obj, VersionedModel)
    ]
    children = [
        obj
        for work in works
        for obj in work.added
        if not isinstance(obj, VersionedModel)
    ]
    _insert(subjects)
    _raise_versions(work for work in works if not _is_new(work))
    _insert(children)
    _change_children(change for work in works for change in work.changed)


def _is_new(work: Work) -> bool:
    return any(obj is work.subject for obj in work.added)


def _insert(objects: Iterable[models.Model]) -> None:
    by_model: dict[type[models.Model], list[models.Model]] = defaultdict(list)
    for obj in objects:
        by_model[type(obj)].append(obj)
    for model, rows in by_model.items():
        model._base_manager.bulk_create(rows)


def _raise_versions(works: Iterable[Work]) -> None:
    rows: dict[tuple[type[VersionedModel], tuple[str, ...]], list[list[Any]]] = (
        defaultdict(list)
    )
    for work in works:
        names = tuple(sorted(work.changes))
        values = [
            _prepared(type(work.subject), name, work.changes[name]) for name in names
        ]
        rows[type(work.subject), names].append(
            [*values, work.subject.pk, work.subject.version]
        )
        work.subject.version += 1
    for (model, names), batch in sorted(
        rows.items(), key=lambda item: (item[0][0]._meta.label_lower, item[0][1])
    ):
        _execute(_update_sql(model, names, versioned=True), batch)


def _change_children(changed: Iterable[tuple[ChildModel, dict[str, Any]]]) -> None:
    rows: dict[tuple[type[ChildModel], tuple[str, ...]], list[list[Any]]] = defaultdict(
        list
    )
    for child, changes in changed:
        names = tuple(sorted(changes))
        values = [_prepared(type(child), name, changes[name]) for name in names]
        rows[type(child), names].append([*values, child.pk])
    for (model, names), batch in rows.items():
        _execute(_update_sql(model, names, versioned=False), batch)


@cache
def _field(model: type[models.Model], name: str) -> Any:
    """The field by its name or its attribute's name (`stage`, `stage_id`)."""
    return next(
        field
        for field in model._meta.concrete_fields
        if name in (field.name, field.attname)
    )


def _prepared(model: type[models.Model], name: str, value: Any) -> Any:
    return _field(model, name).get_db_prep_save(value, connection)


@cache
def _update_sql(
    model: type[models.Model], names: tuple[str, ...], *, versioned: bool
) -> str:
    quote = connection.ops.quote_name
    sets = [f"{quote(_field(model, name).column)} = %s" for name in names]
    where = f"{quote(model._meta.pk.column)} = %s"
    if versioned:
        sets.append("version = version + 1")
        where += " AND version = %s"
    return f"UPDATE {quote(model._meta.db_table)} SET {', '.join(sets)} WHERE {where}"  # noqa: S608 - names from models


def _execute(sql: str, batch: list[list[Any]]) -> None:
    with connection.cursor() as cursor:
        if len(batch) == 1:
            cursor.execute(sql, batch[0])
        else:
            cursor.executemany(sql, batch)
        if cursor.rowcount != len(batch):
            raise LostRow(
                f"{len(batch) - cursor.rowcount} of {len(batch)} rows were not as locked: {sql}"
            )
