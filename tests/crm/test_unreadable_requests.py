"""A request that cannot be read is answered, whatever is broken in it: an answer that breaks too would keep its
database connection for ever."""

import pytest
from django.test import Client

from tests import cast
from tests.crm.pages import at, client

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("kind", [f"{FORM}; charset=utf-16", "multipart/form-data", "multipart/form-data; boundary=é"])
def test_a_body_that_cannot_be_read_is_answered_400(kind: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.alice())
    browser.get(at("preferences"))  # gives the cookie; with it, the token is looked for in the form
    answer = browser.post(at("deal_plan", cast.deal().pk), b"version=1", content_type=kind)
    assert answer.status_code == 400
    assert "This request cannot be read" in answer.text


@pytest.mark.parametrize("version", ["9" * 5000, "1.5", "-1", "x"])
def test_a_faulty_value_with_a_version_that_is_none_is_answered_400(version: str) -> None:
    rui = cast.contact()
    sent = {"fact": "name", "name": "", "version": version}
    assert client(cast.alice()).post(at("contact_edit", rui.pk), sent).status_code == 400


def test_a_faulty_value_without_a_version_is_answered_428() -> None:
    rui = cast.contact()
    assert client(cast.alice()).post(at("contact_edit", rui.pk), {"fact": "name", "name": ""}).status_code == 428
