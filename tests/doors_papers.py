"""The doors to contracts and invoices; `tests/doors.py` takes them into its table."""

from typing import Any

from crm.models import Contract, Installment, Invoice, Payment
from tests import cast, papers
from tests.doors import ADDS, Deed, Door, Values, World


def contract(w: World) -> Values:
    return {"pk": w.contract.pk}


def invoice(w: World) -> Values:
    return {"pk": w.invoice.pk}


def shown(w: World) -> Values:
    """The document on Alice's page."""
    return {"document": w.contract.document, "fingerprint": w.contract.fingerprint}


def in_state(state: str) -> Any:
    return lambda w: w.fresh("contract").state == state


def bob_approves(w: World) -> Any:
    found = w.fresh("contract")
    return w.before("contract.approve", "contract", document=found.document, fingerprint=found.fingerprint)


def bob_cancels(w: World) -> Any:
    return w.before("contract.cancel", "contract", reason="No money")


def line(w: World) -> int:
    return int(w.contract.lines.get().pk)


def bob_changes_the_line(w: World) -> Any:
    return w.before("contract.change_line", "contract", line=line(w), quantity="5", unit_price="1")


def bob_is_paid(w: World, key: str = "tx-1") -> Any:
    return w.before("invoice.record_payment", "invoice", provider="bank", payment=key, amount="600")


def part(w: World, number: int = 1) -> Installment:
    return papers.part(w.invoice, number)


def on_part(w: World) -> Values:
    return {"installment": part(w).pk}


def is_paid(w: World) -> bool:
    return part(w).state == "paid" and Payment.objects.filter(state="counted").count() == 1


def act(verb: str) -> Any:
    return lambda w: {"pk": w.contract.pk, "verb": verb}


def on_invoice(verb: str) -> Any:
    return lambda w: {"pk": w.invoice.pk, "verb": verb}


DOORS: dict[str, tuple[Door, ...]] = {
    "contract_edit": (
        Door(
            subject="contract",
            url=contract,
            sent=lambda w: {"fact": "text", "text": "Delivered in May"},
            done=lambda w: w.fresh("contract").document == 2,
            clash=lambda w: w.before("contract.edit", "contract", text="Delivered in June"),
            kept=lambda w: w.fresh("contract").text == "Delivered in June",
        ),
    ),
    "contract_act": (
        Door(
            subject="contract",
            url=act("approve"),
            sent=shown,
            done=in_state("approved"),
            clash=bob_cancels,
            kept=in_state("cancelled"),
        ),
        Door(  # a yes is to what was on the page
            subject="contract",
            url=act("approve"),
            sent=shown,
            done=in_state("approved"),
            clash=bob_changes_the_line,
            kept=lambda w: in_state("offered")(w) and w.fresh("contract").document == 2,
        ),
        Door(
            subject="contract",
            url=act("decline"),
            sent=lambda w: {**shown(w), "reason": "Too dear"},
            done=in_state("declined"),
            clash=bob_approves,
            kept=in_state("approved"),
        ),
        Door(
            subject="contract",
            url=act("cancel"),
            sent=lambda w: {"reason": "No money"},
            done=in_state("cancelled"),
            clash=bob_approves,
            kept=in_state("approved"),
        ),
        Door(
            subject="contract",
            url=act("add-line"),
            sent=lambda w: {"product": w.product.pk, "quantity": "1", "unit_price": "7"},
            done=lambda w: w.contract.lines.filter(unit_price="7").count() == 1,
            clash=lambda w: w.before("contract.add_line", "contract", product=w.product.pk, unit_price="9"),
            kept=lambda w: w.contract.lines.filter(unit_price="9").count() == 1,
            stale=ADDS,
        ),
        Door(
            subject="contract",
            url=act("change-line"),
            sent=lambda w: {"line": line(w), "quantity": "3", "unit_price": "7"},
            done=lambda w: str(w.contract.lines.get().quantity) == "3.00",
            clash=bob_changes_the_line,
            kept=lambda w: str(w.contract.lines.get().quantity) == "5.00",
        ),
        Door(
            subject="contract",
            url=act("remove-line"),
            sent=lambda w: {"line": line(w)},
            done=lambda w: not w.contract.lines.filter(removed=False).exists(),
            clash=bob_changes_the_line,
            kept=lambda w: w.contract.lines.filter(removed=False, quantity="5").count() == 1,
        ),
    ),
    "invoice_edit": (
        Door(
            subject="invoice",
            url=invoice,
            sent=lambda w: {"fact": "name", "name": "2031-017"},
            done=lambda w: w.fresh("invoice").name == "2031-017",
            clash=lambda w: w.before("invoice.edit", "invoice", name="2031-018"),
            kept=lambda w: w.fresh("invoice").name == "2031-018",
        ),
    ),
    "invoice_act": (
        Door(
            subject="invoice",
            url=on_invoice("pay"),
            sent=lambda w: {"provider": "bank", "payment": "tx-1", "amount": "600"},
            done=is_paid,
            clash=bob_is_paid,
            kept=is_paid,
            stale=ADDS,  # it is recorded; the page says by whom
        ),
        Door(
            subject="invoice",
            url=on_invoice("collect"),
            sent=on_part,
            done=lambda w: part(w).state == "in_collection",
            clash=bob_is_paid,
            kept=is_paid,
            stale=ADDS,  # paid is paid; the page says so
        ),
        Door(
            subject="invoice",
            url=on_invoice("dispute"),
            sent=lambda w: {**on_part(w), "reason": "Half was broken"},
            done=lambda w: part(w).state == "disputed",
            clash=bob_is_paid,
            kept=is_paid,
        ),
        Door(
            subject="invoice",
            url=on_invoice("move"),
            sent=lambda w: {**on_part(w), "due_on": "2031-02-01"},
            done=lambda w: str(part(w).due_on) == "2031-02-01",
            clash=lambda w: w.before("invoice.reschedule", "invoice", **on_part(w), due_on="2031-03-01"),
            kept=lambda w: str(part(w).due_on) == "2031-03-01",
        ),
        Door(
            subject="invoice",
            url=on_invoice("divide"),
            sent=lambda w: {"amount": "1000", "count": "4", "first_due": "2031-01-31"},
            done=lambda w: papers.adds_up(w.invoice) and w.invoice.installments.filter(replaced=False).count() == 4,
            clash=bob_is_paid,
            kept=is_paid,
        ),
        Door(
            subject="invoice",
            url=on_invoice("cancel"),
            sent=lambda w: {"reason": "Written twice"},
            done=lambda w: w.fresh("invoice").state == "cancelled",
            clash=bob_is_paid,
            kept=is_paid,
        ),
    ),
}

CREATES: dict[str, Any] = {
    "contract_new": (Contract, lambda w: {"name": "Sensors", "company": w.company.name, "currency": "BRL"}),
    "invoice_new": (
        Invoice,
        lambda w: {
            "name": "2031-099",
            "company": w.company.name,
            "amount": "100",
            "currency": "BRL",
            "issued_on": "2031-01-01",
            "count": "3",
            "first_due": "2031-01-31",
        },
    ),
}


def pay_too_much(w: World) -> Any:
    return w.before("invoice.record_payment", "invoice", provider="bank", payment="tx-0", amount="601")


DEEDS: dict[str, Deed] = {
    "contract.edit": Deed(
        subject="contract",
        params=lambda w: {"discount": "5"},
        clash=lambda w: w.before("contract.edit", "contract", discount="7"),
    ),
    "contract.add_line": Deed(
        subject="contract", params=lambda w: {"product": w.product.pk, "unit_price": "7"}, clash=bob_approves
    ),
    "contract.change_line": Deed(
        subject="contract",
        params=lambda w: {"line": line(w), "quantity": "3", "unit_price": "7"},
        clash=bob_changes_the_line,
    ),
    "contract.remove_line": Deed(subject="contract", params=lambda w: {"line": line(w)}, clash=bob_changes_the_line),
    "contract.offer": Deed(
        subject="draft",
        params=lambda w: {"fingerprint": w.draft.fingerprint},
        clash=lambda w: w.before("contract.add_line", "draft", product=w.product.pk, unit_price="7"),
    ),
    "contract.approve": Deed(subject="contract", params=shown, clash=bob_cancels),
    "contract.decline": Deed(subject="contract", params=lambda w: {**shown(w), "reason": "x"}, clash=bob_approves),
    "contract.sign": Deed(subject="contract", prepare=bob_approves, params=shown, clash=bob_cancels),
    "contract.cancel": Deed(subject="contract", params=lambda w: {"reason": "x"}, clash=bob_approves),
    "invoice.edit": Deed(
        subject="invoice",
        params=lambda w: {"name": "2031-017"},
        clash=lambda w: w.before("invoice.edit", "invoice", name="2031-018"),
    ),
    "invoice.reschedule": Deed(
        subject="invoice", params=lambda w: {**on_part(w), "due_on": "2031-02-01"}, clash=bob_is_paid
    ),
    "invoice.divide": Deed(
        subject="invoice",
        params=lambda w: {"installments": [{"due_on": "2031-01-31", "amount": "1000"}]},
        clash=bob_is_paid,
    ),
    "invoice.start_collection": Deed(subject="invoice", params=on_part, clash=bob_is_paid),
    "invoice.resume": Deed(
        subject="invoice",
        prepare=lambda w: w.before("invoice.start_collection", "invoice", **on_part(w)),
        params=on_part,
        clash=bob_is_paid,
    ),
    "invoice.dispute": Deed(subject="invoice", params=lambda w: {**on_part(w), "reason": "x"}, clash=bob_is_paid),
    "invoice.reopen_installment": Deed(
        subject="invoice",
        by=cast.manager,
        prepare=bob_is_paid,
        params=lambda w: {**on_part(w), "reason": "x"},
        clash=lambda w: w.before("invoice.refund", "invoice", by=cast.administrator(), **on_part(w), reason="y"),
    ),
    "invoice.refund": Deed(
        subject="invoice",
        by=cast.manager,
        prepare=bob_is_paid,
        params=lambda w: {**on_part(w), "reason": "x"},
        clash=lambda w: w.before(
            "invoice.reopen_installment", "invoice", by=cast.administrator(), **on_part(w), reason="y"
        ),
    ),
    "invoice.cancel": Deed(subject="invoice", params=lambda w: {"reason": "x"}, clash=bob_is_paid),
    "invoice.record_payment": Deed(
        subject="invoice",
        params=lambda w: {"provider": "bank", "payment": "tx-1", "amount": "600"},
        clash=bob_is_paid,
    ),
    "invoice.review_payment": Deed(
        subject="invoice",
        by=cast.manager,
        prepare=pay_too_much,
        params=lambda w: {"payment": Payment.objects.get().pk, "decision": "return", "reason": "x"},
        clash=lambda w: w.before(
            "invoice.review_payment",
            "invoice",
            by=cast.administrator(),
            payment=Payment.objects.get().pk,
            decision="return",
            reason="y",
        ),
    ),
}
