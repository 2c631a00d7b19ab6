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
        self._statements: list[str] = []
        self._params: list[Any] = []
        self._answers: list[Answer] = []

    def add(self, sql: str, params: Sequence[Any] = ()) -> Answer:
        """`sql` is written in the source or made of models' names; whatever comes from outside is in `params`."""
        self._statements.append(sql)
        self._params.extend(params)
        answer = Answer()
        self._answers.append(answer)
        return answer

    def send(self) -> None:
        if not self._statements:
            return
        with connection.cursor() as cursor:
            cursor.execute(";\n".join(self._statements), self._params)
            for index, answer in enumerate(self._answers):
                if index and not cursor.nextset():
                    raise RuntimeError("The server answered fewer statements than it was sent.")
                answer.count = cursor.rowcount
                if cursor.description:
                    answer.rows = cursor.fetchall()
