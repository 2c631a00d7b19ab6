"""A database of the bench's own, on the server the settings name, with a pipeline in it; dropped at the end."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from conflicts import actors, guard
from crm.models import Pipeline, Stage

STAGES = [
    ("New", "open", None),
    ("Proposal", "open", 14),
    ("Negotiation", "open", 21),
    ("Won", "won", None),
    ("Lost", "lost", None),
]


@contextmanager
def database() -> Iterator[None]:
    before = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        _pipeline()
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


def _pipeline() -> None:
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        pipeline = Pipeline.objects.create(name="Sales", is_default=True)
        for position, (name, kind, stuck) in enumerate(STAGES):
            Stage.objects.create(pipeline=pipeline, name=name, position=position, kind=kind, stuck_after_days=stuck)
