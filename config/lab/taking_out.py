"""Taking out: the tools with which a mutant is made, each undone at the end of its block.

Guarantees that code is taken out by rewriting its source, so that a mutant which no longer fits the code says so and is
not run. Next in the flow: `config/lab/mutants.py`, which lists what is taken out.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

from django.db import connection

from config.lab import world
from conflicts import actions


@dataclass(frozen=True, kw_only=True)
class Mutant:
    name: str
    takes_out: str
    out: Callable[[], AbstractContextManager[None]]
    lost: tuple[str, ...]
    """The scenarios of which at least one must go wrong."""
    rounds: int = 20


class DoesNotFit(Exception):
    """The code that a mutant takes out is not there any more: the mutant has to follow it."""


@contextmanager
def rewritten(module: ModuleType, *changes: tuple[str, str, str]) -> Iterator[None]:
    """With functions of `module` in which a piece of source is another one: (function, piece, replacement)."""
    honest = {name: getattr(module, name) for name, _, _ in changes}
    try:
        for name, piece, replacement in changes:
            source = textwrap.dedent(inspect.getsource(honest[name]))
            if source.count(piece) != 1:
                raise DoesNotFit(f"{module.__name__}.{name} holds {piece!r} {source.count(piece)} times, not once.")
            exec(compile(source.replace(piece, replacement), f"<mutant of {name}>", "exec"), module.__dict__)
        yield
    finally:
        for name, function in honest.items():
            setattr(module, name, function)


@contextmanager
def put(target: Any, name: str, value: Any) -> Iterator[None]:
    with patch.object(target, name, value):
        yield


@contextmanager
def unruled(action: str) -> Iterator[None]:
    """An action without its own check."""
    honest = actions.get(action)
    with patch.dict(actions._ACTIONS, {action: replace(honest, check=lambda work: None)}):
        yield


@contextmanager
def without_index(name: str) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [name])
        found = cursor.fetchone()
        if found is None:
            raise DoesNotFit(f"There is no index {name}.")
        cursor.execute(f"DROP INDEX {connection.ops.quote_name(name)}")
        try:
            yield
        finally:
            world.empty()  # what it would not allow may lie there by now
            cursor.execute(found[0])


@contextmanager
def without_constraint(table: str, name: str) -> Iterator[None]:
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [name])
        found = cursor.fetchone()
        if found is None:
            raise DoesNotFit(f"There is no constraint {name}.")
        cursor.execute(f"ALTER TABLE {quote(table)} DROP CONSTRAINT {quote(name)}")
        try:
            yield
        finally:
            world.empty()  # what it would not allow may lie there by now
            cursor.execute(f"ALTER TABLE {quote(table)} ADD CONSTRAINT {quote(name)} {found[0]}")
