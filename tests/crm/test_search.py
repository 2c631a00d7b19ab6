"""Search finds records of every kind by name: those the person may see, in few queries, however it is spelt."""

import pytest

from crm.models import Company
from tests import cast, governed, papers
from tests.crm.deal_pages import HTMX, signed_in, text, words

pytestmark = pytest.mark.django_db


def company(name: str) -> Company:
    outcome = cast.propose("company.create", by=cast.alice(), name=name)
    return Company.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def test_it_finds_each_kind_without_accents_and_case() -> None:
    cast.contact("Tomás Ávila")
    company("Ávila Logistics")
    cast.deal("Avila trucks")
    page = signed_in(cast.bob()).get("/search/?q=AVILA")
    read = words(page)
    assert "Deals Avila trucks" in read
    assert "Companies Ávila Logistics" in read
    assert "Contacts Tomás Ávila" in read


def test_a_deal_is_found_by_the_name_of_its_company() -> None:
    cast.deal("Sensors", company=company("Quillmere Hotels").pk)
    assert "Sensors Quillmere Hotels" in words(signed_in(cast.alice()).get("/search/?q=quill"))


def test_contracts_invoices_and_tickets_are_found_by_whoever_may_see_them_and_lead_to_their_pages() -> None:
    contract = papers.contract(name="Sensor lease")
    invoice = papers.invoice(number="Sensor 2031-7")
    ticket = governed.ticket("The sensor is silent")
    page = signed_in(cast.bob()).get("/search/?q=SENSOR")
    read = words(page)
    assert "Contracts Sensor lease Cold Chain Ltd, draft" in read
    assert "Invoices Sensor 2031-7 Cold Chain Ltd, open" in read
    assert "Tickets The sensor is silent Cold Chain Ltd, open" in read
    for address in (f"/contracts/{contract.pk}/", f"/invoices/{invoice.pk}/", f"/tickets/{ticket.pk}/"):
        assert f'href="{address}"' in text(page)
    assert "Nothing has “sensor” in its name." in words(signed_in(cast.charlie()).get("/search/?q=sensor"))


def test_deals_of_another_team_are_not_found() -> None:
    cast.deal("Secret sensors")
    read = words(signed_in(cast.charlie()).get("/search/?q=secret"))
    assert "Secret sensors" not in read
    assert "Nothing has “secret” in its name." in read


def test_what_begins_with_the_words_comes_first_and_open_before_closed() -> None:
    cast.deal("Big sensors")
    cast.deal("Sensors lost", stage=cast.stage("Lost").pk)
    cast.deal("Sensors open")
    page = signed_in(cast.alice()).get("/search/?q=sens")
    assert [deal.name for deal in page.context["found"]["deals"]] == ["Sensors open", "Sensors lost", "Big sensors"]


def test_the_palette_gets_only_the_list() -> None:
    cast.deal("Sensors")
    page = signed_in(cast.alice()).get("/search/?q=sensors", headers=HTMX)
    assert "<html" not in text(page)
    assert "Sensors" in words(page)


@pytest.mark.parametrize("q", ["", "x", "%", "'; drop table crm_company; --", "%_\\", "😀😀", "a" * 5000])
def test_any_text_is_only_text(q: str) -> None:
    cast.deal("Sensors")
    page = signed_in(cast.alice()).get("/search/", {"q": q})
    assert page.status_code == 200
    assert "Deals" not in words(page)


def test_it_takes_eight_queries(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(8):
        cast.deal(f"Sensors {number}", company=company(f"Sensors firm {number}").pk)
    client = signed_in(cast.alice())
    with django_assert_max_num_queries(8):
        client.get("/search/?q=sensors", headers=HTMX)
