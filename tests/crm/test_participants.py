"""Several contacts take part in a deal: added by name, taken out again, told on the timeline, one version each."""

import pytest
from django.test import Client
from django.urls import reverse

from conflicts.outcomes import Result
from crm.models import Opportunity, User
from tests import cast

pytestmark = pytest.mark.django_db


def press(user: User, deal: Opportunity, **typed: object):  # type: ignore[no-untyped-def]
    client = Client()
    client.force_login(user)
    return client.post(reverse("deal_people", args=[deal.pk]), {"version": deal.version, **typed}, follow=True)


def takes_part(deal: Opportunity) -> list[str]:
    return [one.contact.name for one in deal.participants.filter(removed=False).order_by("pk")]


def test_somebody_is_added_by_name_and_the_timeline_says_so() -> None:
    deal = cast.deal()
    cast.contact("Vera Soll")
    page = press(cast.alice(), deal, contact="vera soll", role="pays the bill").content.decode()
    assert takes_part(deal) == ["Vera Soll"]
    assert "pays the bill" in page
    assert "added to the deal" in page
    deal.refresh_from_db()
    assert deal.version == 2


def test_taken_out_and_added_again_it_is_one_row() -> None:
    deal, vera = cast.deal(), cast.contact("Vera Soll")
    press(cast.alice(), deal, contact="Vera Soll")
    deal.refresh_from_db()
    page = press(cast.alice(), deal, participant=deal.participants.get().pk).content.decode()
    assert takes_part(deal) == []
    assert "took out of the deal" in page
    deal.refresh_from_db()
    assert cast.propose("opportunity.add_participant", deal, by=cast.bob(), contact=vera.pk).written
    assert deal.participants.count() == 1
    assert takes_part(deal) == ["Vera Soll"]


def test_two_who_add_the_same_one_leave_one_and_the_second_is_told() -> None:
    deal, vera = cast.deal(), cast.contact("Vera Soll")
    assert cast.propose("opportunity.add_participant", deal, by=cast.bob(), contact=vera.pk).written
    late = cast.propose("opportunity.add_participant", deal, by=cast.alice(), contact=vera.pk)
    assert late.result is Result.SUPERSEDED
    assert deal.participants.count() == 1


def test_an_unknown_name_comes_back_with_what_was_typed() -> None:
    deal = cast.deal()
    answer = press(cast.alice(), deal, contact="Nobody Known", role="buys")
    assert answer.status_code == 422
    assert 'value="Nobody Known"' in answer.content.decode()
    deal.refresh_from_db()
    assert deal.version == 1


def test_charlie_of_another_team_finds_no_deal() -> None:
    deal = cast.deal()
    cast.contact("Vera Soll")
    assert press(cast.charlie(), deal, contact="Vera Soll").status_code == 404
