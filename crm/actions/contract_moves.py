"""What is said to a contract: offer, approve, decline, sign, cancel. Each is one move along its table.

Guarantees that a yes, a no and a signature are given to one document (its number and its fingerprint, as the page
showed them) and to nothing that came later, that of two exclusive moves made at once the first stands and the other
waits for a person, and that a contract which has ended is never approved. Who may say yes to how much is asked of
`crm/authority.py`. Next in the flow: `crm/documents.py`.
"""

import datetime as dt
from typing import Annotated, Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from conflicts.actions import Action, register
from conflicts.actors import Kind
from conflicts.exceptions import Clash, RuleBroken
from conflicts.sentences import actor, date
from conflicts.work import Work
from crm.actions.contracts import LINES, NOT_CHANGED, check_can_become
from crm.actions.fields import Line, Name, Params
from crm.authority import Need, check_authority
from crm.clock import today_for
from crm.documents import content, decide, fingerprint, keep
from crm.models import Contract, Document
from crm.models.contract import ContractState, Verdict
from crm.permissions import permits_of_team

Mark = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Offer(Params):
    fingerprint: Mark
    """Of what was on the page: nobody offers a line that somebody else has just put in."""
    remark: Line = ""


class ToDocument(Params):
    document: Annotated[int, Field(ge=1, le=2_147_483_647)]
    fingerprint: Mark


class Approve(ToDocument):
    reason: Line = ""


class Decline(ToDocument):
    reason: Name


class Sign(ToDocument):
    on: dt.date | None = None


class Cancel(Params):
    reason: Name


def _check_by_people(work: Work) -> None:
    if work.by.kind is Kind.AGENT:
        raise RuleBroken("agent_decides_no_contract")


def _check_as_shown(work: Work, *, document: int | None, mark: str) -> None:
    """Raises Clash: what was on the page is not what is in force. RuleBroken: it never was."""
    contract: Contract = work.subject
    if mark == contract.fingerprint and document in (None, contract.document):
        return
    theirs = [c for c in work.moved if c.subject == work.proposal.subject and c.aspect in ("fingerprint", "lines")]
    if theirs:
        raise Clash(
            "document_changed",
            state="changed_during_approval",
            who=actor(theirs[-1].by),
            number=contract.document or 1,
        )
    raise RuleBroken("document_unknown", state="changed_during_approval")


def need_of(contract: Contract) -> Need:
    """What saying yes to this contract takes: the gate asks it, and so do the button and its tooltip.

    Terms of its own are legal terms: what no lawyer wrote once for everybody takes a yes with that authority.
    """
    return Need(
        amount=contract.amount,
        currency=contract.currency,
        discount=contract.discount or None,
        legal=bool(contract.text.strip()),
    )


def _check_offer(work: Work) -> None:
    _check_by_people(work)
    check_can_become(work, ContractState.OFFERED)
    _check_as_shown(work, document=None, mark=work.params.fingerprint)
    if not work.subject.lines_in_use:
        raise RuleBroken("nothing_to_offer")


def _offer(work: Work) -> None:
    lines = work.subject.lines_in_use
    work.set(state=ContractState.OFFERED.value, approved=None, reason="")
    keep(work, content(work.subject, lines), remark=work.params.remark)


def _check_approve(work: Work) -> None:
    _check_by_people(work)
    if work.by.kind is not Kind.PERSON:
        raise RuleBroken("only_people_approve")
    check_can_become(work, ContractState.APPROVED)
    _check_to_document(work)
    contract: Contract = work.subject
    if contract.valid_until and contract.valid_until < work.now.date() - dt.timedelta(days=1):
        raise RuleBroken("offer_ran_out", day=date(contract.valid_until))
    check_authority(work.by, need_of(contract), team=contract.team_id)


def _check_to_document(work: Work) -> None:
    p: ToDocument = work.params
    _check_as_shown(work, document=p.document, mark=p.fingerprint)
    kept = Document.objects.filter(contract=work.subject, number=p.document).first()
    if kept is None or fingerprint(kept.content) != p.fingerprint:
        raise RuleBroken("document_unknown", state="changed_during_approval")


def _approve(work: Work) -> None:
    contract: Contract = work.subject
    work.set(state=ContractState.APPROVED.value, approved=contract.document, reason="")
    _decided(work, Verdict.APPROVED, work.params.reason)


def _check_decline(work: Work) -> None:
    _check_by_people(work)
    check_can_become(work, ContractState.DECLINED)
    _check_to_document(work)


def _decline(work: Work) -> None:
    work.set(state=ContractState.DECLINED.value, reason=work.params.reason)
    _decided(work, Verdict.DECLINED, work.params.reason)


def _check_sign(work: Work) -> None:
    _check_by_people(work)
    check_can_become(work, ContractState.SIGNED)
    _check_to_document(work)
    if work.params.on and work.params.on > work.now.date() + dt.timedelta(days=1):
        raise RuleBroken("signed_in_the_future", day=date(work.params.on))


def _sign(work: Work) -> None:
    work.set(state=ContractState.SIGNED.value, signed_on=work.params.on or today_for(work.subject.owner, now=work.now))
    _decided(work, Verdict.SIGNED, "")


def _decided(work: Work, verdict: Verdict, reason: str) -> None:
    decide(work, verdict, number=work.subject.document, mark=work.subject.fingerprint, reason=reason)


def _check_cancel(work: Work) -> None:
    _check_by_people(work)
    check_can_become(work, ContractState.CANCELLED)


def _cancel(work: Work) -> None:
    contract: Contract = work.subject
    if contract.approved:
        _decided(work, Verdict.VOIDED, work.params.reason)
    work.set(state=ContractState.CANCELLED.value, approved=None, reason=work.params.reason)


# The state is no field that could be merged or chosen: a word that came too late is said again, to what is in force.
_MOVES: tuple[tuple[str, type[Params], Any, Any, Any], ...] = (
    ("offer", Offer, _("Offer the contract"), _check_offer, _offer),
    ("approve", Approve, _("Approve the contract"), _check_approve, _approve),
    ("decline", Decline, _("Decline the contract"), _check_decline, _decline),
    ("sign", Sign, _("Record the signature"), _check_sign, _sign),
    ("cancel", Cancel, _("Cancel the contract"), _check_cancel, _cancel),
)


for name, params, words, check, apply in _MOVES:
    register(
        Action(
            name=f"contract.{name}",
            subject=Contract,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=frozenset({"decisions"}),
            permits=permits_of_team,
            avoided=NOT_CHANGED,
            loads=LINES,
        )
    )
