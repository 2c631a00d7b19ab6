"""One row of each guarded table, built through the gate, and how a test takes the guard away to prove itself.

`bare` rows have nothing under them, so that a delete is refused by the guard and not by a foreign key.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import DatabaseError, connection, models, transaction

from conflicts.checks import guarded_models
from conflicts.guard import RuleGuard, triggers
from conflicts.models import AuthorityLevel, ChildModel, Conflict, Decision, VersionedModel
from crm.models import (
    AccessRequest,
    Activity,
    ChannelAccount,
    Company,
    Consent,
    Contact,
    ContactPoint,
    Contract,
    ContractDecision,
    ContractLine,
    Conversation,
    Document,
    Installment,
    Invoice,
    Message,
    MessageTemplate,
    Opportunity,
    Participant,
    Payment,
    Pipeline,
    Product,
    Reservation,
    Stage,
    StockItem,
    Task,
    Ticket,
    TicketNote,
)
from tests import cast, chatting, governed, papers

SUBJECTS: list[type[VersionedModel]] = [m for m in guarded_models() if issubclass(m, VersionedModel)]
CHILDREN: list[type[ChildModel]] = [m for m in guarded_models() if issubclass(m, ChildModel)]

TEXT: dict[type[models.Model], str] = {
    AccessRequest: "decision_note",
    Activity: "text",
    AuthorityLevel: "note",
    ChannelAccount: "name",
    Company: "sector",
    Consent: "source",
    Contact: "job_title",
    ContactPoint: "label",
    Contract: "reason",
    ContractDecision: "reason",
    ContractLine: "description",
    Conversation: "title",
    Decision: "note",
    Document: "remark",
    Installment: "reason",
    Invoice: "reason",
    Message: "text",
    MessageTemplate: "approved_as",
    Opportunity: "decision",
    Participant: "role",
    Payment: "reason",
    Pipeline: "name",
    Product: "series",
    Reservation: "note",
    Stage: "name",
    StockItem: "location",
    Task: "title",
    Ticket: "resolution",
    TicketNote: "text",
}
"""A field of plain text in each, for a test to overwrite. A guarded model without one fails `test_guard.py`."""


def build() -> None:
    """Two of each subject, a child in one of them. Committed by the caller."""
    for name in ("Cold Chain Ltd", "Warm Chain Ltd"):
        cast.propose("company.create", by=cast.alice(), name=name)
    for name in ("PT-1000", "PT-2000"):
        cast.propose("product.create", by=cast.manager(), name=name, currency="BRL")
    for role in ("salesperson", "manager"):
        cast.propose("authority.create", by=cast.administrator(), role=role, amount="1000", currency="BRL")
    address = {"kind": "email", "value": "rui@example.org"}
    person = cast.contact("Rui Amaro", addresses=[address])
    cast.propose("contact.state_consent", person, by=cast.alice(), channel="email", status="granted", source="form")
    cast.contact("Inês Prado")
    busy, _ = cast.deal("Busy deal"), cast.deal("Quiet deal")
    cast.propose("opportunity.plan_task", busy, by=cast.alice(), title="Call back", due_on=cast.TUESDAY)
    busy.refresh_from_db()
    cast.propose("opportunity.log", busy, by=cast.alice(), kind="note", text="Asked for a price")
    papers.approved()
    papers.contract(lines=[])
    cast.propose(
        "invoice.record_payment", papers.invoice(), by=cast.alice(), provider="bank", payment="tx-1", amount="600"
    )
    governed.reserve(governed.item("Door sensor"), opportunity=busy.pk)
    governed.item("Cold room controller")
    asked = governed.ticket("The door sensor is silent")
    cast.propose("ticket.note", asked, by=cast.alice(), text="Which room?")
    governed.ticket("Another one")
    shop = chatting.account()
    talk = chatting.writes("Do you rent sensors?")
    cast.propose("conversation.note", talk, by=cast.alice(), text="Ask the South")
    cast.propose("conversation.open", by=cast.alice(), account=shop.pk, contact=person.pk, peer="rui")
    chatting.account(address="other-shop")
    for slug in ("greeting", "status"):
        words = {"slug": slug, "name": slug, "text": "Hello {contact}", "language": "en"}
        cast.propose("template.create", by=cast.manager(), **words)
    governed.ask()
    governed.ask(by=cast.alice(), team=cast.team("South").pk)
    with transaction.atomic():
        for reason in ("still_right", "agreed"):
            record = Conflict.objects.create(
                action="opportunity.edit", rule=reason, sentence={"code": "gone", "facts": {}}
            )
            Decision.objects.create(conflict=record, kind="drop", reason=reason, revision=1)
        busy.refresh_from_db()
        busy.save()
        Participant.objects.create(opportunity=busy, contact=person)
        Pipeline.objects.create(name="Renewals")
        Invoice.objects.create(name="bare", name_key="bare", company=papers.company(), amount=1, issued_on=papers.DUE)
    cast.contact("Nobody writes to them")  # the newest contact is bare: the others have conversations


def bare(model: type[VersionedModel]) -> VersionedModel:
    """The newest row, which has no children."""
    return model._base_manager.latest("pk")  # type: ignore[no-any-return]


def child(model: type[ChildModel]) -> ChildModel:
    return model._base_manager.latest("pk")  # type: ignore[no-any-return]


def parent_of(row: ChildModel) -> VersionedModel:
    return getattr(row, row.subject_field)  # type: ignore[no-any-return]


def table(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def execute(sql: str, params: list[Any] | None = None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.rowcount


def in_force(row: models.Model) -> tuple[Any, ...] | None:
    """Every column as the database has it, whatever the object in memory says; None if the row is gone."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table(type(row))} WHERE id = %s", [row.pk])
        return cursor.fetchone()


def sqlstate(error: BaseException) -> str:
    return str(getattr(error.__cause__, "sqlstate", ""))


@contextmanager
def without_guard(*tables: type[models.Model]) -> Iterator[None]:
    """The mutation: the same write with the database's guard taken out, inside the test's own transaction."""
    names: list[tuple[str, str]] = []
    with connection.cursor() as cursor:
        for model in tables:
            cursor.execute(
                "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'pgtrigger_guard_%%'",
                [table(model)],
            )
            names += [(table(model), name) for (name,) in cursor.fetchall()]
    assert len(names) == len(tables)
    rules = [(model, rule) for model in tables for rule in triggers(model) if isinstance(rule, RuleGuard)]
    names += [(table(model), rule.get_pgid(model)) for model, rule in rules]
    # ALTER TABLE wants no foreign key left to be checked at the end of the transaction.
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    for where, name in names:
        execute(f"ALTER TABLE {where} DISABLE TRIGGER {name}")
    yield
    for where, name in names:
        execute(f"ALTER TABLE {where} ENABLE TRIGGER {name}")


@contextmanager
def refused(*codes: str) -> Iterator[None]:
    """The block must be refused by the guard, with one of its SQLSTATEs."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic():
        yield
    assert sqlstate(caught.value) in codes, caught.value
