"""How the sample workspace gets into an empty database: one transaction, every record through the gate."""

import datetime as dt
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import Permission
from django.db import connection, transaction

from conflicts import actors, guard
from conflicts.refs import Ref
from crm.clock import today_for, zone_of
from crm.models import Company, Contact, Opportunity, Pipeline, Stage, Team, User
from crm.models.user import Role
from crm.sample import clashes, conversations, papers, service
from crm.sample.deals import DEALS, Deal, Event
from crm.sample.desk import Desk
from crm.sample.people import LOGINS, PEOPLE, PIPELINE, PRODUCTS, STAGES, TEAMS
from crm.sample.records import FIRMS, HUMANS, Human

LOCK = 0x56_47_53_41
"""Of the whole database: two that load at once would both find it empty."""


class NotEmpty(Exception):
    """There are people or records in the database already."""


def load(*, now: dt.datetime) -> dict[str, int]:
    """Load it, as it looks on the day of `now`; what was made, by kind. Raises NotEmpty."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        if any(model._base_manager.exists() for model in (User, Team, Company, Contact, Opportunity, Pipeline)):
            raise NotEmpty
        people = _people()
        stages = _pipeline()
        desk = Desk(people)
        products = _products(desk)
        companies = _companies(desk)
        contacts = _contacts(desk, companies=companies, now=now)
        for deal in DEALS:
            _Story(desk, deal, today=today_for(None, now=now), now=now).tell(
                company=companies[deal.company],
                contact=contacts.get(deal.contact),
                product=products[deal.product],
                stages=stages,
            )
        conversations.tell(desk, stages=stages)
        clashes.tell(desk)
        papers.tell(desk, companies=companies, products=products, today=today_for(None, now=now), now=now)
        service.tell(desk, companies=companies, contacts=contacts, products=products, now=now)
    return {"people": len(people), "companies": len(companies), "contacts": len(contacts), "deals": len(DEALS)}


def _people() -> dict[str, User]:
    teams = {name: Team.objects.create(name=name, region=region) for name, region in TEAMS.items()}
    passwords = {username: password for _, username, password in LOGINS}
    people: dict[str, User] = {}
    for person in PEOPLE:
        user = User(
            username=person.username,
            first_name=person.first,
            last_name=person.last,
            email=f"{person.username}@geada.example",
            role=person.role,
            team=teams[person.team],
            is_staff=person.role != Role.SALESPERSON,
            is_superuser=person.role == Role.ADMINISTRATOR,
        )
        user.set_password(passwords.get(person.username))  # none: cannot sign in
        user.save()
        if person.role == Role.MANAGER:
            user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
        people[person.username] = user
    return people


def _pipeline() -> dict[str, int]:
    guard.sign(actors.SYSTEM)
    pipeline = Pipeline.objects.create(name=PIPELINE, is_default=True)
    stages = (
        Stage.objects.create(pipeline=pipeline, position=position, **step._asdict())
        for position, step in enumerate(STAGES)
    )
    return {stage.name: stage.pk for stage in stages}


def _products(desk: Desk) -> dict[str, int]:
    return {
        name: desk.make("product.create", who="clara", name=name, series=series, price=price).pk
        for name, series, price in PRODUCTS
    }


def _companies(desk: Desk) -> dict[str, int]:
    made: dict[str, int] = {}
    for firm in FIRMS:  # a parent stands before its parts
        made[firm.name] = desk.make(
            "company.create",
            who=firm.owner,
            name=firm.name,
            sector=firm.sector,
            location=firm.location,
            website=f"{firm.name.split()[0].lower()}.example",
            employees=firm.employees,
            founded=firm.founded,
            owner=desk.people[firm.owner].pk,
            parent=made.get(firm.parent),
            tags=list(firm.tags),
            note=firm.note,
        ).pk
    return made


def _contacts(desk: Desk, *, companies: dict[str, int], now: dt.datetime) -> dict[str, int]:
    made: dict[str, int] = {}
    for human in HUMANS:
        who = human.owner or "lia"
        contact = desk.make(
            "contact.create",
            who=who,
            name=human.name,
            company=companies.get(human.company),
            job_title=human.job,
            language=human.language,
            owner=desk.people[human.owner].pk if human.owner else None,
            blocked=human.blocked,
            tags=list(human.tags),
            note=human.note,
            addresses=_addresses(human),
        )
        made[human.name] = contact.pk
        for yes in sorted(human.said, key=lambda yes: -yes.days_ago):
            desk.do(
                "contact.state_consent",
                contact,
                who=who,
                channel=yes.channel,
                status=yes.status,
                source=yes.source,
                at=now - dt.timedelta(days=yes.days_ago),
            )
    return made


def _addresses(human: Human) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if human.email and human.company:
        found.append({"kind": "email", "value": human.address(), "is_primary": True})
    if human.phone:
        found.append(
            {"kind": "phone", "value": human.phone, "label": "mobile" if " 95550" in human.phone else "office"}
        )
    return found


class _Story:
    """One deal, told from its first day to today."""

    def __init__(self, desk: Desk, deal: Deal, *, today: dt.date, now: dt.datetime) -> None:
        self.desk, self.deal, self.today, self.now = desk, deal, today, now
        self.tasks: dict[str, int] = {}
        self.subject: Ref | None = None

    def tell(self, *, company: int, contact: int | None, product: int, stages: dict[str, int]) -> None:
        deal = self.deal
        self.subject = self.desk.make(
            "opportunity.create",
            who=deal.owner,
            name=deal.name,
            company=company,
            contact=contact,
            product=product,
            stage=stages["New"],
            amount=deal.amount,
            owner=self.desk.people[deal.owner].pk,
            opened_on=self._day(deal.path[0]),
            expected_close=None if deal.closes is None else self._day(deal.closes),
            decision=deal.decision,
            tags=list(deal.tags),
        )
        for event in sorted([*deal.events, *self._moves(stages)], key=lambda event: event.day):
            self._happen(event)

    def _moves(self, stages: dict[str, int]) -> list[Event]:
        names = [step.name for step in STAGES if step.kind == "open"]
        reached = names[: len(self.deal.path)]
        if self.deal.lost or self.deal.won:
            reached = [*names[: len(self.deal.path) - 1], "Lost" if self.deal.lost else "Won"]
        return [
            Event(day, self.deal.owner, "move", {"stage": stages[name], "reason": self.deal.lost, "on": self._day(day)})
            for (_, name), (_, day) in zip(pairwise(reached), pairwise(self.deal.path), strict=True)
        ]

    def _happen(self, event: Event) -> None:
        assert self.subject is not None
        params = dict(event.params)
        title = params.get("title", "")
        match event.verb:
            case "log":
                params["at"] = self._moment(event.day, "10:20" if params["kind"] == "call" else "16:05")
            case "plan_task":
                due, at, owner = params.pop("due"), params.pop("at"), params.pop("owner")
                params["due_on"] = None if due is None else self._day(due)
                params["due_at"] = self._moment(due, at, past=False) if at else None
                params["owner"] = self.desk.people[owner].pk if owner else None
            case "complete_task":
                params = {"task": self.tasks[title]}
            case "edit" if "closes" in params:
                params = {"expected_close": self._day(params["closes"])}
        outcome = self.desk.do(f"opportunity.{event.verb}", self.subject, who=event.who, **params)
        if event.verb == "plan_task":
            self.tasks[title] = outcome.created["crm.task"]

    def _day(self, offset: int) -> dt.date:
        return self.today + dt.timedelta(days=offset)

    def _moment(self, offset: int, clock: str, *, past: bool = True) -> dt.datetime:
        moment = dt.datetime.combine(self._day(offset), dt.time.fromisoformat(clock), tzinfo=zone_of(None))
        return min(moment, self.now) if past else moment
