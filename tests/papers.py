"""Contracts and invoices for tests, built through the gate."""

import datetime as dt
from decimal import Decimal
from typing import Any

from conflicts.actors import Actor
from conflicts.outcomes import Outcome
from crm.models import Company, Contract, Installment, Invoice, Product, User
from tests import cast

DUE = dt.date(2020, 1, 31)
"""Long ago: collection may start, whatever the day."""


def company(name: str = "Cold Chain Ltd") -> Company:
    found = Company.objects.filter(name=name).first()
    if found is None:
        made = cast.propose("company.create", by=cast.alice(), name=name)
        found = Company.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]
    return found


def product(name: str = "PT-1000") -> Product:
    found = Product.objects.filter(name=name).first()
    if found is None:
        made = cast.propose("product.create", by=cast.manager(), name=name, currency="BRL")
        found = Product.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]
    return found


def contract(*, quantity: str = "2", price: str = "100", by: User | None = None, **params: Any) -> Contract:
    """A draft of Alice's with one line."""
    alice = cast.alice()
    line = {"product": product().pk, "quantity": quantity, "unit_price": price}
    said = {"name": "Sensors for two years", "owner": alice.pk, "company": company().pk, "lines": [line], **params}
    made = cast.propose("contract.create", by=by or alice, **said)
    assert made.written, made
    return Contract.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]


def offered(**params: Any) -> Contract:
    found = contract(**params)
    outcome = cast.propose("contract.offer", found, by=cast.alice(), fingerprint=found.fingerprint)
    assert outcome.written, outcome
    return again(found)


def approved(**params: Any) -> Contract:
    found = offered(**params)
    # Terms of its own are legal terms, and those are for an administrator.
    outcome = say("approve", found, by=cast.administrator() if found.text else None)
    assert outcome.written, outcome
    return again(found)


def say(verb: str, contract: Contract, *, by: User | Actor | None = None, **more: Any) -> Outcome:
    """A word on the document as it is in memory: what a page of that moment would send."""
    said = {"document": contract.document, "fingerprint": contract.fingerprint, **more}
    return cast.propose(f"contract.{verb}", contract, by=by or cast.manager(), **said)


def invoice(*parts: str, number: str = "2031-001", **params: Any) -> Invoice:
    """An invoice of Alice's; `parts` are the amounts of its installments."""
    amounts = parts or ("600", "400")
    said = {
        "name": number,
        "company": company().pk,
        "owner": cast.alice().pk,
        "amount": str(sum(Decimal(part) for part in amounts)),
        "installments": [{"due_on": DUE + dt.timedelta(days=30 * n), "amount": part} for n, part in enumerate(amounts)],
        **params,
    }
    made = cast.propose("invoice.create", by=cast.alice(), **said)
    assert made.written, made
    return Invoice.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]


def part(invoice: Invoice, number: int = 1) -> Installment:
    return Installment.objects.get(invoice=invoice, number=number)


def again[T: (Contract, Invoice)](subject: T) -> T:
    return type(subject).objects.get(pk=subject.pk)


def adds_up(invoice: Invoice) -> bool:
    rows = Installment.objects.filter(invoice=invoice, replaced=False)
    return sum(row.amount for row in rows) == again(invoice).amount
