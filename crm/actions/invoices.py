"""What can be done to an invoice and its installments. Money that comes in: `payments.py`.

Guarantees that the installments in use always add up to the invoice, that collection never starts for what has been
paid meanwhile (it is superseded, with the payment as evidence), and that what was paid is owed again only by a person
with the authority to say so, who says why. Next in the flow: `crm/dues.py`.
"""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any

from django.conf import settings
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, Field, model_validator

from conflicts.actions import Action, register
from conflicts.actors import Actor, Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.sentences import Sentence, actor, choice, date
from conflicts.work import Work
from crm import naming
from crm.actions.contracts import team_of
from crm.actions.fields import MAX_AMOUNT, Currency, Key, Name, Params, RequiredKey, Tags, Text
from crm.authority import Need, check_authority
from crm.clock import today_for
from crm.dues import load_dues, recalculate
from crm.models import Company, Installment, Invoice, Payment, User
from crm.models.invoice import INSTALLMENT_MOVES, InstallmentState, InvoiceState, PaymentState
from crm.models.user import Role
from crm.permissions import permits_of_team

NOT_CHANGED = Sentence("invoice_not_changed")
NOT_COLLECTED = Sentence("collection_not_started")
MOST = 60

Sum = Annotated[Decimal, Field(gt=0, le=MAX_AMOUNT, max_digits=14, decimal_places=2)]


def _has_letters(number: str) -> str:
    if not naming.key(number) or len(number) > 60:
        raise ValueError(_t("A number has a letter or a digit, and at most 60 of them."))
    return number


Number = Annotated[Name, AfterValidator(_has_letters)]


class Part(Params):
    due_on: dt.date
    amount: Sum


Parts = Annotated[list[Part], Field(min_length=1, max_length=MOST)]


class About(Params):
    opportunity: Key = None
    contract: Key = None
    owner: Key = None
    tags: Tags = []
    note: Text = ""


class Create(About):
    name: Number
    company: RequiredKey
    amount: Sum
    currency: Currency = settings.VIGENTE_CURRENCY
    issued_on: dt.date | None = None
    installments: Parts

    @model_validator(mode="after")
    def _adds_up(self) -> "Create":
        if sum(part.amount for part in self.installments) != self.amount:
            raise ValueError(_t("The installments do not add up to the invoice."))
        return self


class Edit(About):
    name: Number = ""


class OneInstallment(Params):
    installment: RequiredKey


class Reschedule(OneInstallment):
    due_on: dt.date


class Divide(Params):
    """What is open is divided anew; what was paid, or is disputed or in collection, stays."""

    installments: Parts


class WithReason(OneInstallment):
    reason: Name


class Cancel(Params):
    reason: Name


# --------------------------------------------------------------------------------------------------- create and edit


def _check_new(work: Work) -> None:
    # The unique key has the last word; this only says it in words before.
    if Invoice.objects.filter(name_key=naming.key(work.params.name)).exists():
        raise RuleBroken("invoice_exists")
    if not Company.objects.filter(pk=work.params.company).exists():
        raise RuleBroken("names_nothing")


def _create(work: Work) -> None:
    p: Create = work.params
    invoice = Invoice(
        **p.model_dump(include={"name", "amount", "currency", "tags", "note"}),
        name_key=naming.key(p.name)[:60],
        company_id=p.company,
        contract_id=p.contract,
        opportunity_id=p.opportunity,
        owner_id=p.owner,
        team_id=team_of(work, owner=p.owner, opportunity=p.opportunity),
        issued_on=p.issued_on or today_for(User.objects.filter(pk=p.owner or 0).first(), now=work.now),
    )
    work.new(invoice)
    rows = [
        Installment(invoice=invoice, number=number, due_on=part.due_on, amount=part.amount)
        for number, part in enumerate(p.installments, start=1)
    ]
    for row in rows:
        work.add(row)
    recalculate(work, installments=rows, payments=[])


def _check_edit(work: Work) -> None:
    number = work.writes.get("name")
    if number and Invoice.objects.filter(name_key=naming.key(number)).exclude(pk=work.subject.pk).exists():
        raise RuleBroken("invoice_exists")


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "name" in work.writes:
        work.set(name_key=naming.key(work.writes["name"])[:60])
    if "owner" in work.writes:
        work.set(team=team_of(work, owner=work.writes["owner"], opportunity=work.subject.opportunity_id))


# -------------------------------------------------------------------------------------------------- the installments


def own(work: Work, key: int) -> Installment:
    """The installment that the params name. Raises RuleBroken: it is another invoice's, or was replaced."""
    found = next((one for one in work.subject.all_installments if one.pk == key and not one.replaced), None)
    if found is None:
        raise RuleBroken("installment_gone")
    return found


def paid_by(work: Work, installment: Installment) -> Payment | None:
    counted = [
        payment
        for payment in work.subject.all_payments
        if payment.installment_id == installment.pk and payment.state == PaymentState.COUNTED
    ]
    return counted[-1] if counted else None


def check_can_become(work: Work, installment: Installment, target: InstallmentState) -> None:
    """The one table, asked before the write. Raises GoalMet, Clash, RuleBroken."""
    if installment.state == target:
        raise GoalMet("installment_so_already", who=actor(installment.author), **_said(installment))
    theirs = [c for c in work.moved if c.aspect == Installment.aspect and c.old == installment.pk]
    if theirs and theirs[-1].new.get("state") != _state_read(work, installment):
        raise Clash("installment_changed", who=actor(theirs[-1].by), **_said(installment))
    if target not in INSTALLMENT_MOVES[InstallmentState(installment.state)]:
        raise RuleBroken("installment_cannot", who=actor(installment.author), **_said(installment))


def _state_read(work: Work, installment: Installment) -> str | None:
    """The installment's state at the version that the author read."""
    version = work.proposal.basis[0].version
    events: Any = Installment._meta.get_field("events").related_model
    rows = events._default_manager.filter(pgh_obj_id=installment.pk, subject_version__lte=version)
    return rows.order_by("-pgh_id").values_list("state", flat=True).first()


def _said(installment: Installment) -> dict[str, Any]:
    return {"number": installment.number, "status": choice("crm.installment", "state", installment.state)}


def _follow(work: Work, *more: Installment) -> None:
    rows = [*work.subject.all_installments, *more]
    recalculate(work, installments=rows, payments=work.subject.all_payments)


def _move(work: Work, target: InstallmentState, **values: Any) -> None:
    work.change(own(work, work.params.installment), state=target.value, **values)
    _follow(work)


def check_collection(work: Work) -> None:
    """What collection rests on, in the state in force. A payment that came meanwhile makes it needless."""
    invoice: Invoice = work.subject
    one = own(work, work.params.installment)
    if one.state in (InstallmentState.PAID, InstallmentState.REFUNDED):
        payment = paid_by(work, one)
        raise GoalMet(
            "installment_paid",
            number=one.number,
            who=actor(payment.author if payment else one.author),
            day=date((one.paid_at or work.now).date()),
        )
    if invoice.state == InvoiceState.CANCELLED:
        raise GoalMet("invoice_cancelled_now", who=actor(invoice.author))
    if one.state == InstallmentState.IN_COLLECTION:
        raise GoalMet("installment_so_already", who=actor(one.author), **_said(one))
    if one.state != InstallmentState.OPEN:
        raise RuleBroken("installment_cannot", who=actor(one.author), **_said(one))
    if one.due_on >= today_for(invoice.owner, now=work.now):
        raise RuleBroken("not_due_yet", number=one.number, day=date(one.due_on))
    if invoice.to_review:
        raise RuleBroken("payment_waits_for_review", state="needs_human_decision")


def _start_collection(work: Work) -> None:
    _move(work, InstallmentState.IN_COLLECTION)


def _check_resume(work: Work) -> None:
    """Back from collection or dispute. What was paid meanwhile is opened by nobody in passing."""
    one = own(work, work.params.installment)
    if one.state == InstallmentState.PAID:
        raise GoalMet("installment_so_already", who=actor(one.author), **_said(one))
    check_can_become(work, one, InstallmentState.OPEN)


def _resume(work: Work) -> None:
    _move(work, InstallmentState.OPEN, reason="")


def _check_dispute(work: Work) -> None:
    check_can_become(work, own(work, work.params.installment), InstallmentState.DISPUTED)


def _dispute(work: Work) -> None:
    _move(work, InstallmentState.DISPUTED, reason=work.params.reason)


def _check_reschedule(work: Work) -> None:
    one = own(work, work.params.installment)
    if not one.is_owed:
        raise RuleBroken("installment_cannot", who=actor(one.author), **_said(one))
    theirs = [c for c in work.moved if c.aspect == Installment.aspect and c.old == one.pk]
    if theirs:
        raise Clash("installment_changed", who=actor(theirs[-1].by), **_said(one))


def _reschedule(work: Work) -> None:
    work.change(own(work, work.params.installment), due_on=work.params.due_on)
    _follow(work)


def _check_divide(work: Work) -> None:
    invoice: Invoice = work.subject
    if invoice.state == InvoiceState.CANCELLED:
        raise RuleBroken("invoice_cancelled_now", state="terminal_state_found", who=actor(invoice.author))
    theirs = [c for c in work.moved if c.aspect in (Installment.aspect, Payment.aspect)]
    if theirs:
        raise Clash("installments_changed", who=actor(theirs[-1].by))
    open_now = sum((one.amount for one in _open(invoice)), Decimal(0))
    if sum(part.amount for part in work.params.installments) != open_now:
        raise RuleBroken("parts_do_not_add_up", amount=f"{open_now:.2f}", currency=invoice.currency)


def _open(invoice: Invoice) -> list[Installment]:
    return [one for one in invoice.all_installments if one.state == InstallmentState.OPEN]  # type: ignore[attr-defined]


def _divide(work: Work) -> None:
    invoice: Invoice = work.subject
    for one in _open(invoice):
        work.change(one, state=InstallmentState.CANCELLED.value, replaced=True)
    after = max(one.number for one in invoice.all_installments)  # type: ignore[attr-defined]
    rows = [
        Installment(invoice=invoice, number=number, due_on=part.due_on, amount=part.amount)
        for number, part in enumerate(work.params.installments, start=after + 1)
    ]
    for row in rows:
        work.add(row)
    _follow(work, *rows)


def _check_cancel(work: Work) -> None:
    invoice: Invoice = work.subject
    if invoice.state == InvoiceState.CANCELLED:
        raise GoalMet("invoice_cancelled_now", who=actor(invoice.author))
    theirs = [c for c in work.moved if c.aspect in (Installment.aspect, Payment.aspect)]
    if theirs:
        raise Clash("installments_changed", who=actor(theirs[-1].by))
    if work.by.kind is not Kind.PERSON:
        raise RuleBroken("only_people_cancel_invoices")
    if any(one.state == InstallmentState.PAID for one in invoice.all_installments):  # type: ignore[attr-defined]
        raise RuleBroken("invoice_has_payments")


def _cancel(work: Work) -> None:
    for one in work.subject.all_installments:
        if one.is_owed:
            work.change(one, state=InstallmentState.CANCELLED.value)
    work.set(state=InvoiceState.CANCELLED.value, reason=work.params.reason)
    _follow(work)


# ------------------------------------------------------------------------------- back from paid: only with authority


def may_review(by: Actor) -> bool:
    """Somebody who answers for money: a manager or an administrator."""
    user = by.account
    return by.kind is Kind.PERSON and isinstance(user, User) and (user.sees_everything or user.role == Role.MANAGER)


def check_reviewer(work: Work, *, amount: Decimal, machine: str) -> None:
    """Raises RuleBroken: no machine does this (`machine` is the sentence), and not every person."""
    if work.by.kind is not Kind.PERSON:
        raise RuleBroken(machine, state="needs_human_decision")
    if not may_review(work.by):
        raise RuleBroken("needs_reviewer", state="needs_human_decision")
    invoice: Invoice = work.subject
    check_authority(work.by, Need(amount=amount, currency=invoice.currency), team=invoice.team_id)


def _check_reopen(work: Work) -> None:
    one = own(work, work.params.installment)
    check_reviewer(work, amount=one.amount, machine="only_people_reopen")
    if work.subject.state == InvoiceState.CANCELLED:
        raise RuleBroken("invoice_cancelled_now", state="terminal_state_found", who=actor(work.subject.author))
    if one.is_owed:
        raise GoalMet("installment_so_already", who=actor(one.author), **_said(one))
    check_can_become(work, one, InstallmentState.OPEN)


def _reopen(work: Work) -> None:
    """Owed again. The payment that had settled it is not lost: it waits for a review of its own."""
    one = own(work, work.params.installment)
    payment = paid_by(work, one)
    if payment is not None:
        work.change(payment, state=PaymentState.IN_REVIEW.value, doubt="", reason=work.params.reason)
    work.change(one, state=InstallmentState.OPEN.value, paid_at=None, reason=work.params.reason)
    _follow(work)


def _check_refund(work: Work) -> None:
    one = own(work, work.params.installment)
    check_reviewer(work, amount=one.amount, machine="only_people_refund")
    check_can_become(work, one, InstallmentState.REFUNDED)


def _refund(work: Work) -> None:
    one = own(work, work.params.installment)
    payment = paid_by(work, one)
    if payment is not None:
        work.change(payment, state=PaymentState.RETURNED.value, reason=work.params.reason)
    work.change(one, state=InstallmentState.REFUNDED.value, reason=work.params.reason)
    _follow(work)


register(
    Action(
        name="invoice.create",
        subject=Invoice,
        params=Create,
        words=_("Add an invoice"),
        check=_check_new,
        apply=_create,
        permits=permits_of_team,
        creates=True,
    )
)
register(
    Action(
        name="invoice.edit",
        subject=Invoice,
        params=Edit,
        words=_("Change the invoice"),
        check=_check_edit,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_of_team,
        avoided=NOT_CHANGED,
    )
)
_ON_INSTALLMENTS: tuple[tuple[str, type[Params], Any, Any, Any, Sentence], ...] = (
    ("reschedule", Reschedule, _("Move an installment"), _check_reschedule, _reschedule, NOT_CHANGED),
    ("divide", Divide, _("Divide what is open anew"), _check_divide, _divide, NOT_CHANGED),
    ("start_collection", OneInstallment, _("Start collection"), check_collection, _start_collection, NOT_COLLECTED),
    ("resume", OneInstallment, _("Put back to open"), _check_resume, _resume, NOT_CHANGED),
    ("dispute", WithReason, _("Record a dispute"), _check_dispute, _dispute, NOT_CHANGED),
    ("reopen_installment", WithReason, _("Open what was paid"), _check_reopen, _reopen, NOT_CHANGED),
    ("refund", WithReason, _("Record a refund"), _check_refund, _refund, NOT_CHANGED),
    ("cancel", Cancel, _("Cancel the invoice"), _check_cancel, _cancel, NOT_CHANGED),
)
for name, params, words, check, apply, avoided in _ON_INSTALLMENTS:
    register(
        Action(
            name=f"invoice.{name}",
            subject=Invoice,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({"installments"}),
            permits=permits_of_team,
            avoided=avoided,
            loads=(load_dues,),
        )
    )
