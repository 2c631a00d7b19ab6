"""Money that comes in for an invoice, and what a reviewer decides about money that fits nowhere.

Guarantees that a provider's payment has one effect however often and by however many it is told (the second is answered
with the first answer), that it settles what it pays for even while collection is being started, and that money for a
cancelled invoice, for what is settled already, or of another amount is kept and waits for a person: it is never counted
by a guess. Next in the flow: `crm/dues.py`.
"""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import BeforeValidator, Field

from conflicts import gate
from conflicts.actions import Action, register
from conflicts.actors import Actor
from conflicts.exceptions import GoalMet, RuleBroken
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence, actor, choice
from conflicts.work import Work
from crm import naming
from crm.actions.fields import Key, Name, Params, RequiredKey, clean_line
from crm.actions.invoices import NOT_CHANGED, Sum, check_reviewer, own
from crm.dues import load_dues, recalculate
from crm.models import Installment, Invoice, Payment
from crm.models.invoice import Doubt, InstallmentState, InvoiceState, PaymentState
from crm.permissions import permits_of_team

Provider = Annotated[str, BeforeValidator(clean_line), Field(min_length=1, max_length=60)]
ProviderKey = Annotated[str, BeforeValidator(clean_line), Field(min_length=1, max_length=120)]


class Record(Params):
    provider: Provider
    payment: ProviderKey
    """What the provider calls it, once and for ever."""
    amount: Sum
    at: dt.datetime | None = None
    """When it was paid; default now."""
    installment: Key = None
    """Default: the first that is owed and of this amount."""


class Review(Params):
    payment: RequiredKey
    decision: Literal["count", "return"]
    installment: Key = None
    """What it pays for, where it is to be counted."""
    reason: Name


def record(
    invoice: Invoice,
    *,
    provider: str,
    payment: str,
    amount: Decimal,
    by: Actor,
    at: dt.datetime | None = None,
    installment: int | None = None,
    source: str = "",
) -> Outcome:
    """A payment as a provider tells it: a fact, whatever our rows say. Told again, the first answer is given again."""
    params = {"provider": provider, "payment": payment, "amount": amount, "at": at, "installment": installment}
    return gate.commit(
        Proposal(
            action="invoice.record_payment",
            by=by,
            params={name: value for name, value in params.items() if value is not None},
            basis=(Read.unread(Ref.of(invoice)),),
            # As typed: a key goes with one wish. The same payment in another spelling is met by `_check_record`.
            key=f"payment:{provider}:{payment}",
            source=source or f"payment:{provider}",
        )
    )


def _check_record(work: Work) -> None:
    p: Record = work.params
    known = Payment.objects.filter(once=naming.once(p.provider, p.payment)).first()
    if known is None:
        return
    if known.invoice_id != work.subject.pk:
        raise RuleBroken("payment_of_other_invoice")
    raise GoalMet("payment_known", who=actor(known.author))


def meant(invoice: Invoice, *, amount: Decimal, installment: int | None) -> tuple[Installment | None, str]:
    """What a payment settles, or why nobody can tell (Doubt)."""
    rows = [one for one in invoice.all_installments if not one.replaced]  # type: ignore[attr-defined]
    named = next((one for one in rows if one.pk == installment), None)
    if invoice.state == InvoiceState.CANCELLED:
        return named, Doubt.CANCELLED
    if named is None and installment is None:
        fitting = [one for one in rows if one.is_owed and one.amount == amount]
        # What is disputed is paid last: whoever disputes an installment pays the others.
        fitting.sort(key=lambda one: (one.state == InstallmentState.DISPUTED, one.number))
        if fitting:
            return fitting[0], ""
        settled = any(one.amount == amount for one in rows)
        return None, Doubt.SETTLED if settled else Doubt.AMOUNT
    if named is None or not named.is_owed:
        return named, Doubt.SETTLED
    return named, "" if named.amount == amount else Doubt.AMOUNT


def _record(work: Work) -> None:
    p: Record = work.params
    invoice: Invoice = work.subject
    one, doubt = meant(invoice, amount=p.amount, installment=p.installment)
    payment = Payment(
        invoice=invoice,
        installment=one,
        provider=p.provider,
        provider_key=p.payment,
        once=naming.once(p.provider, p.payment),
        amount=p.amount,
        at=p.at or work.now,
        state=(PaymentState.IN_REVIEW if doubt else PaymentState.COUNTED).value,
        doubt=str(doubt),
    )
    work.add(payment)
    if one is not None and not doubt:
        work.change(one, state=InstallmentState.PAID.value, paid_at=p.at or work.now, reason="")
    recalculate(work, installments=invoice.all_installments, payments=[*invoice.all_payments, payment])  # type: ignore[attr-defined]


def _own_payment(work: Work) -> Payment:
    found = next((one for one in work.subject.all_payments if one.pk == work.params.payment), None)
    if found is None:
        raise RuleBroken("payment_gone")
    return found


def _check_review(work: Work) -> None:
    p: Review = work.params
    payment = _own_payment(work)
    check_reviewer(work, amount=payment.amount, machine="only_people_review")
    if payment.state != PaymentState.IN_REVIEW:
        raise GoalMet(
            "payment_settled", who=actor(payment.author), status=choice("crm.payment", "state", payment.state)
        )
    if p.decision == "return":
        return
    if work.subject.state == InvoiceState.CANCELLED:
        raise RuleBroken("invoice_cancelled_now", state="terminal_state_found", who=actor(work.subject.author))
    if p.installment is None:
        raise RuleBroken("which_installment")
    one = own(work, p.installment)
    if not one.is_owed:
        status = choice("crm.installment", "state", one.state)
        raise RuleBroken("installment_cannot", who=actor(one.author), number=one.number, status=status)


def _review(work: Work) -> None:
    p: Review = work.params
    payment = _own_payment(work)
    if p.decision == "return":
        work.change(payment, state=PaymentState.RETURNED.value, reason=p.reason)
    else:
        one = own(work, p.installment or 0)
        work.change(payment, state=PaymentState.COUNTED.value, installment_id=one.pk, reason=p.reason)
        work.change(one, state=InstallmentState.PAID.value, paid_at=payment.at, reason=p.reason)
    recalculate(work, installments=work.subject.all_installments, payments=work.subject.all_payments)


register(
    Action(
        name="invoice.record_payment",
        subject=Invoice,
        params=Record,
        words=_("Record a payment"),
        check=_check_record,
        apply=_record,
        writes_aspects=frozenset({"payments"}),
        permits=permits_of_team,
        avoided=Sentence("payment_not_recorded"),
        loads=(load_dues,),
        records_fact=True,
    )
)
register(
    Action(
        name="invoice.review_payment",
        subject=Invoice,
        params=Review,
        words=_("Settle a payment that waits"),
        check=_check_review,
        apply=_review,
        writes_aspects=frozenset({"payments"}),
        permits=permits_of_team,
        avoided=NOT_CHANGED,
        loads=(load_dues,),
    )
)
