"""A database of the lab's own, on the server that the settings name, dropped at the end; and the switch of its guards.

Guarantees that two labs on one server do not meet (the name holds the process), and that guards are off in nothing but
the lab's own database, for as long as the naive way is shown.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.apps import apps
from django.db import connection, connections
from pgtrigger import Trigger

from agents import turns
from conflicts import bell, guard, limits
from crm import live

MARK = "_race_"


@contextmanager
def database(*, use: str = "") -> Iterator[None]:
    """`use` names one that a lab has made already: it is used and left."""
    before = connection.settings_dict["NAME"]
    if use:
        _switch(use)
        try:
            with unheard():
                yield
        finally:
            _switch(before)
        return
    with unheard():
        yield from _made(before)


def _made(before: str) -> Iterator[None]:
    test, name = connection.settings_dict["TEST"], connection.settings_dict["TEST"].get("NAME")
    test["NAME"] = f"{before}{MARK}{os.getpid()}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)
        test["NAME"] = name


@contextmanager
def copies(count: int) -> Iterator[list[str]]:
    """Names of so many copies of the scratch database at hand, which nobody may use meanwhile; dropped at the end."""
    creation = connection.creation
    suffixes = [str(number) for number in range(1, count + 1)]
    made: list[str] = []
    try:
        for suffix in suffixes:
            creation.clone_test_db(suffix, verbosity=0, autoclobber=True)
            made.append(suffix)
        yield [str(creation.get_test_db_clone_settings(suffix)["NAME"]) for suffix in made]
    finally:
        for suffix in made:
            creation.destroy_test_db(suffix=suffix, verbosity=0)


@contextmanager
def unheard() -> Iterator[None]:
    """What is done here is told to nobody, and counts for nothing: the real installation has the same Redis."""
    with (
        patch.object(limits, "take", lambda *args, **more: limits.Allowance(allowed=True)),
        patch.object(bell, "ring", lambda *args, **more: False),
        patch.object(turns, "ring", lambda *args, **more: False),
        patch.object(live, "CHANNEL", f"{live.CHANNEL}{MARK}{os.getpid()}"),
    ):
        logging.disable(logging.WARNING)  # what a race makes of a worker is the point here, and no news
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def _switch(name: str) -> None:
    connections.close_all()
    connection.settings_dict["NAME"] = name


@contextmanager
def unguarded(*kinds: type[Trigger]) -> Iterator[None]:
    """Without the guard triggers (of these kinds): as a database is that compares no versions."""
    kinds = kinds or (guard.SubjectGuard, guard.ChildGuard, guard.RuleGuard)
    _set_guards("DISABLE", kinds)
    try:
        yield
    finally:
        _set_guards("ENABLE", kinds)


def _set_guards(verb: str, kinds: tuple[type[Trigger], ...]) -> None:
    models: list[Any] = apps.get_models()
    with connection.cursor() as cursor:
        for model in models:
            for trigger in guard.triggers(model):
                if isinstance(trigger, kinds):
                    table = connection.ops.quote_name(model._meta.db_table)
                    cursor.execute(f"ALTER TABLE {table} {verb} TRIGGER {trigger.get_pgid(model)}")
