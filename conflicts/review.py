"""The desk: what the product says about conflicts that wait, and the kernel cannot know.

Guarantees that button, tooltip, list and gate ask the same question of the same place: what is at stake (`about`), what
authority it takes (`need_of`), whether somebody has it (`refuse`), who has (`who_can`), who is next up when time has
run out (`next_up`), and whether an agent can be asked again (`asked_again`).
Next in the flow: `conflicts/decisions.py`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from conflicts.actors import Actor
from conflicts.policies import Authority
from conflicts.sentences import Sentence

if TYPE_CHECKING:
    from conflicts.models import Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a decision asks of whoever makes it; empty for what everybody may decide."""

    amount: Decimal | None = None
    currency: str = ""
    discount: Decimal | None = None
    legal: bool = False

    def __bool__(self) -> bool:
        return self.amount is not None or self.discount is not None or self.legal

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.amount is not None:
            found |= {"amount": str(self.amount), "currency": self.currency}
        if self.discount is not None:
            found["discount"] = str(self.discount)
        return found | ({"legal": True} if self.legal else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Need":
        return cls(
            amount=number(data.get("amount")),
            currency=data.get("currency", ""),
            discount=number(data.get("discount")),
            legal=bool(data.get("legal")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is at stake with one record."""

    amount: Decimal | None = None
    currency: str = ""
    discount: Decimal | None = None
    team: int | None = None


class Desk:
    """What the product answers. This one answers for a product that has neither teams nor levels."""

    def about(self, subject: Any) -> About:
        return About()

    def refuse(self, by: Actor, need: Need, *, team: int | None = None) -> Sentence | None:
        """Why `by` may not decide what needs this; None if they may."""
        return None

    def who_can(self, need: Need, *, team: int | None = None) -> list[Any]:
        """The accounts that may decide it, the nearest authority first."""
        return []

    def next_up(self, record: "Conflict") -> Any:
        """The account that is asked when nobody has decided in time; None if there is nobody further up."""
        return None


_DESK: list[Desk] = [Desk()]


def staffed_by(desk: Desk) -> None:
    """The product's own desk takes the place of the empty one."""
    _DESK[0] = desk


def desk() -> Desk:
    return _DESK[0]


# ---- what it takes


def need_of(
    subject: Any, names: Iterable[str], *, proposed: Mapping[str, Any] | None = None, more: Iterable[Authority] = ()
) -> Need:
    """What deciding about these fields (or aspects) of `subject` takes, by its policy.

    An amount counts as the larger of the one in force and the one that is proposed; a discount likewise. `more`: what
    the action itself declares.
    """
    policy = type(subject).policy if subject is not None else None
    kinds = {policy.authority[name] for name in names if name in policy.authority} if policy else set()
    kinds |= set(more)
    if not kinds:
        return Need()
    about, wish = desk().about(subject), proposed or {}
    amount = stake(about.amount, wish.get("amount"))
    return Need(
        amount=amount if Authority.AMOUNT in kinds else None,
        currency=str(wish.get("currency") or about.currency)
        if Authority.AMOUNT in kinds and amount is not None
        else "",
        discount=stake(about.discount, wish.get("discount")) if Authority.DISCOUNT in kinds else None,
        legal=Authority.LEGAL in kinds,
    )


def stake(in_force: Decimal | None, proposed: Any) -> Decimal | None:
    known = [value for value in (in_force, number(proposed)) if value is not None]
    return max(known) if known else None


def number(value: Any) -> Decimal | None:
    """What was typed may be no number; then it is refused elsewhere, and nothing is at stake."""
    try:
        found = Decimal(str(value)) if value not in (None, "") else None
    except InvalidOperation:
        return None
    return found if found is not None and found.is_finite() else None


# ---- asking an agent again


type Again = Callable[["Conflict"], Sentence]
"""Looks anew at what the record is about, outside any transaction, and says what came of it."""

_AGAIN: list[tuple[Callable[["Conflict"], bool], Again]] = []


def answers_again(handles: Callable[["Conflict"], bool], again: Again) -> None:
    """Register who is asked again about records that `handles` is true of."""
    if (handles, again) not in _AGAIN:
        _AGAIN.append((handles, again))


def asked_again(record: "Conflict") -> Again | None:
    return next((again for handles, again in _AGAIN if handles(record)), None)
