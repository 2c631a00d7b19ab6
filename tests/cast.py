"""The fixed cast: Alice owns the deal, Bob edits at the same time, Charlie of another team may see nothing.

Everything is built through the gate, as the product does it.
"""

import datetime as dt
from typing import Any

from django.db import transaction

from conflicts import actors, gate, guard
from conflicts.actors import Actor
from conflicts.models import VersionedModel
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from crm.models import Contact, Opportunity, Pipeline, Stage, Team, User
from crm.models.user import Role

SYSTEM = actors.SYSTEM
AGENT = actors.agent("follow-up", "Follow-up agent")
TUESDAY = dt.date(2031, 6, 10)
MONDAY = dt.date(2031, 6, 9)
"""Days far ahead, so that no test depends on the day it runs on."""


def team(name: str = "North") -> Team:
    return Team.objects.get_or_create(name=name)[0]


def user(username: str, first: str, last: str, *, of: Team, role: Role = Role.SALESPERSON) -> User:
    found, _ = User.objects.get_or_create(
        username=username, defaults={"first_name": first, "last_name": last, "team": of, "role": role}
    )
    return found


def alice() -> User:
    return user("alice", "Alice", "Amaral", of=team())


def bob() -> User:
    return user("bob", "Bob", "Borges", of=team())


def charlie() -> User:
    return user("charlie", "Charlie", "Castro", of=team("South"))


def manager() -> User:
    return user("manuela", "Manuela", "Moraes", of=team(), role=Role.MANAGER)


def administrator() -> User:
    found = user("ada", "Ada", "Alves", of=team(), role=Role.ADMINISTRATOR)
    if not found.is_superuser:
        found.is_superuser = found.is_staff = True
        found.save()
    return found


def other_administrator() -> User:
    return user("abel", "Abel", "Andrade", of=team(), role=Role.ADMINISTRATOR)


def pipeline() -> Pipeline:
    """New, Proposal (stuck after 7 days), Negotiation (no contact), Won, Lost."""
    found = Pipeline.objects.filter(name="Sales").first()
    if found:
        return found
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        made = Pipeline.objects.create(name="Sales", is_default=True)
        for position, (name, kind, contact_allowed, stuck) in enumerate(
            [
                ("New", "open", True, None),
                ("Proposal", "open", True, 7),
                ("Negotiation", "open", False, None),
                ("Won", "won", True, None),
                ("Lost", "lost", True, None),
            ]
        ):
            Stage.objects.create(
                pipeline=made,
                name=name,
                position=position,
                kind=kind,
                contact_allowed=contact_allowed,
                stuck_after_days=stuck,
            )
    return made


def stage(name: str) -> Stage:
    return Stage.objects.get(pipeline=pipeline(), name=name)


def propose(action: str, subject: VersionedModel | None = None, *, by: User | Actor, **params: Any) -> Outcome:
    """Commit an action on the subject as it is in memory."""
    actor = by if isinstance(by, Actor) else actors.person(by)
    basis = (Read.of(subject),) if subject is not None else ()
    return gate.commit(Proposal(action=action, by=actor, params=params, basis=basis))


def deal(name: str = "Sensors for 14 cold rooms", *, owner: User | None = None, **params: Any) -> Opportunity:
    pipeline()
    owner = owner or alice()
    outcome = propose("opportunity.create", by=owner, name=name, owner=owner.pk, **params)
    assert outcome.written, outcome
    return Opportunity.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def contact(name: str = "Rui Amaro", **params: Any) -> Contact:
    outcome = propose("contact.create", by=alice(), name=name, **params)
    assert outcome.written, outcome
    return Contact.objects.get(pk=outcome.subject.pk)  # type: ignore[union-attr]


def at_version(deal: Opportunity, version: int, *, by: User | None = None) -> Opportunity:
    """Bring the deal to `version` by honest notes, one version each."""
    while deal.version < version:
        outcome = propose("opportunity.log", deal, by=by or alice(), kind="note", text=f"Note {deal.version}")
        assert outcome.written, outcome
        deal.refresh_from_db()
    return deal
