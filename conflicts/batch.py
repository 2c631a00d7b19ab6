"""Batch: several statements, one round trip.

Guarantees that they run in the order they were added, in the caller's transaction, and that the first that fails takes
all with it. Measured: waiting for each of a commit's statements by itself costs more than the server's work on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection


@dataclass(slots=True)
class Answer:
    """What one statement answered; empty until the batch is sent."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    count: int = 0


class Batch:
    def __init__(self) -> None:
        self._statements: list[tuple[str, Sequence[Sequence[Any]], str, str]] = []
        self._answers: list[Answer] = []

    def add(self, sql: str, params: Sequence[Any] = ()) -> Answer:
        """`sql` is written in the source or made of models' names; whatever comes from outside is in `params`."""
        return self._add(sql, [params], "")

    def add_rows(self, head: str, place: str, rows: Sequence[Sequence[Any]], tail: str) -> Answer:
        """One INSERT of many rows: `head`, then `place` (`(%s, %s)`) for each of `rows`, then `tail`."""
        return self._add(f"{head} {place}", rows, f" {tail}", place)

    def _add(self, sql: str, rows: Sequence[Sequence[Any]], tail: str, place: str = "") -> Answer:
        self._statements.append((sql, rows, tail, place))
        answer = Answer()
        self._answers.append(answer)
        return answer

    def send(self) -> None:
        if not self._statements:
            return
        with connection.cursor() as cursor:
            # Each statement is filled in by itself: the driver remembers how to take a short one apart, a long one
            # made of all of them it would take apart anew each time.
            fill = cursor.mogrify
            texts = []
            for sql, rows, tail, place in self._statements:
                text = fill(sql, rows[0])
                if place:
                    text += "".join(f", {fill(place, row)}" for row in rows[1:])
                texts.append(text + tail)
            cursor.execute(";\n".join(texts))
            for index, answer in enumerate(self._answers):
                if index and not cursor.nextset():
                    raise RuntimeError("The server answered fewer statements than it was sent.")
                answer.count = cursor.rowcount
                if cursor.description:
                    answer.rows = cursor.fetchall()
