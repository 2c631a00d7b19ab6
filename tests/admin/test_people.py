"""People, teams and policies are kept by administrators; two of them never overwrite each other unseen."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import AutonomyPolicy
from crm.models import Team, User
from tests import cast
from tests.admin.conftest import signed_in

pytestmark = pytest.mark.django_db


def form(client: Client, url: str) -> dict[str, Any]:
    """What a browser would send back unchanged."""
    page = client.get(url)
    assert page.status_code == 200
    shown = page.context["adminform"].form
    values = {name: shown[name].value() for name in shown.fields}
    return {name: "" if value is None else value for name, value in values.items() if value is not False}


def url_of(obj: Any) -> str:
    return reverse(f"admin:{obj._meta.app_label}_{obj._meta.model_name}_change", args=[obj.pk])


def test_an_administrator_moves_a_person_to_another_team(ada: Client) -> None:
    bob, south = cast.bob(), cast.team("South")
    answer = ada.post(url_of(bob), form(ada, url_of(bob)) | {"team": south.pk})
    assert answer.status_code == 302
    bob.refresh_from_db()
    assert bob.team == south


def test_two_administrators_who_edit_one_person_do_not_overwrite_each_other(ada: Client) -> None:
    bob, south = cast.bob(), cast.team("South")
    other = User.objects.create(username="otto", first_name="Otto", is_staff=True, is_superuser=True)
    second = signed_in(other)
    mine, theirs = form(ada, url_of(bob)), form(second, url_of(bob))

    second.post(url_of(bob), theirs | {"team": south.pk})
    answer = ada.post(url_of(bob), mine | {"role": "manager", "first_name": "Roberto"})

    assert answer.status_code == 200
    page = answer.content.decode()
    assert "Otto changed team after this page was opened" in page
    assert "Roberto" in page  # nothing typed is lost
    bob.refresh_from_db()
    assert (bob.team, bob.role, bob.first_name) == (south, "salesperson", "Bob")


def test_without_the_comparison_the_other_administrators_edit_would_be_lost(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutation: Django's own form, with the last one winning."""
    from conflicts.admin.seen import SeenForm

    monkeypatch.setattr(SeenForm, "_compare", lambda self, text: None)
    bob, south = cast.bob(), cast.team("South")
    mine = form(ada, url_of(bob))
    User.objects.filter(pk=bob.pk).update(team=south)
    ada.post(url_of(bob), mine | {"first_name": "Roberto"})
    bob.refresh_from_db()
    assert bob.team == cast.team()


@pytest.mark.parametrize("seen", ["", "made:up", None])
def test_a_form_that_does_not_say_what_it_was_made_for_saves_nothing(ada: Client, seen: str | None) -> None:
    bob = cast.bob()
    sent = form(ada, url_of(bob)) | {"first_name": "Roberto"}
    if seen is None:
        del sent["seen"]
    else:
        sent["seen"] = seen
    answer = ada.post(url_of(bob), sent)
    assert answer.status_code == 200
    assert "does not say what it was made for" in answer.content.decode()
    bob.refresh_from_db()
    assert bob.first_name == "Bob"


def test_signing_in_meanwhile_is_no_change(ada: Client) -> None:
    bob = cast.bob()
    sent = form(ada, url_of(bob))
    signed_in(bob)  # writes last_login
    assert ada.post(url_of(bob), sent | {"first_name": "Roberto"}).status_code == 302


def test_the_role_opens_and_closes_the_admin(ada: Client) -> None:
    bob = cast.bob()
    ada.post(url_of(bob), form(ada, url_of(bob)) | {"role": "manager"})
    bob.refresh_from_db()
    assert bob.is_staff
    ada.post(url_of(bob), form(ada, url_of(bob)) | {"role": "salesperson"})
    bob.refresh_from_db()
    assert not bob.is_staff


def test_nobody_is_deleted_only_closed(ada: Client) -> None:
    bob = cast.bob()
    assert ada.post(reverse("admin:crm_user_delete", args=[bob.pk]), {"post": "yes"}).status_code == 403
    sent = form(ada, url_of(bob))
    del sent["is_active"]
    ada.post(url_of(bob), sent)
    bob.refresh_from_db()
    assert not bob.is_active


def test_a_new_person_gets_a_role_a_team_and_a_password(ada: Client) -> None:
    answer = ada.post(
        reverse("admin:crm_user_add"),
        {
            "username": "dora",
            "first_name": "Dora",
            "last_name": "Dias",
            "email": "",
            "role": "manager",
            "team": cast.team().pk,
            "usable_password": "true",
            "password1": "a long way round",
            "password2": "a long way round",
        },
    )
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    dora = User.objects.get(username="dora")
    assert (dora.role, dora.team, dora.is_staff) == ("manager", cast.team(), True)
    assert dora.check_password("a long way round")


def test_a_team_keeps_the_same_promise(ada: Client) -> None:
    team = cast.team()
    mine = form(ada, url_of(team))
    Team.objects.filter(pk=team.pk).update(region="South-east")
    answer = ada.post(url_of(team), mine | {"name": "Far north"})
    assert "changed region" in answer.content.decode()
    team.refresh_from_db()
    assert (team.name, team.region) == ("North", "South-east")


def test_a_policy_is_for_an_action_that_exists(ada: Client) -> None:
    add = reverse("admin:agents_autonomypolicy_add")
    wrong = ada.post(add, {"action": "opportunity.delete_all", "mode": "act"})
    assert wrong.status_code == 200
    assert not AutonomyPolicy.objects.filter(action="opportunity.delete_all").exists()
    right = ada.post(add, {"action": "opportunity.plan_task", "mode": "ask", "amount_limit": ""})
    assert right.status_code == 302
    assert AutonomyPolicy.objects.get(action="opportunity.plan_task").mode == "ask"
