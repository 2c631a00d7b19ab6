"""Proposal: a typed wish to change a subject, with all that it rests on. A value; nothing is written by making one."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conflicts.actors import Actor
from conflicts.exceptions import MissingVersion
from conflicts.leases import Claim
from conflicts.models.versioned import VersionedModel
from conflicts.refs import Ref
from conflicts.values import Value, plain, read

LONGEST_KEY = 255


UNREAD = -1
"""In place of a version: nothing was read. Only for an action that records what has happened (Action.records_fact)."""

LONGEST_KEY = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """One subject of a basis: at which version it was read, and the fields the decision rests on (the read set)."""

    subject: Ref
    version: int
    values: Mapping[str, Value] = field(default_factory=dict)
    """Field name -> value as read, in plain form."""
    aspects: frozenset[str] = frozenset()
    """Child aspects the decision rests on ("there was no open task": `tasks`)."""

    @classmethod
    def of(cls, obj: VersionedModel, *names: str) -> "Read":
        """What `obj` says now. Names that are not fields are taken for child aspects."""
        fields = [name for name in names if name in obj.content_fields()]
        return cls(
            subject=Ref.of(obj),
            version=obj.version,
            values=read(obj, fields),
            aspects=frozenset(names) - frozenset(fields),
        )

    @classmethod
    def unread(cls, subject: Ref) -> "Read":
        """The subject of a fact from outside (a customer's message): true whatever our rows say."""
        return cls(subject=subject, version=UNREAD)

    def as_json(self) -> dict[str, Any]:
        return {
            "subject": str(self.subject),
            "version": self.version,
            "values": dict(self.values),
            "aspects": sorted(self.aspects),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Read":
        return cls(
            subject=Ref.parse(data["subject"]),
            version=data["version"],
            values=data["values"],
            aspects=frozenset(data["aspects"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """A person's yes to exactly one content, under the rules in force when it was given, for as long as it lasts.

    That it is used once is its row's matter: whoever keeps it marks it used in `settle`, in the effect's transaction.
    """

    by: Actor
    fingerprint: str
    """Of the proposal that was shown (Proposal.fingerprint)."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """Model -> `MergePolicy.mark` when it was given; a model that is missing is not asked about."""
    expires_at: dt.datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    action: str
    by: Actor
    params: Mapping[str, Any] = field(default_factory=dict)
    basis: tuple[Read, ...] = ()
    """The first is the subject to be written; empty only for an action that makes a new subject."""
    key: str = ""
    """Idempotency key, at most LONGEST_KEY characters; derived from the unit of work, never from the attempt."""
    reason: str = ""
    source: str = ""
    """Where the wish came from (`board`, `import:deals.csv:17`, `recommendation:12`)."""
    approval: Approval | None = None
    lease: Claim | None = None
    """The lease under which this is done; refused when it is no longer in force."""
    settles: int | None = None
    """The conflict record that this decides about."""
    settles_at: int | None = None
    """The revision of that record that was shown; None for a form that shows none (a person's own clash)."""

    def __post_init__(self) -> None:
        if any(read.version < 1 and read.version != UNREAD for read in self.basis):
            raise MissingVersion

    @property
    def key_can_be_kept(self) -> bool:
        """False for a key that no row can hold; the gate refuses it, with a record (a key comes from outside)."""
        return len(self.key) <= LONGEST_KEY and "\x00" not in self.key

    @property
    def subject(self) -> Ref | None:
        return self.basis[0].subject if self.basis else None

    @property
    def fingerprint(self) -> str:
        """Hash of the content: action, subjects with versions, params. The same wish has the same fingerprint."""
        content = [
            self.action,
            [(str(r.subject), r.version) for r in self.basis],
            plain(dict(self.params)),
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def subjects(proposals: Iterable[Proposal]) -> list[Ref]:
    """Every subject the proposals rest on, once, in the order in which rows are locked."""
    return sorted({read.subject for proposal in proposals for read in proposal.basis})
