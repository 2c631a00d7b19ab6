"""A person's value in an agent's place: one click of reason, kept, and the agents leave the deal alone for a while."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents import sweeps
from agents.models import Override, Recommendation, Verdict
from conflicts.clock import database_now
from conflicts.models import Conflict
from crm.models import Opportunity
from tests import cast

pytestmark = pytest.mark.django_db


def signed_in() -> Client:
    client = Client()
    client.force_login(cast.alice())
    return client


def clash(*, first: Any) -> tuple[Client, Opportunity, Conflict]:
    """Somebody else wrote another amount while Alice had the form open."""
    deal = cast.deal(amount="100", contact=cast.contact().pk)
    cast.propose("opportunity.edit", deal, by=first, amount="110")
    client = signed_in()
    answer = client.post(reverse("deal_edit", args=[deal.pk]), {"version": 1, "amount": "120"})
    assert answer.status_code == 409
    return client, deal, Conflict.objects.waiting().get()


def choose(client: Client, deal: Opportunity, record: Conflict, **said: str) -> Any:
    data = {"record": record.pk, "version": 2, "next": reverse("deal", args=[deal.pk]), **said}
    return client.post(reverse("settle"), data)


def amount(deal: Opportunity) -> str:
    return str(Opportunity.objects.get(pk=deal.pk).amount)


def test_putting_ones_own_value_in_an_agents_place_asks_for_one_click_of_reason() -> None:
    client, deal, record = clash(first=cast.AGENT)
    page = client.get(reverse("settle"), {"record": record.pk}).content.decode()
    assert 'name="reason" value="wrong"' in page

    answer = choose(client, deal, record, **{"pick-amount": "mine"})
    assert answer.status_code == 422
    assert "Say with one click why" in answer.content.decode()
    assert amount(deal) == "110.00"

    choose(client, deal, record, **{"pick-amount": "mine", "reason": "agreed"})
    assert amount(deal) == "120.00"
    kept = Override.objects.get()
    assert (kept.reason, kept.names, kept.version, kept.record) == ("agreed", ["amount"], 3, record)
    assert (kept.person.name, kept.agent) == ("Alice Amaral", str(cast.AGENT))


def test_leaving_the_agents_value_asks_for_nothing() -> None:
    client, deal, record = clash(first=cast.AGENT)
    choose(client, deal, record, **{"pick-amount": "theirs"})
    assert amount(deal) == "110.00"
    assert not Override.objects.exists()


def test_a_colleagues_value_is_put_aside_without_a_reason() -> None:
    client, deal, record = clash(first=cast.bob())
    assert 'name="reason"' not in client.get(reverse("settle"), {"record": record.pk}).content.decode()
    choose(client, deal, record, **{"pick-amount": "mine"})
    assert amount(deal) == "120.00"
    assert not Override.objects.exists()


def test_the_agents_leave_the_deal_alone_for_thirty_days_or_until_it_changes() -> None:
    client, deal, record = clash(first=cast.AGENT)
    choose(client, deal, record, **{"pick-amount": "mine", "reason": "wrong"})
    now = database_now()

    sweeps.sweep(now=now + dt.timedelta(seconds=5))
    assert not Recommendation.objects.exists()
    assert Verdict.objects.get().code == "G8"
    assert "in the agent's place" in str(Verdict.objects.get().told)

    deal = Opportunity.objects.get(pk=deal.pk)
    cast.propose("opportunity.edit", deal, by=cast.bob(), decision="Rui")
    sweeps.sweep(now=database_now() + dt.timedelta(seconds=5))
    assert Recommendation.objects.count() == 1


def test_after_thirty_days_it_may_be_suggested_again() -> None:
    client, deal, record = clash(first=cast.AGENT)
    choose(client, deal, record, **{"pick-amount": "mine", "reason": "wrong"})
    sweeps.sweep(now=database_now() + dt.timedelta(days=31))
    assert Recommendation.objects.filter(opportunity=deal).count() == 1
