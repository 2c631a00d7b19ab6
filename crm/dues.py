"""Dues: what is owed on an invoice, recalculated from its installments in the Work that changes one.

Guarantees that list, page, agent and gate read one row (`owed`, `due_on`, `to_review`, `state`), and that the
installments in use add up to the invoice before and after every change. Next: `crm/actions/invoices.py`.
"""

from collections.abc import Sequence
from decimal import Decimal

from conflicts import reading
from conflicts.work import Work
from crm.models import Installment, Invoice, Payment
from crm.models.invoice import InvoiceState, PaymentState


def load_dues(found: Sequence[Invoice]) -> None:
    """Installments and payments of the locked invoices, as `invoice.all_installments` and `invoice.all_payments`."""
    keys = [invoice.pk for invoice in found]
    installments = reading.rows(Installment, "invoice_id", keys)
    payments = reading.rows(Payment, "invoice_id", keys)
    for invoice in found:
        invoice.all_installments = sorted(  # type: ignore[attr-defined]
            (row for row in installments if row.invoice_id == invoice.pk), key=lambda row: row.number
        )
        invoice.all_payments = [row for row in payments if row.invoice_id == invoice.pk]  # type: ignore[attr-defined]


def recalculate(work: Work, *, installments: Sequence[Installment], payments: Sequence[Payment]) -> None:
    """Set what follows from the rows as this Work leaves them."""
    invoice: Invoice = work.subject
    owed = [one for one in installments if one.is_owed]
    # A rule of this module's own making; a mistake here must not be written.
    assert sum((one.amount for one in installments if not one.replaced), Decimal(0)) == Decimal(invoice.amount)
    work.set(
        owed=sum((one.amount for one in owed), Decimal(0)),
        due_on=min((one.due_on for one in owed), default=None),
        to_review=sum(payment.state == PaymentState.IN_REVIEW for payment in payments),
    )
    if invoice.state != InvoiceState.CANCELLED:
        state = InvoiceState.OPEN if owed else InvoiceState.PAID
        if invoice.state != state:
            work.set(state=state.value)
