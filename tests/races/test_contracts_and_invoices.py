"""contract_cancelled_then_approved, paid_then_collected, and two tellers of one payment: real threads, one row."""

from decimal import Decimal
from typing import Any

import pytest

from conflicts import actors, gate
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from crm.actions import payments
from crm.models import Contract, ContractDecision, Document, Installment, Invoice, Payment
from tests import cast, papers
from tests.conflicts.wishes import wish
from tests.races.threads import results, together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.parametrize("attempt", range(3))]

BANK = actors.integration("bank", "The bank")
POST = actors.integration("post", "The post office")


def approve(contract: Contract) -> Outcome:
    said = {"document": contract.document, "fingerprint": contract.fingerprint}
    return gate.commit(wish("contract.approve", contract, by=cast.manager(), **said))


def test_approved_and_cancelled_at_the_same_moment_one_stands_and_the_other_asks(attempt: int) -> None:
    contract, alice = papers.offered(), cast.alice()
    cast.manager()

    outcomes = together(
        lambda: approve(contract),
        lambda: gate.commit(wish("contract.cancel", contract, by=alice, reason="No money")),
    )

    assert results(outcomes) == ["applied", "conflict"]
    asked = next(outcome for outcome in outcomes if outcome.result is Result.CONFLICT)
    found = papers.again(contract)
    winner = "Manuela Moraes" if found.state == "approved" else "Alice Amaral"
    assert found.state in ("approved", "cancelled")
    assert found.version == contract.version + 1
    record = Conflict.objects.waiting().get()
    assert record.pk == asked.record
    assert winner in str(record.told)
    assert ContractDecision.objects.filter(verdict="approved").count() == (found.state == "approved")


def test_approved_while_a_line_is_changed_the_yes_is_never_to_what_was_not_shown(attempt: int) -> None:
    contract, alice, other = papers.offered(), cast.alice(), papers.product("PT-2000").pk
    cast.manager()

    yes, line = together(
        lambda: approve(contract),
        lambda: gate.commit(wish("contract.add_line", contract, by=alice, product=other, unit_price="50")),
    )

    found = papers.again(contract)
    assert yes.written != line.written  # whoever came second is asked
    for said in ContractDecision.objects.filter(verdict="approved"):
        assert Document.objects.get(contract=contract, number=said.number).fingerprint == said.fingerprint
    if yes.written:
        assert (found.state, found.approved, str(found.amount)) == ("approved", 1, "200.00")
    else:
        assert (found.state, found.document, str(found.amount)) == ("offered", 2, "250.00")
    assert Conflict.objects.waiting().count() == 1


def test_two_lines_at_the_same_moment_make_two_documents_in_order(attempt: int) -> None:
    contract, alice, bob = papers.offered(), cast.alice(), cast.bob()
    other = papers.product("PT-2000").pk

    outcomes = together(
        lambda: gate.commit(wish("contract.add_line", contract, by=alice, product=other, unit_price="50")),
        lambda: gate.commit(wish("contract.add_line", contract, by=bob, product=other, unit_price="70")),
    )

    assert results(outcomes) == ["applied", "rebased"]
    kept = list(Document.objects.filter(contract=contract).order_by("number"))
    assert [one.number for one in kept] == [1, 2, 3]
    assert kept[-1].content["total"] == "320.00"
    assert kept[-1].fingerprint == papers.again(contract).fingerprint


def pay(invoice: Invoice, *, key: str = "tx-1", by: Any = BANK) -> Outcome:
    return payments.record(invoice, provider="bank", payment=key, amount=Decimal(600), by=by)


def test_one_payment_told_twice_at_the_same_moment_has_one_effect_and_one_answer(attempt: int) -> None:
    invoice = papers.invoice()

    first, second = together(lambda: pay(invoice), lambda: pay(invoice, by=POST))

    assert results([first, second]) == ["applied", "duplicate"]
    assert first.settled.created == second.settled.created
    assert Payment.objects.count() == 1
    assert papers.again(invoice).version == invoice.version + 1


def test_one_payment_typed_in_two_spellings_at_the_same_moment_is_counted_once(attempt: int) -> None:
    invoice, alice, bob = papers.invoice("9200", "9200"), cast.alice(), cast.bob()
    spellings = {alice: ("Banco do Vale", "X-1"), bob: ("banco  do vale", "\uff58-1 ")}  # a full-width x

    def told(by: Any) -> Outcome:
        provider, number = spellings[by]
        said = {"provider": provider, "payment": number, "amount": "9200"}
        return gate.commit(wish("invoice.record_payment", invoice, by=by, **said))

    outcomes = together(lambda: told(alice), lambda: told(bob))

    assert results(outcomes) == ["applied", "superseded"]
    assert sorted(Installment.objects.values_list("state", flat=True)) == ["open", "paid"]
    assert Payment.objects.get().provider_key in ("X-1", "\uff58-1"), "what was typed is kept"


def test_one_payment_typed_for_two_invoices_at_the_same_moment_is_counted_once(attempt: int) -> None:
    one, other, alice, bob = papers.invoice("600"), papers.invoice("600", number="2031-002"), cast.alice(), cast.bob()

    def told(invoice: Invoice, by: Any, number: str) -> Outcome:
        return gate.commit(
            wish("invoice.record_payment", invoice, by=by, provider="Bank", payment=number, amount="600")
        )

    outcomes = together(lambda: told(one, alice, "X-1"), lambda: told(other, bob, "x-1"))

    assert results(outcomes) == ["applied", "refused"]
    assert Payment.objects.count() == 1


def test_two_payments_for_one_installment_settle_it_once_and_the_other_waits(attempt: int) -> None:
    invoice = papers.invoice("600", "400")

    outcomes = together(lambda: pay(invoice, key="tx-1"), lambda: pay(invoice, key="tx-2"))

    assert all(outcome.written for outcome in outcomes)  # the money is there, both times
    assert sorted(Payment.objects.values_list("state", "doubt")) == [("counted", ""), ("in_review", "settled")]
    assert papers.part(invoice).state == "paid"
    assert papers.adds_up(invoice)


def test_paid_while_collection_is_started_nothing_paid_is_collected(attempt: int) -> None:
    invoice = papers.invoice()
    one = papers.part(invoice).pk

    paid, started = together(
        lambda: pay(invoice),
        lambda: gate.commit(wish("invoice.start_collection", invoice, by=cast.AGENT, installment=one)),
    )

    assert paid.written
    assert Installment.objects.get(pk=one).state == "paid"
    if not started.written:
        assert started.result is Result.SUPERSEDED
        record = Conflict.objects.get(pk=started.record)
        assert record.closed_at is not None
        assert "was paid" in str(record.told)


def test_cancelled_while_it_is_paid_the_money_is_never_lost(attempt: int) -> None:
    invoice, alice = papers.invoice("600"), cast.alice()

    paid, cancelled = together(
        lambda: pay(invoice),
        lambda: gate.commit(wish("invoice.cancel", invoice, by=alice, reason="Sent twice")),
    )

    found, payment = papers.again(invoice), Payment.objects.get()
    assert paid.written
    if cancelled.written:
        assert (found.state, payment.state, payment.doubt) == ("cancelled", "in_review", "cancelled")
    else:
        assert cancelled.result is Result.CONFLICT
        assert (found.state, payment.state) == ("paid", "counted")
