"""The admin is for managers and administrators; what a manager finds there is the team's, and only to be read."""

import pytest
from django.test import Client
from django.urls import reverse

from crm.models import Opportunity
from tests import cast
from tests.admin.conftest import signed_in

pytestmark = pytest.mark.django_db

READ = ["crm_opportunity", "crm_company", "crm_contact", "crm_product", "crm_pipeline"]
READ += ["conflicts_conflict", "conflicts_ledgerentry", "agents_recommendation", "agents_sweeprun", "agents_verdict"]
KEPT = ["crm_user", "crm_team", "agents_autonomypolicy", "conflicts_jobevent", "conflicts_leaseevent"]


def page(name: str) -> str:
    return reverse(f"admin:{name}_changelist")


@pytest.mark.parametrize("name", READ + KEPT)
def test_a_salesperson_does_not_enter(name: str) -> None:
    answer = signed_in(cast.alice()).get(page(name))
    assert answer.status_code == 302
    assert "login" in answer["Location"]


@pytest.mark.parametrize("name", READ)
def test_a_manager_reads(manuela: Client, name: str) -> None:
    assert manuela.get(page(name)).status_code == 200


@pytest.mark.parametrize("name", KEPT)
def test_a_manager_does_not_set_up_people_or_policies(manuela: Client, name: str) -> None:
    assert manuela.get(page(name)).status_code == 403


@pytest.mark.parametrize("name", READ + KEPT)
def test_an_administrator_reads_all(ada: Client, name: str) -> None:
    assert ada.get(page(name)).status_code == 200


def test_a_manager_meets_the_teams_deals_and_nobody_elses(manuela: Client) -> None:
    ours, theirs = cast.deal("Ours"), cast.deal("Theirs", owner=cast.charlie())

    listed = manuela.get(page("crm_opportunity")).content.decode()

    assert "Ours" in listed
    assert "Theirs" not in listed
    assert manuela.get(reverse("admin:crm_opportunity_change", args=[ours.pk])).status_code == 200
    hidden = manuela.get(reverse("admin:crm_opportunity_change", args=[theirs.pk]))
    assert hidden.status_code == 302  # as for a record that is not there
    assert manuela.get(reverse("admin:crm_opportunity_history", args=[theirs.pk])).status_code == 404


def test_the_admin_has_a_policy_of_its_own_and_no_inline_script(ada: Client) -> None:
    answer = ada.get(reverse("admin:index"))
    policy = answer["Content-Security-Policy"]
    assert "'unsafe-eval'" in policy
    assert "script-src 'self' 'unsafe-eval'" in policy
    assert b"<script>" not in answer.content


def test_an_account_that_is_closed_is_out_at_once(manuela: Client) -> None:
    manager = cast.manager()
    manager.is_active = False
    manager.save()
    assert manuela.get(page("crm_opportunity")).status_code == 302
    assert not Opportunity.objects.exists()
