"""The lists of companies and contacts: search, filters, order, saved views, and pages that stay quick."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crm import lists
from crm.models import Company, Contact, SavedView
from tests import cast
from tests.crm.pages import at, client, htmx

pytestmark = pytest.mark.django_db

MOST_QUERIES = 15


def company(name: str, **params: object) -> Company:
    outcome = cast.propose("company.create", by=cast.alice(), name=name, **params)
    assert outcome.written, outcome
    return Company.objects.get(pk=outcome.subject.pk)


def names(response: object) -> list[str]:
    return [row.name for row in response.context["page"].rows]  # type: ignore[attr-defined]


def test_companies_are_found_by_a_part_of_their_name_whatever_case_and_accents():
    company("Padaria São João")
    company("Acme")
    alice = client(cast.alice())
    assert names(alice.get(at("companies"), {"q": "sao jo"})) == ["Padaria São João"]
    assert names(alice.get(at("companies"), {"q": "ACME"})) == ["Acme"]
    response = alice.get(at("companies"), {"q": "%%%"})
    assert names(response) == []
    assert "Nothing fits" in response.content.decode()


def test_companies_are_filtered_by_owner_sector_and_tag_and_ordered():
    bob = cast.bob()
    first = company("B", sector="Food", owner=cast.alice().pk, tags=["x"])
    company("A", sector="Food", owner=bob.pk)
    company("C", sector="Wine")
    alice = client(cast.alice())
    assert names(alice.get(at("companies"))) == ["A", "B", "C"]
    assert names(alice.get(at("companies"), {"owner": "me"})) == ["B"]
    assert names(alice.get(at("companies"), {"owner": bob.pk})) == ["A"]
    assert names(alice.get(at("companies"), {"owner": "none"})) == ["C"]
    assert names(alice.get(at("companies"), {"sector": "Food"})) == ["A", "B"]
    assert names(alice.get(at("companies"), {"tag": "x"})) == ["B"]
    assert names(alice.get(at("companies"), {"sort": "new"})) == ["C", "A", "B"]
    cast.propose("company.edit", first, by=bob, note="called")
    assert names(alice.get(at("companies"), {"sort": "changed"})) == ["B", "C", "A"]


def test_contacts_are_found_by_name_address_and_number_but_not_by_what_was_removed():
    rui = cast.contact("Rui Amaro", addresses=[{"kind": "email", "value": "rui@acme.example"},
                                               {"kind": "phone", "value": "+55 11 95550-0131"}])  # fmt: skip
    cast.contact("Vera Soll")
    alice = client(cast.alice())
    for text in ("amaro", "rui@acme", "acme.example", "95550 0131", "+55 (11) 95550"):
        assert names(alice.get(at("contacts"), {"q": text})) == ["Rui Amaro"], text
    cast.propose("contact.remove_address", rui, by=cast.alice(), point=rui.points.get(kind="email").pk)
    assert names(alice.get(at("contacts"), {"q": "rui@acme"})) == []


def test_contacts_are_filtered_by_company():
    acme = company("Acme")
    cast.contact("Rui Amaro", company=acme.pk)
    cast.contact("Vera Soll")
    response = client(cast.alice()).get(at("contacts"), {"company": acme.pk})
    assert names(response) == ["Rui Amaro"]
    assert f"?company={acme.pk}" in response.content.decode()  # a new contact begins there


@pytest.mark.parametrize("sort", list(lists.SORTS))
def test_the_pages_of_a_list_give_each_row_once_even_while_rows_arrive(sort):
    for number in range(7):
        company(f"Firm {number // 2}" + "x" * number)
    seen: list[str] = []
    after = ""
    for turn in range(10):
        page = lists.page(Company.objects.all(), sort=sort, after=after, size=2)
        seen += [row.name for row in page.rows]
        if turn == 0:
            company("Aaa, which came meanwhile")  # before the place where the next page begins
        if not page.after:
            break
        after = page.after
    old = [name for name in seen if "meanwhile" not in name]
    assert len(old) == len(set(old)) == 7


@pytest.mark.parametrize(
    "query",
    ["after=x", "after=9~", "after=~", "after=99999999999999999999~a", "sort=changed&after=1~2026-01-01",
     "sort=changed&after=1~never", "sort=bogus", "owner=alice", "owner=-1", "company=x", "owner=99999999999999999999",
     "q=" + "x" * 5000, "tag=" + "%F0%9F%8D%95" * 200],
)  # fmt: skip
def test_whatever_stands_in_the_address_bar_shows_a_list(query):
    company("Acme")
    for page in ("companies", "contacts"):
        assert client(cast.alice()).get(f"{at(page)}?{query}").status_code == 200


def test_show_more_gives_the_next_rows_and_without_javascript_the_next_page(monkeypatch):
    monkeypatch.setattr(lists, "PAGE", 2)
    for name in ("A", "B", "C"):
        company(name)
    alice = client(cast.alice())
    first = alice.get(at("companies"))
    after = first.context["page"].after
    assert names(first) == ["A", "B"]
    whole = alice.get(at("companies"), {"after": after})
    assert names(whole) == ["C"]
    assert "Back to the first ones" in whole.content.decode()
    piece = alice.get(at("companies"), {"after": after}, headers=htmx()).content.decode()
    assert piece.lstrip().startswith("<tr>")
    assert "<html" not in piece


def test_filtering_with_htmx_gives_the_list_alone_and_its_address():
    company("Acme", sector="Food")
    response = client(cast.alice()).get(at("companies"), {"sector": "Food", "q": ""}, headers=htmx())
    assert response["HX-Push-Url"] == f"{at('companies')}?sector=Food"
    assert "HX-Request" in response["Vary"]
    html = response.content.decode()
    assert html.lstrip().startswith('<div id="list-region"')
    assert "Save this view" in html


@pytest.mark.parametrize("page", ["companies", "contacts"])
def test_a_full_page_costs_a_fixed_number_of_queries(page):
    alice = cast.alice()
    for number in range(lists.PAGE + 5):
        acme = company(f"Firm {number}", owner=alice.pk)
        cast.contact(f"Person {number}", company=acme.pk, owner=alice.pk,
                     addresses=[{"kind": "email", "value": f"p{number}@x.example"}])  # fmt: skip
        if number < 3:
            cast.deal(f"Deal {number}", company=acme.pk, amount=100, currency="BRL")
    browser = client(alice)
    browser.get(at(page))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        response = browser.get(at(page))
    assert len(response.context["page"].rows) == lists.PAGE
    assert len(queries) <= MOST_QUERIES, [query["sql"][:120] for query in queries]
    assert not any("COUNT(*)" in q["sql"] or "OFFSET" in q["sql"] for q in queries if '"crm_company"' in q["sql"])


def test_open_deals_are_summed_for_those_who_may_see_them():
    acme = company("Acme")
    cast.deal("One", company=acme.pk, amount=100, currency="BRL")
    cast.deal("Two", company=acme.pk, amount=50, currency="BRL")
    cast.deal("Theirs", owner=cast.charlie(), company=acme.pk, amount=7, currency="BRL")
    [mine] = client(cast.alice()).get(at("companies")).context["page"].rows
    assert (mine.open_deals, mine.worth[0]["worth"]) == (2, 150)
    [theirs] = client(cast.charlie()).get(at("companies")).context["page"].rows
    assert (theirs.open_deals, theirs.worth[0]["worth"]) == (1, 7)


def test_a_view_is_saved_shown_beside_every_page_replaced_and_deleted():
    company("Acme", sector="Food")
    alice = client(cast.alice())
    saved = alice.post(
        at("saved_view_save"), {"page": "companies", "query": "sector=Food&q=&after=3~x", "name": "Food"}
    )
    assert saved.status_code == 302
    assert saved["Location"] == f"{at('companies')}?sector=Food"
    view = SavedView.objects.get()
    assert view.query == "sector=Food"
    contacts = alice.get(at("contacts")).content.decode()
    assert f'href="{at("companies")}?sector=Food" title="Food"' in contacts
    shown = alice.get(saved["Location"])
    assert shown.context["current_view"] == view
    assert "Delete this view" in shown.content.decode()

    alice.post(at("saved_view_save"), {"page": "companies", "query": "sector=Wine", "name": "Food"})
    assert SavedView.objects.get().query == "sector=Wine"
    assert client(cast.bob()).post(at("saved_view_delete", view.pk)).status_code == 404
    assert alice.get(at("saved_view_delete", view.pk)).status_code == 405
    alice.post(at("saved_view_delete", view.pk))
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("posted", "status"),
    [
        ({"page": "companies", "query": "q=a", "name": " "}, 302),
        ({"page": "companies", "query": "q=a", "name": "\u200b\u2060\u00ad"}, 302),
        ({"page": "companies", "query": "q=a", "name": "\u2800\u3000"}, 302),
        ({"page": "companies", "query": "q=a", "name": "\u3164\u115f\uffa0"}, 302),
        ({"page": "companies", "query": "q=a", "name": "x" * 81}, 302),
        ({"page": "companies", "query": "q=" + "a" * 2000, "name": "long"}, 302),
        ({"page": "admin:index", "query": "", "name": "x"}, 404),
        ({"page": "https://elsewhere.example", "query": "", "name": "x"}, 404),
    ],
)
def test_a_view_without_a_good_name_or_of_another_page_is_not_saved(posted, status):
    assert client(cast.alice()).post(at("saved_view_save"), posted).status_code == status
    assert not SavedView.objects.exists()


def test_html_in_names_is_text_in_every_list():
    acme = company("<script>alert(1)</script>", sector="<b>x</b>", tags=['"><i>'])
    cast.contact("<img src=x onerror=alert(1)>", company=acme.pk)
    alice = client(cast.alice())
    for page in ("companies", "contacts"):
        html = alice.get(at(page)).content.decode()
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "<i>" not in html


def test_nobody_sees_a_list_without_signing_in(client):
    for page in ("companies", "contacts", "company_new", "contact_new"):
        assert client.get(at(page)).status_code == 302
    assert not Contact.objects.exists()


def test_the_sectors_that_occur_can_be_chosen_each_once_in_order():
    for name, sector in (("A", "Wine"), ("B", "Food"), ("C", "Wine"), ("D", ""), ("E", "Água")):
        company(name, sector=sector)
    assert sorted(lists.sectors()) == sorted(["Food", "Wine", "Água"])
    assert lists.sectors(most=1) == lists.sectors()[:1]
    html = client(cast.alice()).get(at("companies"), {"sector": "Food"}).content.decode()
    assert "<option selected>Food</option>" in html
