"""Committed rows for the tests of the guard: a child may be written in the transaction that raised its subject, so a
test must meet subjects that another transaction has written."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from tests.conflicts import samples


@pytest.fixture(scope="module")
def committed_samples(django_db_setup: Any, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        samples.build()
    yield
    with django_db_blocker.unblock():
        call_command("flush", interactive=False, verbosity=0)
