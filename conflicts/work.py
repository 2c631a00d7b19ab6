"""Work: what an action's checks and `apply` see, and the writes they ask for. Nothing reaches the database from here.

Guarantees that an action can only describe its writes; the gate carries them out, many subjects at once where it can,
raising each subject's version by exactly one. Next in the flow: `conflicts/writing.py`.
"""

import datetime as dt
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from django.db import models

from conflicts.actors import Actor
from conflicts.models.versioned import ChildModel, VersionedModel
from conflicts.outcomes import Change, Difference, Result
from conflicts.proposals import Proposal
from conflicts.refs import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """An effect outside, to be written to the outbox."""

    destination: str
    key: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Work on the subject that is to be done after the commit, or later."""

    kind: str
    key: str
    payload: dict[str, Any]
    due_at: dt.datetime | None = None
    after: float = 0.0
    subject: Ref | None = None
    """Of another subject than the action's: then it waits for that one's work only."""


@dataclass(kw_only=True)
class Work:
    proposal: Proposal
    params: Any
    """The validated params model of the action."""
    now: dt.datetime
    """The database's clock, read once for the transaction."""
    subject: Any = None
    """The locked subject, in force; None where the action makes a new one."""
    basis: dict[Ref, Any] = field(default_factory=dict)
    """Every subject of the basis, locked, in force."""
    record: Any = None
    """The conflict that this decides about, locked; None where it decides about none (or it is gone)."""
    moved: tuple[Change, ...] = ()
    """All that changed in them since they were read."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """What checks looked up, shared by all the works of one transaction, so that a batch asks once."""
    writes: dict[str, Any] = field(default_factory=dict)
    """The fields the action wants to set, after merging."""

    states: dict[Ref, Any] = field(default_factory=dict)
    """The state of every subject that has one, as it was locked."""
    result: Result = Result.APPLIED
    differences: tuple[Difference, ...] = ()
    overruled: set[str] = field(default_factory=set)
    """Fields in which the merge policy kept the other author's value."""
    changes: dict[str, Any] = field(default_factory=dict)
    added: list[models.Model] = field(default_factory=list)
    changed: list[tuple[ChildModel, dict[str, Any]]] = field(default_factory=list)
    effects: list[Send | Later] = field(default_factory=list)

    def once[T](self, key: Hashable, look_up: Callable[[], T]) -> T:
        """`look_up()`, asked once in this transaction; only for what no action of the batch changes."""
        if key not in self.memo:
            self.memo[key] = look_up()
        return self.memo[key]  # type: ignore[no-any-return]

    @property
    def by(self) -> Actor:
        return self.proposal.by

    def new(self, subject: VersionedModel) -> None:
        """Make this the new subject (only for an action without one)."""
        assert self.subject is None, "This action has a subject already."
        self.subject = subject
        self.added.append(subject)

    def set(self, **values: Any) -> None:
        """Change fields of the subject; a relation takes the key. `work.subject` shows them at once."""
        for name, value in values.items():
            attname = self.subject._meta.get_field(name).attname
            setattr(self.subject, attname, value)
            self.changes[attname] = value

    def add(self, child: ChildModel) -> None:
        """A new row inside the subject."""
        self.added.append(child)

    def change(self, child: ChildModel, **values: Any) -> None:
        """Change fields of a row inside the subject."""
        for name, value in values.items():
            setattr(child, name, value)
        self.changed.append((child, values))

    def send(self, destination: str, payload: dict[str, Any], *, key: str) -> None:
        """An effect outside: a row in the outbox if, and only if, this is applied (conflicts/delivery.py)."""
        self.effects.append(Send(destination=destination, key=key, payload=payload))

    def later(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        key: str,
        due_at: dt.datetime | None = None,
        after: float = 0.0,
        subject: Ref | None = None,
    ) -> None:
        """A job on the subject, or on another one: a row if, and only if, this is applied (conflicts/jobs.py)."""
        self.effects.append(Later(kind=kind, key=key, payload=payload, due_at=due_at, after=after, subject=subject))
