"""Signed in to the admin: an administrator, and a manager of Alice's team."""

import pytest
from django.test import Client

from tests import cast


@pytest.fixture
def ada() -> Client:
    return signed_in(cast.administrator())


@pytest.fixture
def manuela() -> Client:
    manager = cast.manager()
    manager.is_staff = True
    manager.save()
    return signed_in(manager)


def signed_in(user: object) -> Client:
    client = Client()
    client.force_login(user)  # type: ignore[arg-type]
    return client
