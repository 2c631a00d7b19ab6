"""Contracts and invoices: a yes to what is cancelled, collection of what has been paid, one payment told twice."""

from collections.abc import Generator
from typing import Any

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import lines, records
from config.lab.world import AGENT, World, person
from conflicts import actors, gate
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import Contract, ContractDecision, Installment, Invoice, Payment

BANK = actors.integration("bank", "The bank")
LONG_AGO = "2020-01-31"


def _made(action: str, wishes: list[dict[str, Any]]) -> list[Ref]:
    proposals = [Proposal(action=action, by=actors.SYSTEM, params=params) for params in wishes]
    return [outcome.subject for outcome in gate.commit_many(proposals) if outcome.subject]


def _company() -> int:
    [ref] = _made("company.create", [{"name": "Cold Chain Ltd"}])
    return ref.pk


# --- a yes to what has been cancelled ---------------------------------------------------------------------------------


def _offered(world: World, count: int) -> list[Round]:
    [product] = _made("product.create", [{"name": "PT-1000", "currency": "BRL"}])
    line = {"product": product.pk, "quantity": "2", "unit_price": "100"}
    more = {"company": _company(), "owner": world.alice.pk, "currency": "BRL", "lines": [line]}
    refs = _made("contract.create", [{"name": f"Contract {number}", **more} for number in range(count)])
    drafts = Contract.objects.in_bulk([ref.pk for ref in refs])
    by = person(world.alice)
    offers = [wish("contract.offer", Read.of(one), by=by, fingerprint=one.fingerprint) for one in drafts.values()]
    assert all(outcome.written for outcome in gate.commit_many(offers))
    return [Round(number, world, ref) for number, ref in enumerate(refs)]


def _contract(one: Round) -> Contract:
    return Contract.objects.get(pk=one.deal.pk)


def _cancelled_naively(one: Round) -> None:
    """Each looks whether it may, and writes the record it has read."""

    def approver() -> Generator[str]:
        contract = naive.load(one.deal)
        yield "the page is open"
        yield "it is cancelled"
        if contract.state == "offered":
            contract.state, contract.approved = "approved", contract.document
            ContractDecision.objects.create(
                contract=contract,
                number=contract.document,
                fingerprint=contract.fingerprint,
                verdict="approved",
                by=str(person(one.world.manager)),
                at=contract.changed_at,
            )
            naive.save(contract)
            one.done("")

    def canceller() -> Generator[str]:
        yield "the page is open"
        contract = naive.load(one.deal)
        contract.state, contract.reason = "cancelled", one.mark("Alice")
        naive.save(contract)
        one.done(one.mark("Alice"))

    one.race(approver, canceller)


def _cancelled_guarded(one: Round) -> None:
    def approver() -> Generator[str]:
        contract = _contract(one)
        yield "the page is open"
        yield "it is cancelled"
        mark = one.mark("Manuela")
        said: dict[str, Any] = {"document": contract.document, "fingerprint": contract.fingerprint, "reason": mark}
        one.commit(mark, wish("contract.approve", Read.of(contract), by=person(one.world.manager), **said))

    def canceller() -> Generator[str]:
        yield "the page is open"
        mark = one.mark("Alice")
        one.commit(mark, wish("contract.cancel", Read.of(_contract(one)), by=person(one.world.alice), reason=mark))

    one.race(approver, canceller)


def _nothing_cancelled_is_approved(one: Round) -> Judgement:
    contract = _contract(one)
    said = ContractDecision.objects.filter(contract=contract, verdict="approved").count()
    wrong = lines(
        (contract.state != "cancelled", "a contract that was cancelled is in force again"),
        (said > 0, "a cancelled contract has been approved"),
        (one.guarded and not records(one.deal, closed_at=None), "nobody is told that the approval came too late"),
    )
    return Judgement(effects=said, wrong=wrong)


register(
    Scenario(
        slug="contract_cancelled_then_approved",
        title="a contract is cancelled while the approver's page is open",
        prepare=_offered,
        naive=_cancelled_naively,
        guarded=_cancelled_guarded,
        judge=_nothing_cancelled_is_approved,
    )
)

# --- collection of what has been paid ---------------------------------------------------------------------------------


def _invoices(world: World, count: int) -> list[Round]:
    more = {
        "company": _company(),
        "owner": world.alice.pk,
        "amount": "600",
        "currency": "BRL",
        "installments": [{"due_on": LONG_AGO, "amount": "600"}],
    }
    refs = _made("invoice.create", [{"name": f"2020-{number}", **more} for number in range(count)])
    return [Round(number, world, ref) for number, ref in enumerate(refs)]


def _installment(one: Round) -> Installment:
    return Installment.objects.get(invoice=one.deal.pk)


def _pay_naively(one: Round, mark: str) -> None:
    installment = _installment(one)
    invoice = naive.load(one.deal)
    Payment.objects.create(
        invoice=invoice,
        installment=installment,
        provider="bank",
        provider_key=mark,
        amount=installment.amount,
        at=f"{LONG_AGO}T12:00Z",
    )
    installment.state, installment.paid_at = "paid", f"{LONG_AGO}T12:00Z"
    naive.save(installment)
    invoice.state, invoice.owed, invoice.due_on = "paid", 0, None
    naive.save(invoice)


def _payment(one: Round, mark: str) -> Proposal:
    return Proposal(
        action="invoice.record_payment",
        by=BANK,
        params={"provider": "bank", "payment": mark, "amount": "600", "at": f"{LONG_AGO}T12:00Z"},
        basis=(Read.unread(one.deal),),
        key=f"payment:bank:{mark}",
    )


def _collected_naively(one: Round) -> None:
    def agent() -> Generator[str]:
        installment = _installment(one)
        yield "the agent has read"
        yield "the money has come"
        if installment.state == "open":
            installment.state = "in_collection"
            naive.save(installment)
            one.done("")

    def bank() -> Generator[str]:
        yield "the agent has read"
        _pay_naively(one, one.mark("bank"))

    one.race(agent, bank)


def _collected_guarded(one: Round) -> None:
    def agent() -> Generator[str]:
        invoice, installment = Invoice.objects.get(pk=one.deal.pk), _installment(one)
        yield "the agent has read"
        yield "the money has come"
        one.commit("", wish("invoice.start_collection", Read.of(invoice), by=AGENT, installment=installment.pk))

    def bank() -> Generator[str]:
        yield "the agent has read"
        mark = one.mark("bank")
        one.commit(mark, _payment(one, mark))

    one.race(agent, bank)


def _nothing_paid_is_collected(one: Round) -> Judgement:
    installment, paid = _installment(one), Payment.objects.filter(invoice=one.deal.pk).count()
    wrong = lines(
        (installment.state == "in_collection", "collection has begun for what was paid"),
        (paid != 1, "the payment is not there once"),
        (one.guarded and not records(one.deal, result="superseded"), "the agent's wish left no evidence"),
    )
    return Judgement(effects=paid, wrong=wrong)


register(
    Scenario(
        slug="paid_then_collected",
        title="a payment comes in while an agent is about to start collection",
        prepare=_invoices,
        naive=_collected_naively,
        guarded=_collected_guarded,
        judge=_nothing_paid_is_collected,
    )
)

# --- one payment told twice -------------------------------------------------------------------------------------------


def _told_twice_naively(one: Round) -> None:
    """Looks whether it knows the payment, and then writes. The key is no key here, as in many a table of payments."""

    def told(number: int) -> Generator[str]:
        known = Payment.objects.filter(invoice=one.deal.pk).exists()
        yield "both have looked"
        if not known:
            _pay_naively(one, f"{one.mark('bank')} #{number}")
            one.done("")

    one.race(lambda: told(1), lambda: told(2))


def _told_twice_guarded(one: Round) -> None:
    mark = one.mark("bank")

    def told() -> Generator[str]:
        yield "both have looked"
        one.commit(mark, _payment(one, mark))

    one.race(told, told, at_once=True)


def _counted_once(one: Round) -> Judgement:
    counted = Payment.objects.filter(invoice=one.deal.pk, state="counted").count()
    wrong = [f"the money was counted once more ({number})" for number in range(2, counted + 1)]
    return Judgement(effects=counted, wrong=[*wrong, *lines((not counted, "the money was not counted"))])


register(
    Scenario(
        slug="payment_told_twice",
        title="the provider tells one payment twice at once",
        prepare=_invoices,
        naive=_told_twice_naively,
        guarded=_told_twice_guarded,
        judge=_counted_once,
    )
)
