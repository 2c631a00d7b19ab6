"""People and teams from a file: accounts without a password, managers, a team for each."""

import pytest

from crm.models import Team, User
from crm.models.user import Role
from tests import cast
from tests.crm.importing import bring, csv_file, fates, reasons

pytestmark = pytest.mark.django_db

ROWS = [
    "sales_agent,manager,regional_office",
    "Anna Snelling,Dustin Brinkmann,Central",
    "Mei-Mei Johns,Melvin Marxen,East",
]


def test_agents_managers_and_their_teams_are_made_without_passwords(tmp_path):
    report = bring(csv_file(tmp_path, *ROWS), "team")
    assert fates(report) == (2, 0, 0, 0)
    anna = User.objects.get(username="anna.snelling")
    assert (str(anna), anna.role, anna.has_usable_password(), anna.is_staff) == (
        "Anna Snelling", Role.SALESPERSON, False, False,
    )  # fmt: skip
    assert (str(anna.team), anna.team.region) == ("Team Dustin Brinkmann", "Central")
    manager = User.objects.get(username="dustin.brinkmann")
    assert (manager.role, manager.team) == (Role.MANAGER, anna.team)
    assert User.objects.get(username="mei-mei.johns").team != anna.team


def test_the_same_file_twice_makes_nobody_again(tmp_path):
    path = csv_file(tmp_path, *ROWS)
    bring(path, "team")
    assert fates(bring(path, "team")) == (0, 0, 2, 0)
    assert (User.objects.count(), Team.objects.count()) == (4, 2)


def test_who_is_here_already_keeps_name_and_role_and_joins_the_team(tmp_path):
    alice, ada = cast.alice(), cast.administrator()
    path = csv_file(tmp_path, "nome,gerente", "ALICE AMARAL,Ada Alves")
    assert fates(bring(path, "team")) == (0, 1, 0, 0)
    alice.refresh_from_db()
    ada.refresh_from_db()
    assert (alice.first_name, str(alice.team)) == ("Alice", "Team Ada Alves")
    assert (ada.role, ada.is_superuser, str(ada.team)) == (Role.ADMINISTRATOR, True, "North")


def test_two_people_of_one_name_are_told_apart_by_their_addresses_only(tmp_path):
    path = csv_file(tmp_path, "name,email", "Ana Lima,ana@a.example", "Ana Lima,ana@b.example")
    assert fates(bring(path, "team")) == (2, 0, 0, 0)
    assert set(User.objects.values_list("username", flat=True)) == {"ana.lima", "ana.lima2"}
    assert fates(bring(path, "team")) == (0, 0, 2, 0)
    report = bring(csv_file(tmp_path, "name,team", "Ana Lima,East"), "team")
    assert fates(report) == (0, 0, 0, 1)
    assert "2 people here have this name" in reasons(report)[2][1]


def test_a_dry_run_makes_nobody(tmp_path):
    report = bring(csv_file(tmp_path, *ROWS), "team", dry_run=True)
    assert fates(report) == (2, 0, 0, 0)
    assert not User.objects.exists()
    assert not Team.objects.exists()
