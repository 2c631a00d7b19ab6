"""Many at once: each record on the version it was shown at; what clashes is set aside, and the rest goes ahead."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conflicts.models import Conflict
from crm.models import Company, Contact
from tests import cast

pytestmark = pytest.mark.django_db


def signed_in() -> Client:
    client = Client()
    client.force_login(cast.alice())
    return client


def company(name: str, **params: Any) -> Company:
    outcome = cast.propose("company.create", by=cast.alice(), name=name, **params)
    return Company.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def change(client: Client, *rows: Company | Contact, kind: str = "companies", **said: Any) -> str:
    said["pick"] = [f"{row.pk}:{row.version}" for row in rows]
    answer = client.post(reverse(f"{kind}_bulk"), said)
    assert answer.status_code == 200
    return answer.content.decode()


def now(row: Company) -> Company:
    return Company.objects.get(pk=row.pk)


def test_the_list_shows_each_row_with_the_version_it_stands_at() -> None:
    one = company("Cold Chain")
    page = signed_in().get(reverse("companies")).content.decode()
    assert f'name="pick" value="{one.pk}:1" form="many"' in page
    assert reverse("companies_bulk") in page


def test_all_that_nobody_touched_get_the_owner_and_the_tag() -> None:
    rows = [company(f"Company {n}", tags=["old"]) for n in range(3)]

    page = change(signed_in(), *rows, owner=cast.bob().pk, add_tag="fair", drop_tag="old")

    assert "3 changed" in page
    assert {(now(row).owner, tuple(now(row).tags), now(row).version) for row in rows} == {(cast.bob(), ("fair",), 2)}


def test_an_owner_that_somebody_set_meanwhile_is_set_aside_and_settled_one_by_one_while_the_rest_goes_ahead() -> None:
    first, second = company("First"), company("Second")
    cast.propose("company.edit", second, by=cast.bob(), owner=cast.bob().pk)
    client = signed_in()

    page = change(client, first, second, owner=cast.manager().pk)

    assert "1 changed, 1 set aside" in page
    assert (now(first).owner, now(second).owner) == (cast.manager(), cast.bob())
    record = Conflict.objects.waiting().get()
    assert record.intended_by.key == str(cast.alice().pk)
    link = re.search(r'href="(/settle/\?record=\d+&amp;next=[^"]+)"', page)
    assert link
    form = client.get(link[1].replace("&amp;", "&"))
    assert form.status_code == 200
    assert 'name="pick-owner"' in form.content.decode()


def test_a_tag_that_somebody_added_meanwhile_stands_beside_the_new_one_and_it_is_said() -> None:
    one = company("First", tags=["cold"])
    cast.propose("company.edit", one, by=cast.bob(), tags=["cold", "pharma"])

    page = change(signed_in(), one, add_tag="fair")

    assert now(one).tags == ["cold", "pharma", "fair"]
    assert "Together with what changed meanwhile: tags (Bob)." in page


def test_a_tag_that_somebody_took_out_meanwhile_is_not_brought_back() -> None:
    one = company("First", tags=["cold", "old"])
    cast.propose("company.edit", one, by=cast.bob(), tags=["cold"])
    change(signed_in(), one, add_tag="fair")
    assert now(one).tags == ["cold", "fair"]


def test_another_field_that_somebody_changed_is_no_hindrance() -> None:
    one = company("First")
    cast.propose("company.edit", one, by=cast.bob(), location="Natal")
    change(signed_in(), one, owner=cast.bob().pk)
    assert (now(one).owner, now(one).location) == (cast.bob(), "Natal")


def test_what_is_so_already_is_said_and_not_written() -> None:
    one = company("First", tags=["fair"])
    page = change(signed_in(), one, add_tag="fair")
    assert "1 so already" in page
    assert now(one).version == 1


def test_a_double_click_is_one_act() -> None:
    one, client = company("First"), signed_in()
    change(client, one, add_tag="fair", key="k1")
    change(client, one, add_tag="fair", key="k1")
    assert now(one).version == 2


def test_contacts_too() -> None:
    rui = cast.contact("Rui Amaro")
    change(signed_in(), rui, kind="contacts", owner=cast.bob().pk)
    assert Contact.objects.get(pk=rui.pk).owner == cast.bob()


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ({}, 422, "Nothing was selected."),
        ({"pick": ["{pk}:1"]}, 422, "Say what is to be changed"),
        ({"pick": ["{pk}:1"], "owner": "999999"}, 422, "There is nobody of that name here."),
        ({"pick": ["{pk}:1"], "add_tag": "x" * 61}, 422, "A tag has at most 60 characters."),
        ({"pick": ["999999:1"], "add_tag": "x"}, 200, "1 record is no longer there."),
        ({"pick": ["{pk}"], "add_tag": "x"}, 428, ""),
        ({"pick": ["{pk}:0"], "add_tag": "x"}, 428, ""),
    ],
)
def test_bad_input_is_answered_in_words_and_writes_nothing(said: dict[str, Any], status: int, words: str) -> None:
    one = company("First")
    said = {**said, "pick": [text.replace("{pk}", str(one.pk)) for text in said.get("pick", [])]}
    answer = signed_in().post(reverse("companies_bulk"), said)
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert now(one).version == 1
