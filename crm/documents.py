"""Documents: what a contract offers, written down once and never rewritten.

Guarantees that the fingerprint on a contract is always that of what it says now, and that whoever changes what was
offered makes the next document in the same Work: an approval of the one before is void from that moment, and both stay
readable. Next in the flow: `crm/models/contract.py`, whose rows these become.
"""

import hashlib
import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db.models import prefetch_related_objects

from conflicts import reading
from conflicts.values import plain
from conflicts.work import Work
from crm.models import Contract, ContractDecision, ContractLine, Document
from crm.models.contract import ContractState, Verdict

CENT = Decimal("0.01")


def load_lines(found: Sequence[Contract]) -> None:
    """The lines in use of the locked contracts, as `contract.lines_in_use`, with their products."""
    by_contract: dict[int, list[ContractLine]] = {contract.pk: [] for contract in found}
    rows = reading.rows(ContractLine, "contract_id", by_contract, also="NOT removed")
    prefetch_related_objects(rows, "product")
    for line in rows:
        by_contract[line.contract_id].append(line)
    for contract in found:
        contract.lines_in_use = by_contract[contract.pk]  # type: ignore[attr-defined]


def content(contract: Contract, lines: Sequence[ContractLine]) -> dict[str, Any]:
    """All that is offered, in plain values: it means the same whenever it is read."""
    subtotal = sum((line.total for line in lines), Decimal(0))
    return {
        "company": {"id": contract.company_id, "name": contract.company.name},
        "currency": contract.currency,
        "lines": [
            {
                "product": line.product_id,
                "name": line.product.name,
                "description": line.description,
                "quantity": f"{line.quantity:.2f}",
                "unit_price": f"{line.unit_price:.2f}",
                "currency": contract.currency,
                "total": f"{line.total:.2f}",
            }
            for line in lines
        ],
        "subtotal": f"{subtotal:.2f}",
        "discount": f"{Decimal(contract.discount):.2f}",
        "total": f"{less(subtotal, Decimal(contract.discount)):.2f}",
        "valid_until": plain(contract.valid_until),
        "text": contract.text,
    }


def less(subtotal: Decimal, discount: Decimal) -> Decimal:
    """What is left of a sum after a discount in per cent, to the cent."""
    return (subtotal * (100 - discount) / 100).quantize(CENT)


def fingerprint(said: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def follow(work: Work, lines: Sequence[ContractLine]) -> None:
    """Bring the contract up to its lines and fields as this Work leaves them; what was offered gets a new document."""
    contract: Contract = work.subject
    said = content(contract, lines)
    mark, before = fingerprint(said), contract.fingerprint
    work.set(amount=Decimal(said["total"]), fingerprint=mark)
    if mark == before or contract.state == ContractState.DRAFT:
        return
    if contract.state == ContractState.APPROVED:
        decide(work, Verdict.VOIDED, number=contract.document, mark=before)
    work.set(state=ContractState.OFFERED.value, approved=None, reason="")
    keep(work, said)


def keep(work: Work, said: dict[str, Any], *, remark: str = "") -> None:
    """The next document, with what the contract says now."""
    contract: Contract = work.subject
    work.set(document=contract.document + 1)
    work.add(
        Document(
            contract=contract,
            number=contract.document,
            content=said,
            fingerprint=fingerprint(said),
            made_at=work.now,
            made_by=str(work.by),
            remark=remark,
        )
    )


def decide(work: Work, verdict: Verdict, *, number: int, mark: str, reason: str = "") -> None:
    """What was said to one document, kept beside it for ever."""
    work.add(
        ContractDecision(
            contract=work.subject,
            number=number,
            fingerprint=mark,
            verdict=verdict.value,
            by=str(work.by),
            at=work.now,
            reason=reason,
        )
    )
