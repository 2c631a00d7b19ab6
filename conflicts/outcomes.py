"""Outcome: what the gate answers. A value, never an exception, so that its record is committed with it."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from conflicts.refs import Ref
from conflicts.sentences import Sentence


class Result(StrEnum):
    APPLIED = "applied"
    """On exactly the version that was read."""
    REBASED = "rebased"
    """The subject had moved, but nothing the proposal rested on or wrote."""
    MERGED = "merged"
    """The same field had moved; the model's policy put both together."""
    DUPLICATE = "duplicate"
    """Already done under this idempotency key; `outcome.first` is the first answer."""
    SUPERSEDED = "superseded"
    """The world has made it needless."""
    CONFLICT = "conflict"
    """A person or a fresh look must decide."""
    REFUSED = "refused"
    """A rule forbids it."""


WRITTEN = frozenset({Result.APPLIED, Result.REBASED, Result.MERGED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field that could not be settled, in plain values."""

    field: str
    base: Any
    current: Any
    proposed: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One aspect of a subject that moved after it was read, and who moved it."""

    subject: Ref
    aspect: str
    """A field's name, or the aspect of a child (`tasks`, `activities`)."""
    old: Any
    new: Any
    by: str
    """The text form of an Actor."""
    at: str
    """ISO time, UTC, by the database's clock."""
    version: int

    def as_json(self) -> dict[str, Any]:
        return {
            "subject": str(self.subject),
            "aspect": self.aspect,
            "old": self.old,
            "new": self.new,
            "by": self.by,
            "at": self.at,
            "version": self.version,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    result: Result
    subject: Ref | None = None
    version: int | None = None
    """The version in force after the commit (the one found, where nothing was written)."""
    sentence: Sentence | None = None
    moved: tuple[Change, ...] = ()
    """All that changed between the version read and the version found."""
    differences: tuple[Difference, ...] = ()
    """With CONFLICT: base / current / proposed of each field that clashed."""
    created: dict[str, int] = field(default_factory=dict)
    """Keys of the rows made, by model (`crm.task`)."""
    record: int | None = None
    """The conflict record that keeps the evidence."""
    state: str = ""
    """With CONFLICT and SUPERSEDED: one of the eight states of `conflicts.models.State`."""
    first: "Outcome | None" = None
    unchanged: bool = False
    """With APPLIED: everything was so already, nothing was written."""

    @property
    def written(self) -> bool:
        return self.result in WRITTEN and not self.unchanged

    @property
    def done(self) -> bool:
        """What was wished is so now: written, or so already."""
        return self.settled.result in WRITTEN

    @property
    def settled(self) -> "Outcome":
        """The answer that counts: the first one, where this is a repetition."""
        return self.first or self

    def as_json(self) -> dict[str, Any]:
        return {
            "result": self.result.value,
            "subject": str(self.subject) if self.subject else None,
            "version": self.version,
            "sentence": self.sentence.as_json() if self.sentence else None,
            "created": self.created,
            "record": self.record,
            "state": self.state,
            "unchanged": self.unchanged,
            "moved": [change.as_json() for change in self.moved],
            "differences": [
                {
                    "field": d.field,
                    "base": d.base,
                    "current": d.current,
                    "proposed": d.proposed,
                }
                for d in self.differences
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Outcome":
        return cls(
            result=Result(data["result"]),
            subject=Ref.parse(data["subject"]) if data["subject"] else None,
            version=data["version"],
            sentence=Sentence.from_json(data["sentence"]) if data["sentence"] else None,
            created=data["created"],
            record=data["record"],
            state=data["state"],
            unchanged=data["unchanged"],
            moved=tuple(Change(**{**change, "subject": Ref.parse(change["subject"])}) for change in data["moved"]),
            differences=tuple(Difference(**difference) for difference in data["differences"]),
        )

    def again(self) -> "Outcome":
        """This answer, given once more under the same idempotency key."""
        return replace(self, result=Result.DUPLICATE, first=self)
