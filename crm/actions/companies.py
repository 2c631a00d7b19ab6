"""What can be done to a company."""

from typing import Annotated

from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator

from conflicts.actions import Action, register
from conflicts.exceptions import RuleBroken
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm import naming
from crm.actions.fields import (
    Amount,
    Count,
    CurrencyIfAny,
    Key,
    Line,
    Name,
    Params,
    ShortLine,
    Tags,
    Text,
    Year,
)
from crm.models import Company
from crm.permissions import permits_record


def _has_letters(name: str) -> str:
    if not naming.key(name):
        raise ValueError(_t("A name needs at least one letter or digit."))
    return name


Named = Annotated[Name, AfterValidator(_has_letters)]


class Create(Params):
    name: Named
    sector: ShortLine = ""
    location: Line = ""
    website: Line = ""
    founded: Year = None
    employees: Count = None
    revenue: Amount = None
    currency: CurrencyIfAny = ""
    parent: Key = None
    owner: Key = None
    tags: Tags = []
    note: Text = ""


class Edit(Create):
    name: Named = ""


def _check_new(work: Work) -> None:
    # The unique key has the last word; this only says it in words before.
    if Company.objects.filter(name_key=naming.key(work.params.name)).exists():
        raise RuleBroken("company_exists")


def _create(work: Work) -> None:
    p: Create = work.params
    values = p.model_dump()
    relations = {"parent_id": values.pop("parent"), "owner_id": values.pop("owner")}
    work.new(Company(**values, **relations, name_key=naming.key(p.name)))


def _check_edit(work: Work) -> None:
    if work.writes.get("parent") == work.subject.pk:
        raise RuleBroken("parent_is_self")
    name = work.writes.get("name")
    if name and Company.objects.filter(name_key=naming.key(name)).exclude(pk=work.subject.pk).exists():
        raise RuleBroken("company_exists")


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "name" in work.writes:
        work.set(name_key=naming.key(work.writes["name"]))


register(
    Action(
        name="company.create",
        subject=Company,
        params=Create,
        words=_("Add a company"),
        check=_check_new,
        apply=_create,
        permits=permits_record,
        creates=True,
    )
)
register(
    Action(
        name="company.edit",
        subject=Company,
        params=Edit,
        words=_("Change the company"),
        check=_check_edit,
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_record,
        avoided=Sentence("record_not_changed"),
    )
)
