"""How administrators change the authority levels: through the gate, on the level they have seen."""

from decimal import Decimal
from typing import Annotated, Any

from django.conf import settings
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, Field

from conflicts.actions import Action, register
from conflicts.actors import Actor, Kind
from conflicts.exceptions import RuleBroken
from conflicts.models import AuthorityLevel
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm.actions.fields import Amount, Currency, Line, Params
from crm.models.user import Role

Percent = Annotated[Decimal, Field(ge=0, le=100, max_digits=5, decimal_places=2)]


def _role(name: str) -> str:
    if name not in Role.values:
        raise ValueError(_t("Choose one from the list."))
    return name


class Edit(Params):
    amount: Amount = None
    currency: Currency = settings.VIGENTE_CURRENCY
    discount: Percent = Decimal(0)
    legal: bool = False
    note: Line = ""


class Create(Edit):
    role: Annotated[str, AfterValidator(_role)]


def permits_levels(by: Actor, level: object) -> Sentence | None:
    """Administrators, and nobody else: an agent least of all."""
    user = by.account
    if by.kind is Kind.PERSON and user is not None and user.is_active and user.sees_everything:
        return None
    return Sentence("not_allowed", {"who": "an administrator"})


def _create(work: Work) -> None:
    work.new(AuthorityLevel(**work.params.model_dump()))


def _check_new(work: Work) -> None:
    if AuthorityLevel.objects.filter(role=work.params.role).exists():
        raise RuleBroken("taken")


def _edit(work: Work) -> None:
    work.set(**work.writes)


def _writes(params: Any) -> dict[str, Any]:
    return dict(params.given())


register(
    Action(
        name="authority.create",
        subject=AuthorityLevel,
        params=Create,
        words=_("Set an authority level"),
        check=_check_new,
        apply=_create,
        permits=permits_levels,
        creates=True,
    )
)
register(
    Action(
        name="authority.edit",
        subject=AuthorityLevel,
        params=Edit,
        words=_("Change an authority level"),
        apply=_edit,
        writes=_writes,
        permits=permits_levels,
        avoided=Sentence("record_not_changed"),
    )
)
