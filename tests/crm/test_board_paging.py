"""A long column comes in keyset pages: nothing twice, nothing left out, whatever happens between two pages."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conflicts import actors, gate
from conflicts.proposals import Proposal
from crm import board
from crm.models import Opportunity
from tests import cast
from tests.crm.boards import at, head, shown, text, titles

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_sees(client: Client) -> Client:
    client.force_login(cast.alice())
    return client


def many(count: int, *, stage: str, **params) -> None:
    """In one transaction: all of them change in the same moment, so that the tie has to be broken."""
    cast.pipeline()
    by = actors.person(cast.alice())
    base = {"stage": cast.stage(stage).pk, "owner": cast.alice().pk, **params}
    outcomes = gate.commit_many(
        [Proposal(action="opportunity.create", by=by, params={**base, "name": f"Deal {n:03}"}) for n in range(count)]
    )
    assert all(outcome.written for outcome in outcomes)


def next_page(page: str, *, htmx: bool) -> str:
    found = re.search(r'<li class="more"><a [^>]*?href="([^"]*after[^"]*)"[^>]*hx-get="([^"]*)"', page)
    return found.group(2 if htmx else 1).replace("&amp;", "&") if found else ""


@pytest.mark.parametrize("stage", ["New", "Won"])
def test_the_pages_of_a_column_hold_every_deal_once(alice_sees: Client, stage: str) -> None:
    many(board.PAGE * 2 + 3, stage=stage, **({"closed_on": "2026-05-05"} if stage == "Won" else {}))

    page = alice_sees.get("/board/")
    seen = shown(page)[stage]
    assert len(seen) == board.PAGE
    address = next_page(text(page), htmx=True)
    while address:
        part = text(alice_sees.get(address))
        seen += titles(part)
        address = next_page(part, htmx=True)

    assert len(seen) == len(set(seen)) == board.PAGE * 2 + 3


def test_number_and_sum_speak_of_all_deals_not_of_the_cards_shown(alice_sees: Client) -> None:
    many(board.PAGE + 5, stage="New", amount="10", currency="USD")

    assert head(alice_sees.get("/board/"), "New") == f"New {board.PAGE + 5} ${(board.PAGE + 5) * 10}"


def test_without_a_script_show_more_is_a_page_of_its_own(alice_sees: Client) -> None:
    many(board.PAGE + 2, stage="New")
    first = alice_sees.get("/board/")

    second = alice_sees.get(next_page(text(first), htmx=False))

    assert len(shown(second)["New"]) == 2
    assert not set(shown(second)["New"]) & set(shown(first)["New"])
    assert "Back to the first ones" in text(second)


def test_a_deal_that_changes_between_two_pages_does_not_shift_the_others(alice_sees: Client) -> None:
    many(board.PAGE + 4, stage="New")
    page = alice_sees.get("/board/")
    rest = set(Opportunity.objects.values_list("name", flat=True)) - set(shown(page)["New"])
    touched = Opportunity.objects.get(name=shown(page)["New"][3])
    assert cast.propose("opportunity.log", touched, by=cast.bob(), kind="note", text="Hm").written

    more = titles(text(alice_sees.get(next_page(text(page), htmx=True))))

    assert set(more) == rest


def test_the_filters_hold_on_every_page(alice_sees: Client) -> None:
    many(board.PAGE + 4, stage="New")
    at("New", "Bob's", owner=cast.bob())

    page = alice_sees.get("/board/?owner=me")
    more = text(alice_sees.get(next_page(text(page), htmx=True)))

    assert "Bob&#x27;s" not in text(page) + more
    assert len(titles(more)) == 4


def test_another_teams_column_stays_closed_by_its_address_too(client: Client) -> None:
    at("New", "Milk tank sensors")
    client.force_login(cast.charlie())

    response = client.get(f"/board/more/?stage={cast.stage('New').pk}")

    assert titles(text(response)) == []


@pytest.mark.parametrize("stage", ["", "abc", "999999"])
def test_a_stage_of_no_pipeline_is_not_found(alice_sees: Client, stage: str) -> None:
    cast.pipeline()

    assert alice_sees.get(f"/board/more/?stage={stage}").status_code == 404


def test_a_full_board_costs_as_many_queries_as_an_empty_one(alice_sees: Client) -> None:
    cast.pipeline()
    alice_sees.get("/board/")  # what is looked up once per process
    with CaptureQueriesContext(connection) as empty:
        alice_sees.get("/board/")
    many(board.PAGE + 2, stage="New", amount="10", currency="USD")
    many(board.PAGE + 2, stage="Won", closed_on="2026-05-05")
    at("Proposal", "Bob's", owner=cast.bob())

    with CaptureQueriesContext(connection) as full:
        alice_sees.get("/board/")

    assert len(full) <= 15
    assert len(full) <= len(empty) + 3  # what the agents' marks may ask for, once for all cards
