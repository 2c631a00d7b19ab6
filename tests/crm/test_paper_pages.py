"""The pages of contracts and invoices: what a person sees, does, and is told."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conflicts.models import Conflict
from crm.models import Contract, Document, Invoice, Payment
from crm.models.invoice import Doubt
from crm.views.invoices import months_later
from tests import cast, papers

pytestmark = pytest.mark.django_db

MOST_QUERIES = 15


def client(user: Any = None) -> Client:
    found = Client()
    found.force_login(user or cast.alice())
    return found


def page(name: str, *args: Any, by: Any = None, **query: str) -> str:
    answer = client(by).get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return answer.content.decode()


def part(name: str, **query: str) -> str:
    """As htmx asks for it: a piece of the page."""
    text = client().get(reverse(name), query, HTTP_HX_REQUEST="true").content.decode()
    assert "<html" not in text
    return text


def do(name: str, subject: Any, verb: str, *, by: Any = None, htmx: bool = False, **said: Any) -> Any:
    address = reverse(name, args=[subject.pk, verb])
    headers = {"HTTP_HX_REQUEST": "true"} if htmx else {}
    return client(by).post(address, {"version": subject.version, **said}, **headers)


# --- lists -----------------------------------------------------------------------------------------------------------


def test_a_list_is_narrowed_by_state_and_by_words() -> None:
    papers.contract(name="Draft of sensors")
    papers.approved(name="Approved sensors")
    assert "Draft of sensors" in page("contracts")
    narrowed = page("contracts", state="approved")
    assert "Approved sensors" in narrowed
    assert "Draft of sensors" not in narrowed
    assert "Draft of sensors" in page("contracts", q="coldchain")
    assert "Nothing fits" in page("contracts", q="zebra")
    assert "Approved sensors" in page("contracts", state="no such state")


def test_overdue_invoices_and_money_that_waits_are_one_click_away() -> None:
    papers.invoice("600", number="2031-001")
    late = papers.invoice("600", number="2031-002", installments=[{"due_on": "2131-01-01", "amount": "600"}])
    assert "2031-001" in page("invoices", state="overdue")
    assert "2031-002" not in page("invoices", state="overdue")
    do("invoice_act", late, "pay", provider="bank", payment="tx-1", amount="7")
    assert "2031-002" in page("invoices", state="review")


def test_charlie_sees_nothing_of_another_team() -> None:
    contract, invoice = papers.offered(), papers.invoice()
    assert contract.name not in page("contracts", by=cast.charlie())
    assert invoice.name not in page("invoices", by=cast.charlie())
    for name, subject in (("contract", contract), ("invoice", invoice)):
        assert client(cast.charlie()).get(reverse(name, args=[subject.pk])).status_code == 404
    document = reverse("contract_document", args=[contract.pk, 1])
    assert client(cast.charlie()).get(document).status_code == 404
    stream = client(cast.charlie()).get(reverse("live_check"), {"subject": f"crm.contract:{contract.pk}"})
    assert stream.status_code == 404


@pytest.mark.parametrize("what", ["contract", "invoice"])
def test_a_page_costs_few_queries_however_much_is_on_it(what: str) -> None:
    if what == "contract":
        subject: Any = papers.approved()
        for terms in range(6):
            cast.propose("contract.edit", papers.again(subject), by=cast.alice(), text=f"Terms {terms}")
    else:
        subject = papers.invoice(*["100"] * 12)
        for number in range(6):
            do("invoice_act", papers.again(subject), "pay", provider="bank", payment=f"tx-{number}", amount="100")
    alice = client()
    for address in (reverse(what, args=[subject.pk]), reverse(f"{what}s")):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert alice.get(address).status_code == 200
        own = [q for q in queries.captured_queries if "SAVEPOINT" not in q["sql"]]
        assert len(own) <= MOST_QUERIES + (5 if address.count("/") > 2 else 0), len(own)


def test_company_and_deal_show_their_papers() -> None:
    deal = cast.deal(company=papers.company().pk)
    papers.contract(name="For this deal", opportunity=deal.pk)
    papers.invoice(number="2031-777", opportunity=deal.pk)
    for about in ({"deal": str(deal.pk)}, {"company": str(papers.company().pk)}):
        [(name, pk)] = about.items()
        assert f"{reverse('papers_of')}?{name}={pk}" in page(name, pk)  # a link, and for htmx a part that comes later
        for text in (page("papers_of", **about), part("papers_of", **about)):
            assert "For this deal" in text
            assert "2031-777" in text
    assert client(cast.charlie()).get(reverse("papers_of"), {"deal": deal.pk}).status_code == 404
    assert client().get(reverse("papers_of")).status_code == 404


# --- a contract ------------------------------------------------------------------------------------------------------


def test_a_contract_is_made_filled_offered_approved_and_signed_on_its_pages() -> None:
    company, product = papers.company(), papers.product()
    made = client().post(
        reverse("contract_new"), {"name": "Two years", "company": company.name, "currency": "BRL", "key": "k"}
    )
    contract = Contract.objects.get()
    assert made.headers["Location"] == reverse("contract", args=[contract.pk])
    assert (contract.team, contract.state) == (None, "draft")

    for verb, said in (
        ("add-line", {"product": product.pk, "quantity": "2", "unit_price": "1,300"}),
        ("offer", {}),
        ("approve", {}),
        ("sign", {}),
    ):
        contract = papers.again(contract)
        shown = {"document": contract.document, "fingerprint": contract.fingerprint}
        answer = do("contract_act", contract, verb, **said, **(shown if verb != "add-line" else {}))
        assert answer.status_code == 302, answer.content.decode()
    assert papers.again(contract).state == "signed"
    assert str(papers.again(contract).amount) == "2600.00"


def test_what_may_not_be_approved_says_so_before_the_click_and_names_who_can() -> None:
    cast.manager()
    contract = papers.offered(discount="15")
    text = page("contract", contract.pk)
    button = re.search(r"<button[^>]*>(?:(?!</button>).)*Approve version 1", text, re.DOTALL)
    assert button is not None
    assert "disabled" in button.group()
    assert "Manuela Moraes" in text
    assert (
        "disabled"
        not in (re.search(r"<button[^>]*data-key=\"a\"", page("contract", contract.pk, by=cast.manager())) or [""])[0]
    )
    forced = do("contract_act", contract, "approve", document=1, fingerprint=contract.fingerprint)
    assert forced.status_code == 422
    assert "Manuela Moraes" in forced.content.decode()


def test_a_yes_from_a_page_that_is_old_comes_back_calmly_with_what_happened() -> None:
    shown = papers.offered()
    cast.propose("contract.cancel", papers.again(shown), by=cast.bob(), reason="No money")
    answer = do("contract_act", shown, "approve", document=shown.document, fingerprint=shown.fingerprint)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "Bob Borges cancelled this contract" in text
    assert "Back to it" in text
    assert "Do it now" not in text  # a yes was to what was shown
    assert shown.fingerprint not in text
    assert Conflict.objects.waiting().count() == 1


def test_cancelling_what_was_approved_meanwhile_is_asked_once_and_can_then_be_done() -> None:
    shown = papers.offered()
    papers.say("approve", papers.again(shown), by=cast.bob())
    answer = do("contract_act", shown, "cancel", reason="No money")
    assert answer.status_code == 409
    assert "Bob Borges has approved this contract" in answer.content.decode()
    assert "Do it now" in answer.content.decode()
    choice = {"record": Conflict.objects.waiting().get().pk, "version": papers.again(shown).version, "next": "/"}
    assert client().post(reverse("settle"), choice).status_code == 302
    assert papers.again(shown).state == "cancelled"


def test_the_button_for_terms_of_its_own_is_for_those_with_legal_authority() -> None:
    administrator, contract = cast.administrator(), papers.offered(text="The customer may leave at any time.")
    button = r"<button[^>]*data-key=\"a\""
    shown = page("contract", contract.pk, by=cast.manager())
    assert "disabled" in (re.search(button, shown) or [""])[0]
    assert "Ada Alves can decide it" in shown
    assert "disabled" not in (re.search(button, page("contract", contract.pk, by=administrator)) or ["disabled"])[0]


def test_every_document_is_read_as_it_was() -> None:
    contract = papers.approved(text="First terms")
    cast.propose("contract.edit", contract, by=cast.alice(), text="Second terms")
    first = page("contract_document", contract.pk, 1)
    assert "First terms" in first
    assert "kept as it was" in first
    assert "Approved" in first
    assert "Approval void" in first
    assert Document.objects.get(contract=contract, number=1).fingerprint in first
    assert "Second terms" in page("contract_document", contract.pk, 2)
    assert client().get(reverse("contract_document", args=[contract.pk, 3])).status_code == 404


def test_the_story_tells_lines_documents_and_decisions() -> None:
    contract = papers.approved()
    cast.propose("contract.add_line", contract, by=cast.bob(), product=papers.product("PT-2000").pk, unit_price="50")
    text = page("contract", contract.pk)
    for told in ("approved version 1", "made the approval of version 1 void", "version 2", "PT-2000, 1 × 50"):
        assert told in text


def test_a_form_with_a_fault_comes_back_with_what_was_typed_on_its_first_version() -> None:
    contract = papers.contract()
    cast.propose("contract.edit", contract, by=cast.bob(), note="Called")
    answer = do("contract_act", contract, "add-line", product=papers.product().pk, quantity="many", unit_price="7")
    text = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="many"' in text
    assert f'name="version" value="{contract.version}"' in text
    assert Contract.objects.get().lines.count() == 1


def test_for_htmx_a_fault_is_a_note_and_the_page_stays() -> None:
    contract = papers.contract()
    answer = do("contract_act", contract, "add-line", htmx=True, quantity="1", unit_price="7")
    assert answer.status_code == 422
    assert "Choose a product" in answer.content.decode()
    assert "<html" not in answer.content.decode()


@pytest.mark.parametrize("verb", ["no-such", "destroy"])
def test_a_verb_that_is_none_is_nowhere(verb: str) -> None:
    assert do("contract_act", papers.contract(), verb).status_code == 404
    assert do("invoice_act", papers.invoice(), verb).status_code == 404


# --- an invoice ------------------------------------------------------------------------------------------------------


def test_an_invoice_is_divided_into_months_and_the_cents_are_not_lost() -> None:
    said = {"name": "2031-001", "company": papers.company().name, "amount": "100", "currency": "BRL"}
    more = {"issued_on": "2031-01-01", "count": "3", "first_due": "2031-01-31", "key": "k"}
    assert client().post(reverse("invoice_new"), {**said, **more}).status_code == 302
    rows = list(Invoice.objects.get().installments.values_list("amount", "due_on"))
    assert [str(amount) for amount, _ in rows] == ["33.33", "33.33", "33.34"]
    assert [str(day) for _, day in rows] == ["2031-01-31", "2031-02-28", "2031-03-31"]


def test_months_later_keeps_to_the_month() -> None:
    import datetime as dt

    assert months_later(dt.date(2031, 12, 31), 2) == dt.date(2032, 2, 29)


@pytest.mark.parametrize(
    ("field", "value"), [("count", "0"), ("count", "x"), ("amount", ""), ("first_due", "2031-02-30")]
)
def test_what_does_not_fit_comes_back_beside_its_field(field: str, value: str) -> None:
    said = {"name": "2031-001", "company": papers.company().name, "amount": "100", "currency": "BRL"}
    more = {"issued_on": "2031-01-01", "count": "3", "first_due": "2031-01-31", field: value}
    answer = client().post(reverse("invoice_new"), {**said, **more})
    assert answer.status_code == 422
    assert "2031-001" in answer.content.decode()
    assert not Invoice.objects.exists()


def test_a_payment_that_a_colleague_has_recorded_is_told_and_not_counted_twice() -> None:
    shown = papers.invoice()
    said = {"provider": "bank", "payment": "tx-1", "amount": "600"}
    assert do("invoice_act", shown, "pay", by=cast.bob(), **said).status_code == 302
    answer = do("invoice_act", shown, "pay", **said)
    assert answer.status_code == 302
    assert Payment.objects.count() == 1


def test_collection_that_comes_too_late_is_told_on_the_page() -> None:
    shown = papers.invoice()
    do("invoice_act", shown, "pay", by=cast.bob(), provider="bank", payment="tx-1", amount="600")
    alice = client()
    said = {"version": shown.version, "installment": papers.part(shown).pk}
    answer = alice.post(reverse("invoice_act", args=[shown.pk, "collect"]), said, follow=True)
    assert "Installment 1 was paid" in answer.content.decode()
    assert papers.part(shown).state == "paid"


def test_only_a_manager_is_offered_what_takes_authority_and_the_url_by_hand_is_refused() -> None:
    invoice = papers.invoice()
    do("invoice_act", invoice, "pay", provider="bank", payment="tx-1", amount="600")
    invoice = papers.again(invoice)
    reopen = reverse("invoice_act", args=[invoice.pk, "reopen"])
    assert reopen not in page("invoice", invoice.pk)
    assert reopen in page("invoice", invoice.pk, by=cast.manager())
    said = {"installment": papers.part(invoice).pk, "reason": "The bank took it back"}
    by_hand = do("invoice_act", invoice, "reopen", **said)
    assert by_hand.status_code == 422
    assert "manager" in by_hand.content.decode()
    assert do("invoice_act", invoice, "reopen", by=cast.manager(), **said).status_code == 302
    assert papers.part(invoice).state == "open"


def test_money_that_fits_nowhere_stands_first_and_a_manager_settles_it() -> None:
    invoice = papers.invoice()
    do("invoice_act", invoice, "pay", provider="bank", payment="tx-1", amount="601")
    invoice = papers.again(invoice)
    assert "somebody has to look at it" in page("invoice", invoice.pk)
    assert str(Doubt.AMOUNT.label) in page("invoice", invoice.pk)
    said = {"payment": Payment.objects.get().pk, "decision": "count", "reason": "One too many"}
    said |= {"installment": papers.part(invoice).pk}
    assert do("invoice_act", invoice, "review", by=cast.manager(), **said).status_code == 302
    assert papers.part(invoice).state == "paid"
    assert "somebody has to look at it" not in page("invoice", invoice.pk)
