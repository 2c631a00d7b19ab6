"""What people read about contracts and invoices when something was not done, or was done differently."""

from django.utils.translation import gettext_lazy as _

from conflicts import sentences

sentences.register(
    {
        "other_team_record": _("This belongs to {team}. Nothing was written."),
        "granted_to_see_record": _(
            "You were given sight of what belongs to {team}, not leave to change it. Nothing was written."
        ),
        "contract_draft_now": _("This contract has not been offered yet. Nothing was written."),
        "contract_offered_now": _("{who} offered this contract: it waits for an approval. Nothing was written."),
        "contract_approved_now": _("{who} has approved this contract. Nothing was written."),
        "contract_signed_now": _("{who} recorded that this contract is signed. Nothing was written."),
        "contract_declined_now": _("{who} declined this contract. Nothing was written."),
        "contract_cancelled_now": _("{who} cancelled this contract. Nothing was written."),
        "contract_not_changed": _("The contract was not changed."),
        "agent_only_drafts": _(
            "Agents change drafts only, never what a customer has been offered. Nothing was written."
        ),
        "agent_decides_no_contract": _("Agents neither offer nor decide contracts. Nothing was written."),
        "only_people_approve": _("Only a person approves a contract. Nothing was written."),
        "too_many_lines": _("A contract has at most {most} lines. Nothing was written."),
        "line_gone": _("This line is not part of the contract. Nothing was written."),
        "line_removed": _("{who} took this line out already. Nothing was written."),
        "line_changed": _("{who} changed this line meanwhile. Nothing was written."),
        "document_changed": _(
            "{who} changed the content after this was read: version {number} is in force now. Nothing was written."
        ),
        "document_unknown": _("This is not what the contract says. Nothing was written."),
        "nothing_to_offer": _("A contract without a line offers nothing. Nothing was written."),
        "offer_ran_out": _("The offer held until {day}. Nothing was written."),
        "signed_in_the_future": _("{day} is still to come. Nothing was written."),
        "invoice_exists": _("There is an invoice of that number already. Nothing was written."),
        "invoice_cancelled_now": _("{who} cancelled this invoice. Nothing was written."),
        "invoice_has_payments": _(
            "Part of this invoice has been paid. Record what was paid back first; nothing was written."
        ),
        "invoice_not_changed": _("The invoice was not changed."),
        "installment_gone": _("This installment is not part of the invoice. Nothing was written."),
        "installment_so_already": _("Installment {number} is {status} already ({who}). Nothing was written."),
        "installment_cannot": _("Installment {number} is {status} ({who}). Nothing was written."),
        "installment_changed": _("{who} changed installment {number} meanwhile: it is {status}. Nothing was written."),
        "installments_changed": _("{who} changed what is owed meanwhile. Nothing was written."),
        "installment_paid": _(
            "Installment {number} was paid on {day}, as {who} recorded. Collection was not started; "
            "nobody was contacted."
        ),
        "not_due_yet": _("Installment {number} is due on {day}. Collection was not started; nobody was contacted."),
        "payment_waits_for_review": _(
            "A payment for this invoice waits for somebody to look at it. Collection was not started; "
            "nobody was contacted."
        ),
        "collection_not_started": _("Collection was not started; nobody was contacted."),
        "parts_do_not_add_up": _(
            "The parts do not add up to the {amount} {currency} that are open. Nothing was written."
        ),
        "only_people_cancel_invoices": _("Only a person cancels an invoice. Nothing was written."),
        "only_people_reopen": _(
            "What was paid is owed again only if a person says so, with a reason. Nothing was written."
        ),
        "only_people_refund": _("Only a person records that money was paid back. Nothing was written."),
        "only_people_review": _("Only a person decides what a payment was for. Nothing was written."),
        "needs_reviewer": _("This needs a manager: money that was paid is at stake. Nothing was written."),
        "payment_known": _("{who} recorded this payment already. Nothing was written."),
        "payment_of_other_invoice": _("This payment was recorded for another invoice. Nothing was written."),
        "payment_gone": _("This payment is not part of the invoice. Nothing was written."),
        "payment_settled": _("{who} has settled this payment: {status}. Nothing was written."),
        "payment_not_recorded": _("The payment was not recorded."),
        "which_installment": _("Say which installment it pays for. Nothing was written."),
        "param.line": _("line"),
        "param.quantity": _("quantity"),
        "param.unit_price": _("price each"),
        "param.description": _("description"),
        "param.document": _("document version"),
        "param.fingerprint": _("fingerprint"),
        "param.installment": _("installment"),
        "param.payment": _("payment"),
        "param.provider": _("provider"),
        "param.decision": _("decision"),
    },
    whole=(
        *(
            "granted_to_see_record",
            "other_team_record",
            "contract_draft_now",
            "contract_offered_now",
            "contract_approved_now",
        ),
        *("contract_signed_now", "contract_declined_now", "contract_cancelled_now", "agent_only_drafts"),
        *("agent_decides_no_contract", "only_people_approve", "too_many_lines", "line_gone", "line_removed"),
        *("line_changed", "document_changed", "document_unknown", "nothing_to_offer", "offer_ran_out"),
        *("signed_in_the_future", "invoice_exists", "invoice_cancelled_now", "invoice_has_payments"),
        *("installment_gone", "installment_so_already", "installment_cannot", "installment_changed"),
        *("installments_changed", "installment_paid", "not_due_yet", "payment_waits_for_review"),
        *("parts_do_not_add_up", "only_people_cancel_invoices", "only_people_reopen", "only_people_refund"),
        *("only_people_review", "needs_reviewer", "payment_known", "payment_of_other_invoice", "payment_gone"),
        *("payment_settled", "which_installment"),
    ),
)
