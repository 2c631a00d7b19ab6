"""Rows as the gate reads them: one short statement, no query compiler in between.

Guarantees what the ORM would give (whole instances of the model, converted by its fields) for the one shape of query
the gate needs thousands of times: a model's rows by key, optionally locked. Measured: the ORM's compiler took more time
than the server for the same rows. Everything else reads with the ORM.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from django.db import connection, models

from conflicts.batch import Answer, Batch


class Rows[M: models.Model]:
    """A statement for the rows of `model` whose `column` is one of `keys`, in ascending order of their primary key.

    `also` is a further condition in SQL, written in the source and never made from input. With `lock` they are locked
    FOR NO KEY UPDATE, in that order: a child's foreign key check does not wait for it.
    """

    def __init__(
        self, batch: Batch, model: type[M], column: str, keys: Iterable[Any], *, also: str = "", lock: bool = False
    ) -> None:
        self._model = model
        quote = connection.ops.quote_name
        sql = f"{_shape(model)[2]} WHERE {quote(column)} = ANY(%s)" + (f" AND {also}" if also else "")
        sql += f" ORDER BY {quote('id')}" + (" FOR NO KEY UPDATE" if lock else "")
        self._answer: Answer = batch.add(sql, [list(keys)])

    def all(self) -> list[M]:
        """The rows, once the batch was sent."""
        names, converters, _ = _shape(self._model)
        alias = connection.alias
        return [self._model.from_db(alias, names, _converted(row, converters)) for row in self._answer.rows]


def rows[M: models.Model](model: type[M], column: str, keys: Iterable[Any], *, also: str = "") -> list[M]:
    """As `Rows`, in a round trip of its own."""
    batch = Batch()
    wanted = Rows(batch, model, column, keys, also=also)
    batch.send()
    return wanted.all()


type Converters = Sequence[tuple[int, Callable[..., Any]]]


@cache
def _shape(model: type[models.Model]) -> tuple[list[str], Converters, str]:
    fields = model._meta.concrete_fields
    quote = connection.ops.quote_name
    converters = [(index, field.from_db_value) for index, field in enumerate(fields) if hasattr(field, "from_db_value")]
    columns = ", ".join(quote(str(field.column)) for field in fields)
    select = f"SELECT {columns} FROM {quote(model._meta.db_table)}"
    return [field.attname for field in fields], converters, select


def _converted(row: Sequence[Any], converters: Converters) -> Sequence[Any]:
    if not converters:
        return row
    values = list(row)
    for index, convert in converters:
        values[index] = convert(values[index], None, connection)
    return values
