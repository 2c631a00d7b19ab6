"""A deal is closed on a day that has been; names are one line; whoever may do everything has the role that says so."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from conflicts.outcomes import Result
from crm.models import Opportunity, User
from crm.models.user import Role
from tests import cast, papers

pytestmark = pytest.mark.django_db

FAR = "2099-01-01"


def test_a_deal_is_not_won_on_a_day_to_come() -> None:
    deal = cast.deal()
    outcome = cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Won").pk, on=FAR)
    assert (outcome.result, outcome.sentence.code) == (Result.REFUSED, "closes_in_the_future")  # type: ignore[union-attr]
    deal.refresh_from_db()
    assert (deal.status, deal.version) == ("open", 1)


def test_nor_made_with_such_a_day() -> None:
    won = cast.stage("Won").pk
    outcome = cast.propose("opportunity.create", by=cast.alice(), name="Early", stage=won, closed_on=FAR)
    assert outcome.result is Result.REFUSED
    assert not Opportunity.objects.exists()


def test_a_day_that_has_been_is_kept() -> None:
    deal = cast.deal()
    assert cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Won").pk, on="2024-02-29").written
    deal.refresh_from_db()
    assert deal.closed_on == dt.date(2024, 2, 29)


def test_a_name_is_one_line_without_characters_that_nobody_sees() -> None:
    assert cast.deal(" Two\nlines\u202e \u200bhere ").name == "Two lines here"


def test_a_superuser_is_an_administrator() -> None:
    assert User.objects.create_superuser("root", password="x").role == Role.ADMINISTRATOR


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_today_is_the_day_where_the_owner_works(zone: str) -> None:
    """Those two never have the same day, so that one of them never has the day of Greenwich."""
    alice = cast.alice()
    User.objects.filter(pk=alice.pk).update(time_zone=zone)
    here = ZoneInfo(zone)
    deal = cast.deal()
    assert deal.changed_at is not None
    assert deal.opened_on == deal.stage_since == deal.changed_at.astimezone(here).date()
    assert cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Won").pk).written
    deal.refresh_from_db()
    assert deal.closed_on == deal.stage_since == deal.changed_at.astimezone(here).date()

    contract, invoice = papers.approved(), papers.invoice()
    assert papers.say("sign", contract, by=cast.bob()).written
    contract = papers.again(contract)
    assert contract.signed_on == contract.changed_at.astimezone(here).date()  # type: ignore[union-attr]
    assert invoice.issued_on == invoice.changed_at.astimezone(here).date()  # type: ignore[union-attr]
