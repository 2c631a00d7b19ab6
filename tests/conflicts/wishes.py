"""Proposals, spelt shortly, for the tests of the gate."""

from typing import Any

from conflicts import actors
from conflicts.actors import Actor
from conflicts.models import VersionedModel
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
