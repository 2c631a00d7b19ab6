"""Cards as they are now, asked for when somebody else has changed a deal."""

import pytest
from django.test import Client

from crm.models import Opportunity
from tests import cast
from tests.crm.boards import at, card, head, text, titles, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_sees(client: Client) -> Client:
    client.force_login(cast.alice())
    return client


def asks(client: Client, *deals: Opportunity, shown_in: str = "New", query: str = ""):
    stage = cast.stage(shown_in).pk
    return client.get(f"/board/cards/?deals={','.join(f'{deal.pk}.{stage}' for deal in deals)}&{query}")


def test_a_card_that_a_colleague_moved_says_who_did(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="100", currency="USD")
    assert cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk).written

    response = asks(alice_sees, deal)

    found = card(response, deal)
    assert "data-fresh" in found
    assert "Bob moved this" in words(found)
    assert f'data-stage="{cast.stage("Proposal").pk}"' in found
    assert head(response, "Proposal") == "Proposal 1 $100"


def test_a_card_that_a_colleague_changed_says_so(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="100", currency="USD")
    assert cast.propose("opportunity.edit", deal, by=cast.bob(), amount="90").written

    found = words(card(asks(alice_sees, deal), deal))

    assert "Bob changed this" in found
    assert "$90" in found


def test_ones_own_change_is_no_news(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    assert cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Proposal").pk).written

    assert "data-fresh" not in card(asks(alice_sees, deal), deal)


def test_what_the_filters_leave_out_is_not_in_the_answer(alice_sees: Client) -> None:
    mine, bobs = at("New", "Mine"), at("New", "Bob's", owner=cast.bob())

    assert titles(text(asks(alice_sees, mine, bobs, query="owner=me"))) == ["Mine"]


def test_a_deal_that_went_to_another_team_is_gone_from_the_answer(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    assert cast.propose("opportunity.edit", deal, by=cast.alice(), owner=cast.charlie().pk).written

    response = asks(alice_sees, deal)

    assert response.status_code == 200
    assert card(response, deal) == ""


@pytest.mark.parametrize("deals", ["", "x", "1.2.3", "-1", "99999999999999999999", ",,,", "1" * 18])
def test_nonsense_gets_no_cards(alice_sees: Client, deals: str) -> None:
    cast.pipeline()

    response = alice_sees.get("/board/cards/", {"deals": deals})

    assert response.status_code == 200
    assert titles(text(response)) == []


def test_without_a_pipeline_there_are_no_cards_to_ask_for(alice_sees: Client) -> None:
    assert alice_sees.get("/board/cards/?deals=1").status_code == 404
    assert alice_sees.get("/board/more/?stage=1").status_code == 404
