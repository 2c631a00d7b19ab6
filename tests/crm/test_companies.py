"""The company's page: facts edited in place on the version that was shown, people, deals, and its story."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conflicts.exceptions import BadParams
from conflicts.models import Conflict
from crm.models import Company
from crm.views.records import web_address
from tests import cast
from tests.crm.pages import at, client, hidden, htmx

pytestmark = pytest.mark.django_db


def company(name: str = "Acme", **params: object) -> Company:
    outcome = cast.propose("company.create", by=cast.alice(), name=name, **params)
    assert outcome.written, outcome
    return Company.objects.get(pk=outcome.subject.pk)


def test_the_page_tells_facts_people_deals_parts_and_who_changed_it():
    acme = company(sector="Food", location="Itu", website="acme.example", revenue="1200", currency="BRL", tags=["vip"])
    company("Acme Labs", parent=acme.pk)
    cast.contact("Rui Amaro", company=acme.pk, job_title="Buyer")
    cast.deal("Sensors", company=acme.pk, amount=500, currency="BRL")
    cast.deal("Hidden", owner=cast.charlie(), company=acme.pk)
    html = client(cast.bob()).get(at("company", acme.pk)).content.decode()
    for text in (
        "Acme",
        "Food",
        "Itu",
        "R$\xa01,200",
        "vip",
        "Acme Labs",
        "Rui Amaro",
        "Sensors",
        "changed by Alice Amaral",
    ):
        assert text in html, text
    assert 'href="https://acme.example"' in html
    assert "Hidden" not in html
    assert client(cast.bob()).get(at("company", 99999)).status_code == 404


def test_a_fact_is_edited_on_the_version_it_was_shown_with():
    acme = company(sector="Food")
    bob = client(cast.bob())
    form = bob.get(at("company", acme.pk), {"edit": "sector"}).content.decode()
    posted = {"fact": "sector", "sector": "Wine", "version": hidden(form, "version"), "key": hidden(form, "key")}
    response = bob.post(at("company_edit", acme.pk), posted)
    assert response.status_code == 302
    acme.refresh_from_db()
    assert (acme.sector, acme.version, acme.author.name) == ("Wine", 2, "Bob Borges")
    assert bob.post(at("company_edit", acme.pk), posted).status_code == 302  # a double click
    acme.refresh_from_db()
    assert acme.version == 2


def test_without_a_version_nothing_is_written():
    acme = company(sector="Food")
    assert client(cast.bob()).post(at("company_edit", acme.pk), {"fact": "sector", "sector": "Wine"}).status_code == 428
    acme.refresh_from_db()
    assert acme.sector == "Food"


def test_two_people_who_edit_different_facts_both_keep_their_change():
    acme = company(sector="Food", location="Itu")
    bob, alice = client(cast.bob()), client(cast.alice())
    bob.post(at("company_edit", acme.pk), {"fact": "sector", "sector": "Wine", "version": 1})
    alice.post(at("company_edit", acme.pk), {"fact": "location", "location": "Salto", "version": 1})
    acme.refresh_from_db()
    assert (acme.sector, acme.location, acme.version) == ("Wine", "Salto", 3)


def test_two_people_who_edit_the_same_fact_come_to_a_choice_and_lose_nothing():
    acme = company(sector="Food")
    client(cast.bob()).post(at("company_edit", acme.pk), {"fact": "sector", "sector": "Wine", "version": 1})
    alice = client(cast.alice())
    response = alice.post(at("company_edit", acme.pk), {"fact": "sector", "sector": "Cheese", "version": 1})
    assert response.status_code == 409
    html = response.content.decode()
    for text in ("Food", "Wine", "Cheese", "Bob"):
        assert text in html
    acme.refresh_from_db()
    assert acme.sector == "Wine"
    record = Conflict.objects.get(closed_at=None)
    kept = alice.get(at("company", acme.pk), {"edit": "all", "typed": record.pk}).content.decode()
    assert 'value="Cheese"' in kept
    settled = alice.post(at("settle"), {
        "record": record.pk, "next": at("company", acme.pk), "pick-sector": "mine",
        "version": hidden(html, "version"), "key": hidden(html, "key"),
    })  # fmt: skip
    assert settled.status_code == 302
    acme.refresh_from_db()
    assert (acme.sector, acme.version) == ("Cheese", 3)


def test_a_fault_comes_back_beside_its_field_with_what_was_typed_and_the_first_version():
    acme = company()
    cast.propose("company.edit", acme, by=cast.bob(), note="meanwhile")
    response = client(cast.alice()).post(
        at("company_edit", acme.pk), {"fact": "employees", "employees": "many", "version": 1}
    )
    assert response.status_code == 422
    html = response.content.decode()
    assert 'value="many"' in html
    assert "is not a whole number" in html
    assert hidden(html, "version", within="fact-employees") == "1"


def test_the_whole_form_writes_only_what_differs():
    acme = company(sector="Food", location="Itu", tags=["a"])
    alice = client(cast.alice())
    form = alice.get(at("company", acme.pk), {"edit": "all"}).content.decode()
    assert 'name="fact" value="all"' in form
    posted = {"fact": "all", "version": 1, "name": "Acme", "sector": "Food", "location": "Salto", "website": "",
              "owner": "", "parent": "", "employees": "", "founded": "", "revenue": "1,200.50", "currency": "",
              "tags": "a, b", "note": ""}  # fmt: skip
    assert alice.post(at("company_edit", acme.pk), posted).status_code == 302
    acme.refresh_from_db()
    assert (acme.location, acme.tags, str(acme.revenue), acme.currency) == ("Salto", ["a", "b"], "1200.50", "BRL")
    assert acme.version == 2


def test_with_htmx_a_fact_opens_alone_and_saving_renews_the_parts_around_it():
    acme = company(sector="Food")
    alice = client(cast.alice())
    row = alice.get(at("company", acme.pk), {"edit": "sector"}, headers=htmx()).content.decode()
    assert row.lstrip().startswith('<div class="editing" id="fact-sector"')
    closed = alice.get(at("company", acme.pk), {"fact": "sector"}, headers=htmx()).content.decode()
    assert "<form" not in closed
    saved = alice.post(
        at("company_edit", acme.pk), {"fact": "sector", "sector": "Wine", "version": 1}, headers=htmx()
    ).content.decode()
    assert "<html" not in saved
    for part in ("shown", "head", "fact-sector", "line", "deals", "people"):
        assert f'id="{part}"' in saved, part
    assert 'data-version="2"' in saved


def test_the_parts_say_what_somebody_else_changed_since_the_page_was_shown():
    acme = company(sector="Food")
    cast.propose("company.edit", acme, by=cast.bob(), sector="Wine")
    alice = client(cast.alice())
    html = alice.get(at("company_parts", acme.pk), {"since": 1, "editing": "sector"}, headers=htmx()).content.decode()
    assert "Bob Borges" in html
    assert "when you save, you choose" in html
    own = client(cast.bob()).get(at("company_parts", acme.pk), {"since": 1}, headers=htmx()).content.decode()
    assert "data-news" not in own


def test_the_story_tells_each_version_and_what_was_not_done_and_goes_on_below():
    acme = company(sector="Food")
    for number in range(20):
        acme.refresh_from_db()
        cast.propose("company.edit", acme, by=cast.bob(), location=f"Street {number}")
    client(cast.alice()).post(at("company_edit", acme.pk), {"fact": "location", "location": "Elsewhere", "version": 1})
    alice = client(cast.alice())
    html = alice.get(at("company", acme.pk)).content.decode()
    assert "Street 19" in html
    assert "waits for a decision" in html
    assert "Elsewhere" in html
    assert "added this record" not in html
    older = alice.get(at("company", acme.pk), {"before": 7}).content.decode()
    assert "added this record" in older
    assert 'data-version="21"' in older


def test_the_page_costs_a_fixed_number_of_queries():
    acme = company()
    for number in range(15):
        cast.contact(
            f"Person {number}", company=acme.pk, addresses=[{"kind": "email", "value": f"p{number}@x.example"}]
        )
        cast.deal(f"Deal {number}", company=acme.pk)
        acme.refresh_from_db()
        cast.propose("company.edit", acme, by=cast.bob(), owner=[cast.alice(), cast.bob()][number % 2].pk)
    alice = client(cast.alice())
    alice.get(at("company", acme.pk))
    with CaptureQueriesContext(connection) as queries:
        assert alice.get(at("company", acme.pk)).status_code == 200
    assert len(queries) <= 15, [query["sql"][:120] for query in queries]


def test_a_new_company_is_added_once_however_often_the_form_is_sent():
    alice = client(cast.alice())
    form = alice.get(at("company_new")).content.decode()
    posted = {"key": hidden(form, "key"), "name": "Padaria São João", "sector": "Food", "owner": cast.alice().pk}
    first, second = alice.post(at("company_new"), posted), alice.post(at("company_new"), posted)
    made = Company.objects.get()
    assert first["Location"] == second["Location"] == at("company", made.pk)
    assert (made.name, made.sector, made.owner, made.version) == ("Padaria São João", "Food", cast.alice(), 1)


def test_a_name_that_is_taken_leads_to_the_company_that_has_it_and_faults_keep_what_was_typed():
    acme = company("Acme")
    alice = client(cast.alice())
    taken = alice.post(at("company_new"), {"name": "ACME!", "sector": "Food"})
    assert taken.status_code == 422
    assert f'href="{at("company", acme.pk)}"' in taken.content.decode()
    assert 'value="Food"' in taken.content.decode()
    wrong = alice.post(at("company_new"), {"name": "New", "founded": "yesterday"})
    assert wrong.status_code == 422
    assert 'value="yesterday"' in wrong.content.decode()
    assert alice.post(at("company_new"), {"name": ""}).status_code == 422
    assert Company.objects.count() == 1


def test_html_in_a_company_is_text_and_a_website_never_runs():
    acme = company("<script>alert(1)</script>", website="javascript:alert(1)", note="<b>x</b>", tags=["<i>"])
    html = client(cast.alice()).get(at("company", acme.pk)).content.decode()
    for piece in ("<script>alert", "<b>x", "<i>", 'href="javascript'):
        assert piece not in html


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("acme.example", "https://acme.example"),
        ("http://acme.example/x", "http://acme.example/x"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//evil.example", ""),
        ("acme", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_become_links(text, address):
    assert web_address(text) == address


@pytest.mark.parametrize(
    "params", [{"founded": 999}, {"founded": 10_000}, {"employees": 3_000_000_000}, {"currency": "XX"}]
)
def test_a_number_that_no_column_can_hold_is_an_error_of_its_field(params):
    with pytest.raises(BadParams) as error:
        cast.propose("company.create", by=cast.alice(), name="Acme", **params)
    assert set(error.value.errors) == set(params)
    assert not Company.objects.exists()


def test_a_currency_can_be_taken_away_again():
    acme = company(revenue="5", currency="BRL")
    assert cast.propose("company.edit", acme, by=cast.alice(), revenue=None, currency=None).written
    acme.refresh_from_db()
    assert (acme.revenue, acme.currency) == (None, "")
