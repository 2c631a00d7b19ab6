"""Proposals, spelt shortly, for the tests of the gate."""

from typing import Any

import pytest

from conflicts import actors, gate, ledger, reading
from conflicts.actors import Actor
from conflicts.models import LedgerEntry, VersionedModel
from conflicts.proposals import Proposal, Read
from crm.models import Opportunity, User


def wish(
    action: str,
    subject: VersionedModel | None = None,
    *rests_on: str,
    by: User | Actor,
    also: tuple[Read, ...] = (),
    key: str = "",
    settles: int | None = None,
    **params: Any,
) -> Proposal:
    """What `by` wants done to `subject` as it is in memory; `rests_on` names the read set, `also` further subjects."""
    return Proposal(
        action=action,
        by=by if isinstance(by, Actor) else actors.person(by),
        params=params,
        basis=(Read.of(subject, *rests_on), *also) if subject is not None else (),
        key=key,
        settles=settles,
        source="test",
    )


def now(deal: Opportunity) -> Opportunity:
    """The deal as the database has it."""
    return Opportunity.objects.get(pk=deal.pk)


def without_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: nothing is looked up in the ledger, and nothing is written there."""

    class Blind(reading.Rows[Any]):
        def __init__(self, batch: Any, model: Any, column: str, keys: Any, **how: Any) -> None:
            super().__init__(batch, model, column, [] if model is LedgerEntry else keys, **how)

    monkeypatch.setattr(gate, "Rows", Blind)
    monkeypatch.setattr(ledger, "write", lambda *args: None)
