"""The office of the replay: the log's writers as accounts, its states as stages, its cases as deals.

Guarantees that the log's words become the product's own (stage, owner, company, amount, tag), by its own actions.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction

from config.lab import world
from config.lab.log import FIELDS, Save
from conflicts import actors, gate, guard
from conflicts.actors import Actor
from conflicts.proposals import Proposal
from conflicts.refs import Ref
from crm.models import Opportunity, Pipeline, Stage, User
from crm.models.pipeline import StageKind

CLOSED = "Closed"
NAMES = {
    "state": "stage",
    "assigned_to": "owner",
    "assignment_group": "company",
    "priority": "amount",
    "made_sla": "tags",
}
"""Column of the log -> field of a deal."""
RELATIONS = {"stage", "owner", "company"}
PROMISE = {"true": ["promise kept"], "false": ["promise missed"]}


class Office:
    def __init__(self, cases: list[list[Save]]) -> None:
        world.empty()
        rows = [save.row for case in cases for save in case]
        self.stages = self._stages({row["state"] for row in rows})
        people = {row["assigned_to"] for row in rows} | {s.actor for case in cases for s in case if not s.automatic}
        User.objects.bulk_create([User(username=name, first_name=name) for name in sorted(people - {""})])
        self.people = {user.username: user for user in User.objects.all()}
        groups = sorted({row["assignment_group"] for row in rows} - {""})
        self.groups = dict(zip(groups, _made("company.create", [{"name": name} for name in groups]), strict=True))
        self.actors = {name: actors.person(user) for name, user in self.people.items()}
        made = _made("opportunity.create", [{"name": case[0].case, **self.values(case[0].row)} for case in cases])
        self.deals = {case[0].case: ref for case, ref in zip(cases, made, strict=True)}

    def _stages(self, names: Iterable[str]) -> dict[str, Stage]:
        with transaction.atomic():
            guard.sign(actors.SYSTEM)
            pipeline = Pipeline.objects.create(name="Cases", is_default=True)
            return {
                name: Stage.objects.create(
                    pipeline=pipeline,
                    name=name,
                    position=position,
                    kind=StageKind.WON if name == CLOSED else StageKind.OPEN,
                )
                for position, name in enumerate(sorted(names))
            }

    def actor(self, save: Save) -> Actor:
        return actors.integration(save.actor, "Scheduled job") if save.automatic else self.actors[save.actor]

    def values(self, columns: Mapping[str, str]) -> dict[str, Any]:
        """Fields of a deal, as params of an action, for columns of the log."""
        return {NAMES[name]: self._value(name, text) for name, text in columns.items() if name in NAMES}

    def _value(self, name: str, text: str) -> Any:
        match name:
            case "state":
                return self.stages[text].pk
            case "assigned_to":
                return self.people[text].pk if text else None
            case "assignment_group":
                return self.groups[text].pk if text else None
            case "priority":
                return str(Decimal(text or 0))
        return PROMISE.get(text, [])

    def parts(self, save: Save) -> list[tuple[str, dict[str, Any]]]:
        """The acts of one save: a move, an edit, or a note on what the log does not show."""
        values = self.values(save.changed)
        stage = values.pop("stage", None)
        parts: list[tuple[str, dict[str, Any]]] = []
        if stage is not None:
            parts.append(("opportunity.move", {"stage": stage}))
        if values:
            parts.append(("opportunity.edit", values))
        return parts or [("opportunity.log", {"kind": "note", "text": f"save {save.place}"})]

    def fill(self, deal: Opportunity, columns: Mapping[str, str]) -> None:
        """As a form fills a record in memory."""
        for name, value in self.values(columns).items():
            setattr(deal, f"{name}_id" if name in RELATIONS else name, value)
        if "state" in columns:
            closed = columns["state"] == CLOSED
            deal.status, deal.closed_on = ("won", world.SOON) if closed else ("open", None)

    def whole_form(self) -> tuple[str, ...]:
        return (*(NAMES[name] for name in FIELDS), "status", "closed_on")


def _made(action: str, wishes: list[dict[str, Any]]) -> list[Ref]:
    outcomes = gate.commit_many([Proposal(action=action, by=actors.SYSTEM, params=params) for params in wishes])
    return [outcome.subject for outcome in outcomes if outcome.subject]
