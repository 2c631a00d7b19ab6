"""A clash about more than one may decide, or that a reviewer has: one is told who can, and the conflict still waits."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from conflicts import actors, claims
from conflicts.models import Conflict
from crm.models import Opportunity
from tests import cast

pytestmark = pytest.mark.django_db


def clash(amount: str) -> tuple[Opportunity, Conflict]:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount=amount)
    return deal, Conflict.objects.get(pk=outcome.record)


def settle(record: Conflict, pick: str) -> str:
    client = Client()
    client.force_login(cast.bob())
    form = {
        "record": record.pk,
        "version": record.version_found,
        "key": uuid.uuid4().hex,
        "pick-amount": pick,
        "next": "/",
    }
    return client.post(reverse("settle"), form).content.decode()


def amount(deal: Opportunity) -> str:
    return str(Opportunity.objects.get(pk=deal.pk).amount)


def test_a_value_above_ones_level_is_for_somebody_else_and_the_conflict_waits() -> None:
    cast.manager()
    deal, record = clash("200000")
    page = settle(record, "mine")
    assert "is more than you may decide about" in page
    assert "Manuela Moraes can." in page
    assert amount(deal) == "110.00"
    assert list(Conflict.objects.waiting()) == [record]


def test_leaving_what_is_in_force_takes_no_authority() -> None:
    deal, record = clash("200000")
    settle(record, "theirs")
    assert amount(deal) == "110.00"
    assert not Conflict.objects.waiting().exists()


def test_what_a_reviewer_has_is_the_reviewers_for_that_time() -> None:
    deal, record = clash("120")
    claims.take(record.pk, by=actors.person(cast.manager()))
    assert "Manuela Moraes is deciding about this until" in settle(record, "mine")
    assert amount(deal) == "110.00"
    claims.give_back(record.pk, by=actors.person(cast.manager()))
    settle(record, "mine")
    assert amount(deal) == "120.00"
    assert not Conflict.objects.waiting().exists()
