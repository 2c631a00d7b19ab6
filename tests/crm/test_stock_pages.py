"""Stock on screen: what is free, what is promised to whom, and who was faster."""

import pytest
from django.test import Client
from django.urls import reverse

from crm.models import Reservation, StockItem
from tests import cast
from tests.crm.deal_pages import HTMX, signed_in, text, words
from tests.governed import item, reserve, soon

pytestmark = pytest.mark.django_db


def at(name: str, *args: object) -> str:
    return reverse(name, args=args)


def do(who: Client, of: StockItem, verb: str, **sent: object) -> object:
    return who.post(at("stock_act", of.pk, verb), {"version": of.version, **sent}, follow=True)


def fresh(of: StockItem) -> StockItem:
    return StockItem.objects.get(pk=of.pk)


def until() -> str:
    return soon(9).date().isoformat()


def test_the_list_says_how_many_are_free_and_is_searched() -> None:
    sensors = item("Door sensor", on_hand=5, sku="DS-1", location="A 3")
    reserve(sensors, 2)
    item("Gateway", on_hand=0)
    alice = signed_in(cast.alice())
    assert "Door sensor DS-1, A 3 3 2 5" in words(alice.get(at("stock")))
    for query, there, not_there in (
        ("q=ds-1", "Door sensor", "Gateway"),
        ("q=gate", "Gateway", "Door sensor"),
        ("state=none", "Gateway", "Door sensor"),
        ("state=promised", "Door sensor", "Gateway"),
        ("state=free", "Door sensor", "Gateway"),
    ):
        page = text(alice.get(f"{at('stock')}?{query}", headers=HTMX))
        assert there in page
        assert not_there not in page


def test_units_are_reserved_for_a_deal_that_is_named() -> None:
    sensors, deal = item(on_hand=5), cast.deal("Sensors for 14 cold rooms")
    alice = signed_in(cast.alice())
    answer = do(alice, sensors, "reserve", quantity="2", what="sensors for 14 COLD rooms", until=until(), note="trial")
    assert "Reserved." in words(answer)
    made = Reservation.objects.get()
    assert (made.opportunity, made.quantity, made.note) == (deal, 2, "trial")
    page = words(alice.get(at("stock_item", sensors.pk)))
    assert "2 × Sensors for 14 cold rooms" in page
    assert "3 free" in page
    assert "2 × Door sensor" in text(alice.get(at("deal_desk", deal.pk), headers=HTMX))


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"quantity": "x"}, "A whole number, at least 1."),
        ({"quantity": "-1"}, "A whole number, at least 1."),
        ({"quantity": "9" * 30}, "A whole number, at least 1."),
        ({"what": ""}, "Say what it is for: a deal or a contract."),
        ({"what": "Nothing of that name"}, "No open deal and no contract is called"),
        ({"until": "soon"}, "Choose the day."),
        ({"until": "2001-01-01"}, "The end has to lie ahead, and within a year."),
        ({"quantity": "99"}, "99 are wanted, and 5 are free. Nothing was reserved."),
    ],
)
def test_what_cannot_be_reserved_comes_back_with_what_was_typed(sent: dict[str, str], told: str) -> None:
    sensors = item(on_hand=5)
    cast.deal("The deal")
    form = {"quantity": "2", "what": "The deal", "until": until(), "note": "as typed", "form": "reserve", **sent}
    answer = do(signed_in(cast.alice()), sensors, "reserve", **form)
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert told in words(answer)
    assert "as typed" in text(answer)
    assert not Reservation.objects.exists()


def test_who_wanted_the_last_ones_reads_who_was_faster() -> None:
    read = item(on_hand=1)
    cast.deal("The deal")
    cast.deal("Another deal")
    do(signed_in(cast.bob()), read, "reserve", quantity="1", what="The deal", until=until())
    answer = do(signed_in(cast.alice()), read, "reserve", quantity="1", what="Another deal", until=until())
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert "Bob Borges was faster: 1 are wanted, and 0 are free now." in words(answer)


def test_two_counts_from_one_page_are_added_up_and_said() -> None:
    read = item(on_hand=10)
    do(signed_in(cast.bob()), read, "count", on_hand="12")
    answer = do(signed_in(cast.alice()), read, "count", on_hand="7")
    assert fresh(read).on_hand == 9
    assert "Together with what changed meanwhile: on hand (Bob)." in words(answer)


def test_handing_out_what_was_given_back_meanwhile_takes_nothing_off_the_shelf() -> None:
    sensors = item(on_hand=5)
    made = reserve(sensors, 2)
    do(signed_in(cast.bob()), sensors, "give-back", reservation=made.pk)
    answer = do(signed_in(cast.alice()), sensors, "hand-out", reservation=made.pk, form="hand-out")
    assert "This reservation is given back since Bob Borges changed it." in words(answer)
    assert fresh(sensors).on_hand == 5


def test_the_deal_of_another_team_is_not_named() -> None:
    sensors = item(on_hand=5)
    reserve(sensors, 2, opportunity=cast.deal("Secret of the North").pk)
    page = words(signed_in(cast.charlie()).get(at("stock_item", sensors.pk)))
    assert "Secret of the North" not in page
    assert "2 × a deal of another team" in page


def test_a_deal_of_another_team_cannot_be_named_either() -> None:
    sensors = item(on_hand=5)
    cast.deal("Secret of the North")
    answer = do(signed_in(cast.charlie()), sensors, "reserve", quantity="1", what="Secret of the North", until=until())
    assert "No open deal and no contract is called" in words(answer)


def test_a_new_item_and_its_twin() -> None:
    alice = signed_in(cast.alice())
    sent = {"name": "Gateway", "on_hand": "4", "sku": "GW-3"}
    answer = alice.post(at("stock_new"), {**sent, "key": "one"})
    made = StockItem.objects.get()
    assert answer["Location"] == at("stock_item", made.pk)
    assert (made.on_hand, made.held) == (4, 0)
    twin = alice.post(at("stock_new"), {**sent, "name": "GATEWAY", "key": "two"})
    assert "There is an item of that name already." in words(twin)
    assert StockItem.objects.count() == 1


def test_the_pages_cost_a_fixed_number_of_queries(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    sensors = item(on_hand=50)
    for number in range(12):
        reserve(sensors, 1, opportunity=cast.deal(f"Deal {number}").pk)
        item(f"Item {number}")
    alice = signed_in(cast.alice())
    alice.get(at("stock"))
    for address in (at("stock_item", sensors.pk), at("stock")):
        with django_assert_max_num_queries(15):
            assert alice.get(address).status_code == 200
