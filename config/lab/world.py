"""The world in which races are run: two salespeople, their manager, a pipeline, and as many fresh deals as are wanted.

Guarantees that everything in it was made through the gate, as the product makes it, and that one scenario leaves
nothing to the next. Next in the flow: `config/lab/running.py`.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from conflicts import actors, gate, guard
from conflicts.actors import Actor
from conflicts.proposals import Proposal
from conflicts.refs import Ref
from crm.models import Opportunity, Pipeline, Stage, Team, User
from crm.models.user import Role

AGENT = actors.agent("follow-up", "Follow-up agent")
PLANNER = actors.agent("planner", "Planning agent")
SYNC = actors.integration("erp", "ERP")
SOON, LATER = dt.date(2041, 3, 5), dt.date(2041, 3, 8)
"""Days far ahead, so that no race depends on the day it runs on."""

STAGES = [("New", "open"), ("Proposal", "open"), ("Won", "won"), ("Lost", "lost")]
KEPT = {"django_migrations", "django_content_type", "auth_permission"}


@dataclass(frozen=True, kw_only=True)
class World:
    alice: User
    bob: User
    manager: User
    stages: dict[str, Stage]

    def deals(self, count: int, **params: Any) -> list[Ref]:
        """New deals of Alice's, at version 1."""
        wishes = [
            Proposal(
                action="opportunity.create",
                by=actors.SYSTEM,
                params={"name": f"Deal {number}", "owner": self.alice.pk, "amount": "100", **params},
            )
            for number in range(count)
        ]
        return [outcome.subject for outcome in gate.commit_many(wishes) if outcome.subject]


def build() -> World:
    team = Team.objects.create(name="North")
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        pipeline = Pipeline.objects.create(name="Sales", is_default=True)
        stages = [
            Stage.objects.create(pipeline=pipeline, name=name, position=position, kind=kind)
            for position, (name, kind) in enumerate(STAGES)
        ]
    return World(
        alice=_user("alice", "Alice", team),
        bob=_user("bob", "Bob", team),
        manager=_user("manuela", "Manuela", team, Role.MANAGER),
        stages={stage.name: stage for stage in stages},
    )


def _user(username: str, first: str, team: Team, role: Role = Role.SALESPERSON) -> User:
    return User.objects.create(username=username, first_name=first, team=team, role=role)


def empty() -> None:
    """Take every row away, in a database that is the lab's own."""
    tables = sorted(set(connection.introspection.django_table_names(only_existing=True)) - KEPT)
    quoted = ", ".join(connection.ops.quote_name(table) for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {quoted} CASCADE")


def person(user: User) -> Actor:
    return actors.person(user)


def load(ref: Ref) -> Opportunity:
    """The deal as it is now."""
    return Opportunity.objects.get(pk=ref.pk)
