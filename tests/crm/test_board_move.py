"""Moving a card: on what the person saw, or back with the reason."""

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.utils.crypto import get_random_string

from conflicts import actors, claims
from conflicts.models import Conflict, Decision
from crm.models import Activity, Opportunity
from tests import cast
from tests.crm.boards import HTMX, at, card, company, head, text, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_sees(client: Client) -> Client:
    client.force_login(cast.alice())
    return client


def move(client: Client, deal: Opportunity, to: str, *, headers=None, **more):
    data = {
        "deal": deal.pk,
        "stage": cast.stage(to).pk,
        "version": deal.version,
        "key": get_random_string(20),
        **more,
    }
    return client.post("/board/move/", {k: v for k, v in data.items() if v is not None}, headers=headers)


def edit(deal: Opportunity, **params) -> None:
    """Bob changes the deal as it is now."""
    fresh = Opportunity.objects.get(pk=deal.pk)
    assert cast.propose("opportunity.edit", fresh, by=cast.bob(), **params).written


def test_a_move_writes_the_stage_and_a_line_of_the_timeline(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    response = move(alice_sees, deal, "Proposal")

    assert response.status_code == 302
    assert response.headers["Location"] == "/board/"
    deal.refresh_from_db()
    assert (deal.stage.name, deal.version) == ("Proposal", 2)
    assert Activity.objects.get(opportunity=deal).facts["to"] == "Proposal"
    [message] = get_messages(response.wsgi_request)
    assert str(message) == "Ice boxes is now in Proposal."
    assert message.extra_tags == f"undo:crm.opportunity:{deal.pk}:2"


def test_after_a_move_the_filters_are_as_they_were(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    data = {"deal": deal.pk, "stage": cast.stage("Proposal").pk, "version": 1}

    response = alice_sees.post("/board/move/?owner=me&next=none", data)

    assert response.headers["Location"] == "/board/?owner=me&next=none"


def test_the_answer_to_a_script_holds_the_card_the_new_sums_and_the_way_back(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="100", currency="USD")

    response = move(alice_sees, deal, "Proposal", headers=HTMX)

    assert response.status_code == 200
    assert f'data-stage="{cast.stage("Proposal").pk}" data-version="2"' in card(response, deal)
    assert head(response, "New") == "New 0"
    assert head(response, "Proposal") == "Proposal 1 $100"
    assert "Ice boxes is now in Proposal." in words(text(response))
    assert "Undo" in words(text(response))


def test_a_move_without_a_version_is_refused(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    response = move(alice_sees, deal, "Proposal", version=None)

    assert response.status_code == 428
    deal.refresh_from_db()
    assert deal.version == 1


@pytest.mark.parametrize("version", ["0", "-1", "x", "1.5", ""])
def test_a_version_that_is_none_is_refused(alice_sees: Client, version: str) -> None:
    deal = at("New", "Ice boxes")

    assert move(alice_sees, deal, "Proposal", version=version).status_code in (400, 428)
    deal.refresh_from_db()
    assert deal.version == 1


def test_an_amount_that_changed_under_the_hand_sends_the_card_back(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", company=company("Saltwick").pk, amount="92000", currency="BRL")
    edit(deal, amount="86000")

    response = move(alice_sees, deal, "Proposal", headers=HTMX)

    assert response.status_code == 409
    back = card(response, deal)
    assert "data-back" in back
    assert f'data-stage="{cast.stage("New").pk}"' in back
    assert "Not moved. Bob changed the amount while you held the card: R$ 92,000 R$ 86,000" in words(back)
    assert "Move it now" in back
    assert "Leave it" in back
    deal.refresh_from_db()
    assert (deal.stage.name, deal.version) == ("New", 2)


def test_move_it_now_carries_the_version_in_force_and_settles_the_record(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    edit(deal, amount="86000")
    move(alice_sees, deal, "Proposal", headers=HTMX)
    record = Conflict.objects.waiting().get()

    deal.refresh_from_db()
    response = move(alice_sees, deal, "Proposal", headers=HTMX, settles=record.pk)

    assert response.status_code == 200
    deal.refresh_from_db()
    assert deal.stage.name == "Proposal"
    record.refresh_from_db()
    assert (record.resolution, record.closed_by) == ("settled", f"person:{cast.alice().pk}:Alice Amaral")


def test_leave_it_closes_the_record_and_writes_nothing(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    edit(deal, amount="86000")
    move(alice_sees, deal, "Proposal", headers=HTMX)
    record = Conflict.objects.waiting().get()

    response = alice_sees.post("/board/leave/", {"deal": deal.pk, "settles": record.pk}, headers=HTMX)

    assert "data-back" not in card(response, deal)
    record.refresh_from_db()
    assert record.resolution == "drop"
    assert record.closed_by == f"person:{cast.alice().pk}:Alice Amaral"
    assert Decision.objects.get(conflict=record).kind == "drop"
    deal.refresh_from_db()
    assert (deal.stage.name, deal.version) == ("New", 2)


def test_what_a_reviewer_has_is_not_left_behind_their_back(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    edit(deal, amount="86000")
    move(alice_sees, deal, "Proposal", headers=HTMX)
    record = Conflict.objects.waiting().get()
    claims.take(record.pk, by=actors.person(cast.manager()))

    response = alice_sees.post("/board/leave/", {"deal": deal.pk, "settles": record.pk}, headers=HTMX)

    assert "Manuela Moraes is deciding about this until" in response.content.decode()
    assert list(Conflict.objects.waiting()) == [record]


def test_only_a_move_of_the_card_is_left_from_the_board(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    edit(deal, amount="86000")
    outcome = cast.propose("opportunity.edit", deal, by=cast.alice(), amount="90000")

    alice_sees.post("/board/leave/", {"deal": deal.pk, "settles": outcome.record}, headers=HTMX)

    assert Conflict.objects.waiting().filter(pk=outcome.record).exists()


def test_nobody_closes_the_record_of_somebody_else(client: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    client.force_login(cast.alice())
    edit(deal, amount="86000")
    move(client, deal, "Proposal", headers=HTMX)
    record = Conflict.objects.waiting().get()

    client.force_login(cast.bob())
    client.post("/board/leave/", {"deal": deal.pk, "settles": record.pk}, headers=HTMX)
    deal.refresh_from_db()
    move(client, deal, "Proposal", headers=HTMX, settles=record.pk)

    record.refresh_from_db()
    assert record.closed_at is None


def test_what_does_not_matter_to_a_move_does_not_hold_it_up(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    edit(deal, decision="Otto decides")

    assert move(alice_sees, deal, "Proposal").status_code == 302

    deal.refresh_from_db()
    assert (deal.stage.name, deal.decision, deal.version) == ("Proposal", "Otto decides", 3)


def test_a_card_that_somebody_else_moved_comes_back_to_where_it_is_now(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    assert cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Negotiation").pk).written

    response = move(alice_sees, deal, "Proposal", headers=HTMX)

    assert response.status_code == 409
    back = card(response, deal)
    assert f'data-stage="{cast.stage("Negotiation").pk}"' in back
    assert "Bob moved it while you held the card: New Negotiation" in words(back)


def test_two_who_move_a_card_to_the_same_stage_agree(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")
    assert cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk).written

    response = move(alice_sees, deal, "Proposal", headers=HTMX)

    assert response.status_code == 200
    deal.refresh_from_db()
    assert deal.version == 2
    assert Activity.objects.filter(opportunity=deal).count() == 1


def test_won_and_lost_exclude_each_other(alice_sees: Client) -> None:
    deal = at("Proposal", "Ice boxes")
    assert cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Won").pk).written

    response = move(alice_sees, deal, "Lost", reason="No budget", headers=HTMX)

    assert response.status_code == 409
    assert "Bob moved it while you held the card: Proposal Won" in words(card(response, deal))
    deal.refresh_from_db()
    assert (deal.status, deal.lost_reason) == ("won", "")
    assert Conflict.objects.waiting().get().state == "terminal_state_found"


def test_a_lost_deal_needs_a_reason_and_leaves_no_record_without(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    response = move(alice_sees, deal, "Lost", headers=HTMX)

    assert response.status_code == 422
    assert "A lost deal needs a reason." in words(card(response, deal))
    assert not Conflict.objects.exists()
    deal.refresh_from_db()
    assert deal.status == "open"


def test_a_lost_deal_keeps_its_reason(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    move(alice_sees, deal, "Lost", reason="They chose another supplier")

    deal.refresh_from_db()
    assert (deal.status, deal.lost_reason) == ("lost", "They chose another supplier")


def test_moving_on_to_another_stage_carries_no_reason_along(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    move(alice_sees, deal, "Proposal", reason="left over in the form")

    assert Activity.objects.get(opportunity=deal).text == ""


def test_another_teams_deal_cannot_even_be_seen_to_be_there(client: Client) -> None:
    deal = at("New", "Ice boxes")
    client.force_login(cast.charlie())

    assert move(client, deal, "Proposal").status_code == 404
    assert client.get(f"/board/move/?deal={deal.pk}").status_code == 404
    assert client.post("/board/leave/", {"deal": deal.pk}).status_code == 404
    deal.refresh_from_db()
    assert deal.version == 1


@pytest.mark.parametrize("stage", ["", "abc", "999999"])
def test_a_stage_that_is_none_of_the_pipeline_moves_nothing(alice_sees: Client, stage: str) -> None:
    deal = at("Proposal", "Ice boxes")

    response = alice_sees.post("/board/move/", {"deal": deal.pk, "stage": stage, "version": 1}, headers=HTMX)

    assert response.status_code == 422
    assert "Choose a stage of this pipeline." in words(card(response, deal))
    deal.refresh_from_db()
    assert deal.version == 1


def test_sent_twice_it_is_one_move(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    first = move(alice_sees, deal, "Proposal", key="the-same")
    second = move(alice_sees, deal, "Proposal", key="the-same")

    assert (first.status_code, second.status_code) == (302, 302)
    deal.refresh_from_db()
    assert deal.version == 2
    assert Activity.objects.filter(opportunity=deal).count() == 1


def test_a_version_from_a_future_that_never_was_is_not_believed(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    response = move(alice_sees, deal, "Proposal", version=7, headers=HTMX)

    assert response.status_code == 409
    deal.refresh_from_db()
    assert deal.version == 1


def test_the_plain_page_moves_without_a_script(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")

    page = text(alice_sees.get(f"/board/move/?deal={deal.pk}"))
    assert f'name="version" value="{deal.version}"' in page
    assert "Where does Ice boxes go?" in page
    edit(deal, amount="86000")
    response = move(alice_sees, deal, "Proposal")

    assert response.status_code == 409
    assert "Not moved. Bob changed the amount while you held the card: R$ 92,000 R$ 86,000" in words(text(response))
    assert 'name="version" value="2"' in text(response)


def test_a_read_of_a_moves_address_writes_nothing(alice_sees: Client) -> None:
    deal = at("New", "Ice boxes")

    alice_sees.get("/board/move/", {"deal": deal.pk, "stage": cast.stage("Proposal").pk, "version": 1, "key": "k"})

    deal.refresh_from_db()
    assert deal.version == 1


def test_the_words_are_the_readers(client: Client) -> None:
    """To the one who did it in another window, it was "you"."""
    deal = at("New", "Ice boxes", amount="92000", currency="BRL")
    client.force_login(cast.bob())
    edit(deal, amount="86000")

    response = move(client, deal, "Proposal", headers=HTMX)

    assert "You changed the amount while you held the card" in words(card(response, deal))
