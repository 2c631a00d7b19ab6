"""Who: a person, an agent run, an integration or the system itself; stamped on every change.

Guarantees one text form, `kind:key:name`, that the database keeps beside each version. It holds the name as it was
then and no foreign key, so that a history never blocks, and never changes with, the account it speaks of.
Next in the flow: `conflicts/guard.py`, which stamps it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    INTEGRATION = "integration"
    SYSTEM = "system"


LONGEST = 200
"""Characters that every column for an actor holds."""


@dataclass(frozen=True, slots=True)
class Actor:
    """`key` is stable (an account's id, an agent's slug); `name` is what a reader sees."""

    kind: Kind
    key: str
    name: str
    account: Any = field(default=None, compare=False, repr=False)
    """The signed-in account, where there is one: permissions are asked of it, nothing of it is stored."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}:{self.name}"[
            :LONGEST
        ]  # cut in one place, or a long name would refuse its own evidence

    @classmethod
    def parse(cls, text: str) -> "Actor":
        """The actor that wrote `text`. Whatever did not come through the gate reads as the system."""
        kind, _, rest = text.partition(":")
        key, _, name = rest.partition(":")
        if kind not in Kind._value2member_map_:
            return cls(Kind.SYSTEM, "", text)
        return cls(Kind(kind), key, name)

    @property
    def shown(self) -> str:
        """The name as the reader says it: agents and integrations are called by their job, in the reader's language."""
        return said(self.name)

    @property
    def is_person(self) -> bool:
        return self.kind == Kind.PERSON

    def same_as(self, other: "Actor") -> bool:
        """True for the same account, whatever it was called at the time."""
        return (self.kind, self.key) == (other.kind, other.key)


def person(user: Any) -> Actor:
    """The actor for a signed-in account."""
    return Actor(Kind.PERSON, str(user.pk), user.get_full_name() or user.get_username(), user)


_SAID: dict[str, Any] = {}
"""The job's name as it is stored -> its words, translated where they are shown."""


def said(name: str) -> str:
    """A stored name in the reader's language. People's names are nobody's to translate."""
    return str(_SAID.get(name, name))


def agent(key: str, name: str, *, words: Any = None) -> Actor:
    """`words`: the name again, marked for translation."""
    return _called(Actor(Kind.AGENT, key, name), words)


def integration(key: str, name: str, *, words: Any = None) -> Actor:
    """`words`: as of an agent."""
    return _called(Actor(Kind.INTEGRATION, key, name), words)


def _called(actor: Actor, words: Any) -> Actor:
    if words is not None:
        _SAID[actor.name] = words
    return actor


SYSTEM = Actor(Kind.SYSTEM, "vigente", "Vigente")
