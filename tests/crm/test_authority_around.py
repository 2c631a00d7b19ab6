"""A conflict that waits for somebody with authority is not written over by who has none, by the plain form either."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conflicts import actors, gate
from conflicts.models import Conflict
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from crm.models import Opportunity
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_manager() -> None:
    cast.manager()


def disputed(name: str = "Sensors", amount: str = "200000") -> Opportunity:
    deal = cast.deal(name, amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    assert cast.propose("opportunity.edit", deal, by=cast.bob(), amount=amount).result is Result.CONFLICT
    deal.refresh_from_db()
    return deal


def amount(deal: Opportunity) -> str:
    return str(Opportunity.objects.get(pk=deal.pk).amount)


def test_the_plain_form_does_not_go_around_a_conflict_that_takes_more_authority_and_says_who_can() -> None:
    deal = disputed()
    client = Client()
    client.force_login(cast.alice())
    page = client.post(reverse("deal_edit", args=[deal.pk]), {"version": deal.version, "amount": "150000"})
    assert "Two values of this wait for a decision." in page.content.decode()
    assert "Manuela Moraes can." in page.content.decode()
    assert "What changed meanwhile" not in page.content.decode(), "nobody changed anything since it was opened"
    assert amount(deal) == "110.00"
    assert Conflict.objects.waiting().count() == 1, "what was refused is evidence and waits for nobody"


def test_whoever_may_decide_it_may_write_it_and_other_fields_are_everybodys() -> None:
    deal = disputed()
    assert cast.propose("opportunity.edit", deal, by=cast.alice(), decision="Rui on Friday").written
    deal.refresh_from_db()
    assert cast.propose("opportunity.edit", deal, by=cast.manager(), amount="150000").written
    assert amount(deal) == "150000.00"


def test_a_conflict_within_ones_level_stops_nobody_and_neither_does_a_settled_one() -> None:
    deal = disputed(amount="120")
    assert cast.propose("opportunity.edit", deal, by=cast.alice(), amount="130").written
    other = disputed("Freezers")
    assert cast.propose("opportunity.edit", other, by=cast.alice(), amount="90").result is Result.REFUSED
    Conflict.objects.waiting().update(closed_at="2031-01-01T00:00Z", resolution="drop")
    assert cast.propose("opportunity.edit", other, by=cast.alice(), amount="90").written


def test_a_machine_does_not_go_around_it_either() -> None:
    outcome = cast.propose("opportunity.edit", disputed(), by=cast.AGENT, amount="150")
    assert outcome.result is Result.REFUSED
    assert outcome.sentence is not None
    assert outcome.sentence.code == "waits_for_authority"


def test_of_many_at_once_only_the_disputed_one_is_set_aside_and_all_cost_one_question() -> None:
    by = actors.person(cast.alice())
    deals = [disputed("Disputed"), *(cast.deal(f"Deal {n}", amount="100") for n in range(5))]
    wishes = [
        Proposal(action="opportunity.edit", by=by, params={"amount": "140"}, basis=(Read.of(deal),)) for deal in deals
    ]
    with CaptureQueriesContext(connection) as asked:
        outcomes = gate.commit_many(wishes)
    assert [outcome.written for outcome in outcomes] == [False, *[True] * 5]
    looks = [one for one in asked if 'FROM "conflicts_conflict"' in one["sql"] and "needs" in one["sql"]]
    assert len(looks) == 1
