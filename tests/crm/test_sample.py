"""The sample workspace: loaded whole, through the gate, into an empty database only."""

import datetime as dt
from collections import Counter

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.utils import timezone

from conflicts import history
from conflicts.actors import Actor
from conflicts.refs import Ref
from crm.clock import today_for
from crm.models import Activity, Company, Consent, Contact, Opportunity, Team, User
from crm.models.opportunity import NextStep, Status
from crm.sample import LOGINS, loading
from crm.sample.deals import DEALS, QUILLMERE

pytestmark = pytest.mark.django_db

NOON = dt.datetime(2025, 6, 10, 15, tzinfo=dt.UTC)


def test_the_command_loads_people_companies_contacts_and_deals(capsys):
    call_command("load_sample")
    assert "25 deals" in capsys.readouterr().out
    assert Opportunity.objects.count() == len(DEALS) == 25
    assert Company.objects.count() == 26
    assert Contact.objects.filter(consents__isnull=False).distinct().count() > 10
    assert Team.objects.count() == 2


def test_every_login_that_is_printed_works_and_has_its_role():
    loading.load(now=timezone.now())
    for role, username, password in LOGINS:
        user = authenticate(username=username, password=password)
        assert user is not None, username
        assert user.role == (role if role in ("manager", "administrator") else "salesperson")
    assert not User.objects.get(username="bruno").has_usable_password()
    manager = User.objects.get(username="marta")
    assert manager.is_staff
    assert manager.has_perm("conflicts.view_conflict")
    assert not manager.has_perm("crm.change_opportunity")


def test_all_four_colours_of_a_next_step_and_stuck_deals_occur_on_the_day_it_is_loaded():
    loading.load(now=NOON)
    today = today_for(None, now=NOON)
    open_deals = Opportunity.objects.filter(status=Status.OPEN).select_related("stage")
    colours = Counter(deal.next_step_state(today=today) for deal in open_deals)
    assert set(colours) == set(NextStep)
    assert {str(deal.company) for deal in open_deals if deal.is_stuck(today=today)} == {
        "Orvanto Foods", "Tavrelle Ice Cream", "Quillmere Hotels", "Hollisand Markets", "Dunmarrow Bakery",
    }  # fmt: skip
    assert Counter(Opportunity.objects.values_list("status", flat=True)) == {"open": 21, "won": 2, "lost": 2}


def test_one_deal_stands_at_version_31_with_the_history_that_led_there():
    loading.load(now=NOON)
    deal = Opportunity.objects.get(name=QUILLMERE.name)
    assert (deal.version, deal.next_step_on, deal.amount) == (31, None, 48_000)
    changes = history.changes_since(Ref.of(deal), 1)
    assert {Actor.parse(change.by).name for change in changes} == {"Lia Duarte", "Ana Prado", "Tomás Guedes"}
    assert {change.version for change in changes} == set(range(2, 32))
    assert deal.contact is not None
    assert Consent.objects.filter(contact=deal.contact, channel="phone", status="granted").exists()


def test_nothing_in_the_timelines_happens_after_it_was_loaded():
    loading.load(now=timezone.now())
    assert not Activity.objects.filter(at__gt=timezone.now()).exists()
    assert Activity.objects.filter(at__lt=timezone.now() - dt.timedelta(days=40)).exists()


def test_a_database_that_is_not_empty_is_refused_and_left_alone():
    User.objects.create(username="somebody")
    with pytest.raises(CommandError, match="empty database"):
        call_command("load_sample")
    assert not Company.objects.exists()
    assert User.objects.count() == 1


def test_loading_it_twice_is_refused():
    loading.load(now=NOON)
    with pytest.raises(loading.NotEmpty):
        loading.load(now=NOON)
    assert Opportunity.objects.count() == len(DEALS)
