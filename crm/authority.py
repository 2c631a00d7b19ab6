"""How far somebody may decide: amounts, discounts and legal terms, by role. One rule, asked by everybody.

    limit_of(user)                   what the person may decide
    refusal(by, need)                why not, in a sentence that names who can; None if they may (button and tooltip)
    has_authority(by, need)          the same as a yes or no
    check_authority(by, need)        the same, raised as the gate wants it (an action's check)
    who_can(need, team=...)          those who may, the nearest first
    need_of(subject, "amount", ...)  what deciding about these fields takes, by the model's policy

Levels are rows that administrators change through the gate (crm/actions/authority.py); a role without a row has the
level below. An amount in another currency than the level's is for those without limit: no rate stands here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from conflicts import actors, review, sentences
from conflicts.actors import Actor, Kind
from conflicts.exceptions import RuleBroken
from conflicts.models import AuthorityLevel
from conflicts.review import Need, need_of
from conflicts.sentences import Sentence
from crm.models import User
from crm.models.user import Role

__all__ = ["Limit", "Need", "check_authority", "has_authority", "limit_of", "need_of", "refusal", "who_can"]

RANK = {Role.SALESPERSON: 0, Role.MANAGER: 1, Role.ADMINISTRATOR: 2}
NAMED = 3
"""So many of those who can are named; the others are no help to a reader."""

sentences.register(
    {
        "beyond_amount": _("{amount} is more than you may decide about ({limit}). {who} can."),
        "beyond_currency": _("{amount} is in another currency than your level. {who} can decide."),
        "beyond_discount": _("A discount of {discount} % is more than you may give ({limit} %). {who} can."),
        "beyond_legal": _("This is about legal terms. {who} can decide it."),
        "only_people_decide": _("Only a person may decide this: {who}."),
    }
)
"""Read beside a button before anybody presses, so none says that nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    amount: Decimal | None
    """None: without limit."""
    currency: str
    discount: Decimal
    """Percent."""
    legal: bool

    def covers(self, need: Need) -> bool:
        return not self.missing(need)

    def missing(self, need: Need) -> str:
        """The code of the sentence that says what is missing; empty if nothing is."""
        if need.legal and not self.legal:
            return "beyond_legal"
        if need.discount is not None and need.discount > self.discount:
            return "beyond_discount"
        if need.amount is None or self.amount is None:
            return ""
        if need.currency and need.currency != self.currency:
            return "beyond_currency"
        return "beyond_amount" if need.amount > self.amount else ""


NONE = Limit(amount=Decimal(0), currency="", discount=Decimal(0), legal=False)

DEFAULTS: Mapping[str, Limit] = {
    Role.SALESPERSON: Limit(
        amount=Decimal(100_000), currency=settings.VIGENTE_CURRENCY, discount=Decimal(10), legal=False
    ),
    Role.MANAGER: Limit(
        amount=Decimal(1_000_000), currency=settings.VIGENTE_CURRENCY, discount=Decimal(25), legal=False
    ),
    Role.ADMINISTRATOR: Limit(amount=None, currency=settings.VIGENTE_CURRENCY, discount=Decimal(100), legal=True),
}


def levels() -> dict[str, Limit]:
    """The limit of each role, in one query."""
    rows = {
        row.role: Limit(amount=row.amount, currency=row.currency, discount=row.discount, legal=row.legal)
        for row in AuthorityLevel.objects.all()
    }
    return {**DEFAULTS, **rows}


def role_of(user: User) -> str:
    return Role.ADMINISTRATOR if user.sees_everything else user.role


def limit_of(user: User, *, among: Mapping[str, Limit] | None = None) -> Limit:
    """What the person may decide. `among`: the levels, where a page asks for many."""
    return (among or levels()).get(role_of(user), NONE) if user.is_active else NONE


def refusal(by: Actor | User, need: Need, *, team: int | None = None) -> Sentence | None:
    """Why `by` may not decide what needs this; None if they may."""
    if not need:
        return None
    if isinstance(by, Actor) and by.kind is not Kind.PERSON:
        # The system only moves things up; agents and integrations decide nothing that takes authority.
        return None if by.kind is Kind.SYSTEM else Sentence("only_people_decide", {"who": _named(need, team)})
    user, among = account_of(by), levels()
    limit = limit_of(user, among=among) if user is not None else NONE
    code = limit.missing(need)
    if not code:
        return None
    facts: dict[str, Any] = {"who": _named(need, team, among=among)}
    if code in ("beyond_amount", "beyond_currency"):
        facts["amount"] = money(need.amount, need.currency)
        facts["limit"] = money(limit.amount, limit.currency)
    elif code == "beyond_discount":
        facts |= {"discount": f"{need.discount:g}", "limit": f"{limit.discount:g}"}
    return Sentence(code, facts)


def check_authority(by: Actor | User, need: Need, *, team: int | None = None) -> None:
    """For an action's check. Raises RuleBroken with the sentence that names who can."""
    if no := refusal(by, need, team=team):
        raise RuleBroken(no.code, state="needs_human_decision", **no.facts)


def has_authority(by: Actor | User, need: Need, *, team: int | None = None) -> bool:
    return refusal(by, need, team=team) is None


def who_can(need: Need, *, team: int | None = None, among: Mapping[str, Limit] | None = None) -> list[User]:
    """Managers (of that team, where there is one) and administrators whose level suffices; the nearest first."""
    among = among or levels()
    above = Q(role=Role.ADMINISTRATOR) | Q(is_superuser=True)
    managers = Q(role=Role.MANAGER) if team is None else Q(role=Role.MANAGER, team=team)
    found = User.objects.filter(above | managers, is_active=True).order_by("first_name", "last_name", "pk")
    able = [user for user in found if limit_of(user, among=among).covers(need)]
    return sorted(able, key=lambda user: RANK.get(Role(role_of(user)), 0))


def account_of(by: Actor | User) -> User | None:
    if isinstance(by, User):
        return by
    if isinstance(by.account, User):
        return by.account
    return User.objects.filter(pk=int(by.key)).first() if by.key.isascii() and by.key.isdigit() else None


def money(amount: Decimal | None, currency: str) -> dict[str, Any]:
    """A fact that is an amount; shown as the reader's language writes it."""
    return {"money": [None if amount is None else str(amount), currency]}


def _named(need: Need, team: int | None, *, among: Mapping[str, Limit] | None = None) -> Any:
    return sentences.anyone(actors.person(user) for user in who_can(need, team=team, among=among)[:NAMED])


class SalesDesk(review.Desk):
    """The desk of conflicts/review.py, staffed."""

    def about(self, subject: Any) -> review.About:
        return review.About(
            amount=review.number(getattr(subject, "amount", None)),
            currency=str(getattr(subject, "currency", "") or ""),
            discount=review.number(getattr(subject, "discount", None)),
            team=getattr(subject, "team_id", None),
        )

    def refuse(self, by: Actor, need: Need, *, team: int | None = None) -> Sentence | None:
        return refusal(by, need, team=team)

    def who_can(self, need: Need, *, team: int | None = None) -> list[Any]:
        return list(who_can(need, team=team))

    def next_up(self, record: Any) -> User | None:
        """From the owner to the team's manager, from there to an administrator; nobody twice."""
        need = Need.from_json(record.needs)
        responsible = account_of(record.responsible) if record.responsible_id else None
        reached = RANK.get(Role(role_of(responsible)), 0) if responsible else 0
        further = [u for u in who_can(need, team=record.team_key) if RANK.get(Role(role_of(u)), 0) > max(reached, 0)]
        return further[0] if further else None


def _money_said(fact: list[str | None]) -> str:
    from crm.templatetags.vigente import money_text  # here: tags know forms, forms know actions, and those know levels

    amount, currency = fact
    return money_text(amount, currency or "") or "–" if currency else str(amount or "–")


sentences.shown_by("money", _money_said)
review.staffed_by(SalesDesk())
