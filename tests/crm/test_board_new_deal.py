"""A new deal: one form, one deal, and each fault beside its field."""

import pytest
from django.test import Client

from crm.models import Company, Opportunity
from tests import cast
from tests.crm.boards import company, text, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_sees(client: Client) -> Client:
    client.force_login(cast.alice())
    return client


def filled(**more) -> dict[str, object]:
    cast.pipeline()
    return {
        "name": "26 ice boxes",
        "company": "",
        "product": "",
        "stage": cast.stage("New").pk,
        "amount": "31,200",
        "currency": "BRL",
        "owner": cast.alice().pk,
        "expected_close": "2031-06-10",
        "key": "one-form",
        **more,
    }


def test_a_filled_form_makes_a_deal_and_opens_it(alice_sees: Client) -> None:
    company("Saltwick Fish Market")

    response = alice_sees.post("/deals/new/", filled(company="saltwick fish market", stage=cast.stage("Proposal").pk))

    deal = Opportunity.objects.get()
    assert response.status_code == 302
    assert response.headers["Location"].endswith(f"/{deal.pk}/")
    assert (deal.name, str(deal.company), str(deal.amount), deal.currency) == (
        "26 ice boxes",
        "Saltwick Fish Market",
        "31200.00",
        "BRL",
    )
    assert (deal.stage.name, deal.owner, deal.team, str(deal.expected_close)) == (
        "Proposal",
        cast.alice(),
        cast.team(),
        "2031-06-10",
    )


def test_sent_twice_it_is_one_deal(alice_sees: Client) -> None:
    first = alice_sees.post("/deals/new/", filled())
    second = alice_sees.post("/deals/new/", filled())

    assert first.headers["Location"] == second.headers["Location"]
    assert Opportunity.objects.count() == 1


def test_two_forms_make_two_deals(alice_sees: Client) -> None:
    alice_sees.post("/deals/new/", filled())
    alice_sees.post("/deals/new/", filled(key="another-form"))

    assert Opportunity.objects.count() == 2


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("name", "   "),
        ("name", "x" * 201),
        ("amount", "57.3OO"),
        ("amount", "-5"),
        ("amount", "1.234"),
        ("amount", "9" * 30),
        ("currency", "ZZZ"),
        ("expected_close", "2031-02-30"),
        ("expected_close", "tomorrow"),
        ("owner", "999999"),
        ("stage", "999999"),
        ("stage", ""),
        ("product", "999999"),
        ("company", "Nobody & Sons"),
    ],
)
def test_what_does_not_fit_is_said_beside_its_field_and_nothing_typed_is_lost(
    alice_sees: Client, field: str, typed: str
) -> None:
    response = alice_sees.post("/deals/new/", filled(**{field: typed}))

    assert response.status_code == 422
    assert not Opportunity.objects.exists()
    page = text(response)
    assert f'<span class="fault" id="f-{field}-told">' in page
    assert page.count('aria-invalid="true"') == 1
    if field not in ("owner", "stage", "product") and typed.strip():
        assert f'value="{typed.replace("&", "&amp;")}"' in page
    if field != "amount":
        assert 'value="31,200"' in page


def test_a_deal_cannot_begin_as_won(alice_sees: Client) -> None:
    response = alice_sees.post("/deals/new/", filled(stage=0) | {"stage": cast.stage("Won").pk})

    assert response.status_code == 422
    assert not Opportunity.objects.exists()


def test_a_deal_cannot_be_given_to_another_team(alice_sees: Client) -> None:
    response = alice_sees.post("/deals/new/", filled(owner=cast.charlie().pk))

    assert response.status_code == 422
    assert not Opportunity.objects.exists()


def test_a_new_company_is_made_only_when_the_person_says_so(alice_sees: Client) -> None:
    asked = alice_sees.post("/deals/new/", filled(company="Nobody & Sons"))
    assert "Add “Nobody & Sons” as a new company" in words(text(asked))
    assert not Company.objects.exists()

    alice_sees.post("/deals/new/", filled(company="Nobody & Sons", new_company="yes"))

    assert str(Opportunity.objects.get().company) == "Nobody & Sons"


def test_with_another_fault_the_new_company_waits(alice_sees: Client) -> None:
    response = alice_sees.post("/deals/new/", filled(company="Nobody & Sons", new_company="yes", amount="x"))

    assert response.status_code == 422
    assert not Company.objects.exists()
    assert 'name="new_company" value="yes" checked' in text(response)


def test_sent_twice_with_a_new_company_it_is_one_of_each(alice_sees: Client) -> None:
    for _ in range(2):
        assert alice_sees.post("/deals/new/", filled(company="Nobody & Sons", new_company="yes")).status_code == 302

    assert Company.objects.count() == Opportunity.objects.count() == 1


def test_the_form_starts_with_what_is_most_likely(alice_sees: Client) -> None:
    cast.pipeline()

    page = alice_sees.get("/deals/new/").context["fields"]

    assert page["owner"].value == str(cast.alice().pk)
    assert page["currency"].value == "BRL"
    assert page["stage"].value == str(cast.stage("New").pk)


def test_without_a_pipeline_the_form_says_so_instead_of_failing(alice_sees: Client) -> None:
    assert alice_sees.get("/deals/new/").status_code == 200


def test_companies_are_offered_while_one_types(alice_sees: Client) -> None:
    company("Saltwick Fish Market")
    company("Hatchmoor Farms")

    page = text(alice_sees.get("/deals/new/companies/", {"company": "fish m"}))

    assert "Saltwick Fish Market" in page
    assert "Hatchmoor" not in page
