"""The board: who sees which deals, what the columns add up to, what the filters let through."""

import datetime as dt
import re

import pytest
from django.test import Client
from django.utils import timezone

from tests import cast
from tests.crm.boards import HTMX, at, card, company, head, shown, text, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_sees(client: Client) -> Client:
    client.force_login(cast.alice())
    return client


def today() -> dt.date:
    return timezone.localdate()


def plan(deal, day: dt.date | None, title: str = "Call Rui") -> None:
    outcome = cast.propose("opportunity.plan_task", deal, by=cast.alice(), title=title, due_on=day)
    assert outcome.written, outcome


def test_without_signing_in_there_is_no_board(client: Client) -> None:
    response = client.get("/board/")

    assert response.status_code == 302
    assert "/sign-in/" in response.headers["Location"]


def test_a_deal_stands_in_the_column_of_its_stage(alice_sees: Client) -> None:
    at("New", "Milk tank sensors")
    at("Proposal", "Audit pack")

    page = shown(alice_sees.get("/board/"))

    assert page == {"New": ["Milk tank sensors"], "Proposal": ["Audit pack"], "Negotiation": [], "Won": [], "Lost": []}


def test_a_colleague_sees_the_deal_and_another_team_sees_nothing_of_it(client: Client) -> None:
    deal = at("New", "Milk tank sensors", amount="18400", currency="USD")

    client.force_login(cast.bob())
    assert card(client.get("/board/"), deal)

    client.force_login(cast.charlie())
    response = client.get("/board/")
    assert not card(response, deal)
    assert "Milk tank" not in text(response)
    assert head(response, "New") == "New 0"
    assert "18,400" not in text(response)


def test_an_administrator_sees_every_team(client: Client) -> None:
    at("New", "Northern deal")
    at("New", "Southern deal", owner=cast.charlie())

    client.force_login(cast.administrator())

    assert set(shown(client.get("/board/"))["New"]) == {"Northern deal", "Southern deal"}


def test_a_column_adds_up_each_currency_by_itself(alice_sees: Client) -> None:
    at("New", "A", amount="100.50", currency="USD")
    at("New", "B", amount="200", currency="USD")
    at("New", "C", amount="5000", currency="BRL")
    at("New", "D")

    assert head(alice_sees.get("/board/"), "New") == "New 4 R$ 5,000 $300.50"


def test_the_line_on_top_counts_open_deals_only(alice_sees: Client) -> None:
    at("New", "A", amount="100", currency="USD")
    at("Negotiation", "B", amount="50", currency="USD")
    at("Won", "C", amount="900", currency="USD")

    page = alice_sees.get("/board/")

    assert "2 open deals, $150" in words(text(page))


def test_a_card_is_titled_by_its_company_and_says_what_it_is_about(alice_sees: Client) -> None:
    deal = at("New", "26 ice boxes", company=company("Saltwick Fish Market").pk, amount="31200", currency="BRL")

    said = words(card(alice_sees.get("/board/"), deal))

    assert said.startswith("Saltwick Fish Market AA 26 ice boxes")
    assert "R$ 31,200" in said


def test_html_in_a_name_is_only_text(alice_sees: Client) -> None:
    at("New", "<script>alert(1)</script>", company=company('<b onclick="x">Firm</b>').pk)

    page = text(alice_sees.get("/board/"))

    assert "<script>alert" not in page
    assert "<b onclick" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize(
    ("days", "state", "said"),
    [(-2, "overdue", "2 days late, Call Rui"), (0, "today", "Today, Call Rui"), (3, "later", ", Call Rui")],
)
def test_the_dot_tells_when_the_next_step_is(alice_sees: Client, days: int, state: str, said: str) -> None:
    deal = at("New", "Milk tank sensors")
    plan(deal, today() + dt.timedelta(days=days))

    found = card(alice_sees.get("/board/"), deal)

    assert f'data-next="{state}"' in found
    assert said in words(found)


def test_a_ring_tells_that_nobody_has_planned_a_next_step(alice_sees: Client) -> None:
    deal = at("New", "Milk tank sensors")

    found = card(alice_sees.get("/board/"), deal)

    assert 'data-next="none"' in found
    assert "No next step" in words(found)


def test_a_deal_too_long_in_its_stage_is_marked_as_stuck(alice_sees: Client) -> None:
    stuck = at("Proposal", "Old one", opened_on=(today() - dt.timedelta(days=8)).isoformat())
    moving = at("Proposal", "New one", opened_on=(today() - dt.timedelta(days=7)).isoformat())

    page = alice_sees.get("/board/")

    assert "8 d" in words(card(page, stuck))
    assert "#i-stuck" not in card(page, moving)


def test_a_won_deal_has_its_check_and_no_next_step(alice_sees: Client) -> None:
    deal = at("Won", "Audit pack", closed_on="2026-03-05")

    found = card(alice_sees.get("/board/"), deal)

    assert "#i-check" in found
    assert "data-next" not in found
    assert "data-closed" in found


def test_closed_columns_begin_with_the_newest(alice_sees: Client) -> None:
    at("Won", "In March", closed_on="2026-03-05")
    at("Won", "In May", closed_on="2026-05-05")
    at("Won", "In April", closed_on="2026-04-05")

    assert shown(alice_sees.get("/board/"))["Won"] == ["In May", "In April", "In March"]


def test_mine_leaves_out_the_deals_of_colleagues_and_their_sums(alice_sees: Client) -> None:
    at("New", "Alice's", amount="100", currency="USD")
    at("New", "Bob's", owner=cast.bob(), amount="40", currency="USD")

    page = alice_sees.get("/board/?owner=me")

    assert shown(page)["New"] == ["Alice's"]
    assert head(page, "New") == "New 1 $100"


def test_the_board_of_one_colleague(alice_sees: Client) -> None:
    at("New", "Alice's")
    at("New", "Bob's", owner=cast.bob())

    assert shown(alice_sees.get(f"/board/?owner={cast.bob().pk}"))["New"] == ["Bob's"]


def test_the_list_of_owners_names_nobody_of_another_team(alice_sees: Client) -> None:
    cast.charlie()
    cast.bob()
    at("New", "Alice's")

    page = text(alice_sees.get("/board/"))

    assert "Bob Borges" in page
    assert "Charlie" not in page


def test_by_text_finds_the_company_and_the_deal(alice_sees: Client) -> None:
    at("New", "Ice boxes", company=company("Saltwick Fish Market").pk)
    at("New", "Fish tanks")
    at("New", "Audit pack")

    page = alice_sees.get("/board/", {"q": "fISH"})

    assert sorted(shown(page)["New"]) == ["Fish tanks", "Saltwick Fish Market"]
    assert head(page, "New") == "New 2"


def test_by_product(alice_sees: Client) -> None:
    outcome = cast.propose("product.create", by=cast.manager(), name="Sensor kit", currency="USD")
    assert outcome.written
    assert outcome.subject
    at("New", "With", product=outcome.subject.pk)
    at("New", "Without")

    assert shown(alice_sees.get(f"/board/?product={outcome.subject.pk}"))["New"] == ["With"]


def test_a_chip_shows_one_state_and_every_chip_keeps_its_number(alice_sees: Client) -> None:
    plan(at("New", "Late", amount="10", currency="USD"), today() - dt.timedelta(days=1))
    plan(at("New", "Now", amount="20", currency="USD"), today())
    plan(at("Proposal", "Then", amount="30", currency="USD"), today() + dt.timedelta(days=1))
    at("New", "Never", amount="40", currency="USD")
    at("Won", "Closed", amount="50", currency="USD")

    page = alice_sees.get("/board/?next=overdue")

    assert shown(page) == {"New": ["Late"], "Proposal": [], "Negotiation": [], "Won": [], "Lost": []}
    assert head(page, "New") == "New 1 $10"
    assert "Overdue 1 Today 1 Later 1 No next step 1" in words(text(page))


def test_a_day_begins_where_the_viewer_works(client: Client) -> None:
    """At 23:30 in São Paulo it is the next day in Tokyo already."""
    import time_machine

    deal = at("New", "Milk tank sensors")
    plan(deal, dt.date(2031, 6, 9))
    tokyo = cast.bob()
    tokyo.time_zone = "Asia/Tokyo"
    tokyo.save()

    with time_machine.travel(dt.datetime(2031, 6, 10, 2, 30, tzinfo=dt.UTC), tick=False):
        client.force_login(cast.alice())
        assert 'data-next="today"' in card(client.get("/board/"), deal)
        client.force_login(tokyo)
        assert 'data-next="overdue"' in card(client.get("/board/"), deal)


@pytest.mark.parametrize(
    "query",
    [
        "owner=abc",
        "owner=99999999999999999999",
        "owner=999999999999999999",
        "next=never",
        "product=-1",
        "product=999999999999999999",
        "pipeline=zero",
        "q=" + "x" * 5000,
        "stage=abc&after=nonsense",
        "stage=1&after=9999-99-99~1",
        "q=%25_%5C'%22",
    ],
)
def test_a_filter_that_says_nothing_readable_breaks_nothing(alice_sees: Client, query: str) -> None:
    at("New", "Milk tank sensors")

    assert alice_sees.get(f"/board/?{query}").status_code == 200


def test_htmx_gets_the_columns_and_an_address_to_come_back_to(alice_sees: Client) -> None:
    at("New", "Alice's")

    response = alice_sees.get("/board/?owner=me&q=&next=", headers=HTMX)

    assert "<html" not in text(response)
    assert response.headers["HX-Push-Url"] == "/board/?owner=me"
    assert "HX-Request" in response.headers["Vary"]


def test_going_back_in_the_browser_gets_the_whole_page(alice_sees: Client) -> None:
    cast.pipeline()

    response = alice_sees.get("/board/", headers={**HTMX, "HX-History-Restore-Request": "true"})

    assert "<html" in text(response)


def test_without_a_pipeline_the_page_says_who_sets_one_up(alice_sees: Client) -> None:
    response = alice_sees.get("/board/")

    assert response.status_code == 200
    assert "There is no pipeline yet" in text(response)


def test_without_deals_the_page_says_what_to_do(alice_sees: Client) -> None:
    cast.pipeline()

    assert "Add the first one" in text(alice_sees.get("/board/"))


def test_what_an_agent_has_to_say_stands_on_the_card(alice_sees: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from crm import slots

    marked, other = at("New", "Marked"), at("New", "Other")
    monkeypatch.setitem(slots._FILLERS, "board.marks", [lambda request, deals: {marked.pk: "A next step is suggested"}])

    page = alice_sees.get("/board/")

    assert "A next step is suggested" in card(page, marked)
    assert "suggested" not in card(page, other)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_filters_that_leave_nothing_say_so_with_a_way_back(alice_sees: Client, headers: dict[str, str]) -> None:
    at("New", "Milk tank sensors")
    found = text(alice_sees.get("/board/?q=milk", headers=headers))
    assert "No deal matches" not in found
    nothing = text(alice_sees.get("/board/?q=zzzz", headers=headers))
    assert "No deal matches “zzzz”" in words(nothing)
    assert re.search(r'<a class="btn" href="/board/">Clear the filters</a>', nothing)
    assert "No deal matches these filters" in words(text(alice_sees.get("/board/?next=overdue", headers=headers)))


def test_without_stages_an_administrator_reads_which_command_makes_them(client: Client) -> None:
    client.force_login(cast.administrator())
    told = words(text(client.get("/board/")))
    assert "run manage.py stages on the server" in told
    client.force_login(cast.alice())
    told = words(text(client.get("/board/")))
    assert "manage.py" not in told
    assert "An administrator sets up the stages" in told
