"""The registry: all that anybody, person or machine, can do to a subject.

Guarantees that agents, API, imports and screens can do only what is registered here, under the same checks.
An action's `check` speaks by raising GoalMet, RuleBroken or Clash (conflicts/exceptions.py); `apply` asks for writes on
the `Work` it gets. Next in the flow: `conflicts/gate.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects
from pydantic import BaseModel, ValidationError

from conflicts.actors import Actor
from conflicts.exceptions import BadParams, UnknownAction
from conflicts.messages import message
from conflicts.models.versioned import VersionedModel
from conflicts.policies import Authority
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.work import Work

AS_SHOWN = "fingerprint"
"""The param of an action that is about one content: the fingerprint of what its page showed."""


def _nothing(work: Work) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Action:
    name: str
    """`subject.verb`, for ever: it is stored."""
    subject: type[VersionedModel]
    params: type[BaseModel]
    words: Any
    """What a person reads ("Plan a task"), lazily translated."""
    apply: Callable[[Work], None]
    check: Callable[[Work], None] = _nothing
    """Runs on the locked subject, in force: goal met? rule broken?"""
    writes: Callable[[Any], Mapping[str, Any]] = lambda params: {}
    """Params -> field name -> proposed value, for the fields that are merged three ways."""
    writes_aspects: frozenset[str] = frozenset()
    """Child aspects this adds to; two additions do not clash."""
    permits: Callable[[Actor, Any], Sentence | None] = lambda actor, subject: None
    """Why this actor may not do it to this subject; None if it may."""
    records_fact: bool = False
    """Writes down what has happened outside, whatever the state in force: its basis may be unread (Read.unread)."""
    also: Callable[[Sequence[Work]], None] | None = None
    """Called in the transaction with the works that were written: for rows of no subject that must change with it."""
    creates: bool = False
    """Makes a new subject: needs no basis."""
    settles_as: str = "settled"
    """How a conflict that this decides is closed; empty for one that stays open (it was handed on)."""
    takes_authority: bool = True
    """Deciding a conflict by this takes the authority that the conflict needs."""
    authority: frozenset[Authority] = frozenset()
    """What a conflict about this takes, whatever its fields say (MergePolicy.authority)."""
    avoided: Sentence | None = None
    """What did not happen when this was not applied."""
    stands_on: Callable[[Any], Iterable[Ref]] = lambda params: ()
    """Params -> other records that the check looks at: locked with the subject, so that they stay as it saw them."""
    loads: tuple[Callable[[Sequence[Any]], None], ...] = ()
    """Functions that load, for all locked subjects of a batch at once, what check and apply look at."""

    @property
    def as_shown(self) -> bool:
        """It says yes, or no, to one content, as a page showed it: never to whatever is in force by now."""
        return AS_SHOWN in self.params.model_fields


_ACTIONS: dict[str, Action] = {}


def related(*names: str) -> Callable[[Sequence[Any]], None]:
    """For `Action.loads`: the objects behind these foreign keys, a query each."""

    def load(found: Sequence[Any]) -> None:
        prefetch_related_objects(list(found), *names)

    return load


def register(action: Action) -> Action:
    """Add an action. Raises ValueError if the name is taken: a stored name must never change its meaning."""
    if action.name in _ACTIONS:
        raise ValueError(f"The action {action.name!r} is already registered.")
    _ACTIONS[action.name] = action
    return action


def get(name: str) -> Action:
    """Raises UnknownAction."""
    try:
        return _ACTIONS[name]
    except KeyError:
        raise UnknownAction(f"There is no action {name!r}.") from None


def registered() -> Mapping[str, Action]:
    return dict(_ACTIONS)


def validate(action: Action, params: Mapping[str, Any]) -> BaseModel:
    """The params as the action's model. Raises BadParams with a sentence for each field that does not fit."""
    try:
        return action.params.model_validate(dict(params))
    except ValidationError as error:
        found: dict[str, list[str]] = {}
        for line in error.errors():
            name = str(line["loc"][0]) if line["loc"] else ""
            found.setdefault(name, []).append(message(line))
        raise BadParams(found) from None
