"""What can be done to a contact: the person, their addresses and numbers, and what they agreed to."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Literal

import phonenumbers
from django.conf import settings
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, model_validator

from conflicts import reading
from conflicts.actions import Action, register
from conflicts.exceptions import RuleBroken
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm import naming
from crm.actions.companies import Named
from crm.actions.fields import Key, Line, Params, ShortLine, Tags, Text
from crm.models import Consent, Contact, ContactPoint
from crm.permissions import permits_record

NOT_CHANGED = Sentence("record_not_changed")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]{2,}")


def address_key(kind: str, value: str) -> str:
    """Lower-case e-mail address, or E.164 number (`+5511987654321`). Raises ValueError with what is wrong."""
    if kind == "email":
        if not _EMAIL.fullmatch(value):
            raise ValueError(_t("%(value)s is not an e-mail address.") % {"value": value})
        return value.lower()
    try:
        number = phonenumbers.parse(value, settings.VIGENTE_PHONE_REGION)
    except phonenumbers.NumberParseException:
        raise ValueError(_t("%(value)s is not a phone number.") % {"value": value}) from None
    if not phonenumbers.is_possible_number(number):
        raise ValueError(_t("%(value)s is not a phone number.") % {"value": value})
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


class Address(Params):
    kind: Literal["email", "phone"]
    value: Line
    label: ShortLine = ""
    is_primary: bool = False

    @model_validator(mode="after")
    def _is_an_address(self) -> "Address":
        address_key(self.kind, self.value)
        return self


class Person(Params):
    job_title: ShortLine = ""
    company: Key = None
    language: ShortLine = ""
    time_zone: ShortLine = ""
    owner: Key = None
    blocked: bool = False
    tags: Tags = []
    note: Text = ""


class Create(Person):
    name: Named
    addresses: list[Address] = []


class Edit(Person):
    name: Named = ""


def _point(contact: Contact, address: BaseModel) -> ContactPoint:
    values = address.model_dump(include={"kind", "value", "label", "is_primary"})
    return ContactPoint(
        contact=contact,
        value_key=address_key(values["kind"], values["value"]),
        **values,
    )


def check_free(kind: str, value: str) -> None:
    """Raises RuleBroken if another contact has the address. The unique key has the last word."""
    taken = ContactPoint.objects.select_related("contact").filter(
        kind=kind, value_key=address_key(kind, value), removed=False
    )
    if point := taken.first():
        raise RuleBroken("address_taken", value=value, contact=point.contact.name)


def _check_new(work: Work) -> None:
    for address in work.params.addresses:
        check_free(address.kind, address.value)


def _create(work: Work) -> None:
    p: Create = work.params
    values = p.model_dump(exclude={"addresses", "company", "owner"})
    contact = Contact(**values, company_id=p.company, owner_id=p.owner, name_key=naming.key(p.name))
    work.new(contact)
    for address in p.addresses:
        work.add(_point(contact, address))


def _edit(work: Work) -> None:
    work.set(**work.writes)
    if "name" in work.writes:
        work.set(name_key=naming.key(work.writes["name"]))


def _check_address(work: Work) -> None:
    check_free(work.params.kind, work.params.value)


def _add_address(work: Work) -> None:
    work.add(_point(work.subject, work.params))


class OneAddress(Params):
    point: Key


def _own_point(work: Work) -> ContactPoint:
    point = next((p for p in work.subject.points_in_use if p.pk == work.params.point), None)
    if point is None:
        raise RuleBroken("address_gone")
    return point


def _check_own(work: Work) -> None:
    _own_point(work)


def _remove_address(work: Work) -> None:
    work.change(_own_point(work), removed=True)


class State(Params):
    channel: Literal["email", "phone", "whatsapp", "sms"]
    status: Literal["granted", "refused"]
    source: Line
    at: dt.datetime | None = None
    """When the contact said so; default now."""

    @model_validator(mode="after")
    def _has_proof(self) -> "State":
        if not self.source:
            raise ValueError(_t("Say how we know, for example “form on the website”."))
        return self


def _state_consent(work: Work) -> None:
    p: State = work.params
    work.add(
        Consent(
            contact=work.subject,
            channel=p.channel,
            status=p.status,
            source=p.source,
            at=p.at or work.now,
        )
    )


def load_points(found: Sequence[Contact]) -> None:
    """The addresses in use of the locked contacts, as `contact.points_in_use`."""
    by_contact: dict[int, list[ContactPoint]] = {contact.pk: [] for contact in found}
    for point in reading.rows(ContactPoint, "contact_id", by_contact, also="NOT removed"):
        by_contact[point.contact_id].append(point)
    for contact in found:
        contact.points_in_use = by_contact[contact.pk]  # type: ignore[attr-defined]


register(
    Action(
        name="contact.create",
        subject=Contact,
        params=Create,
        words=_("Add a contact"),
        check=_check_new,
        apply=_create,
        permits=permits_record,
        creates=True,
    )
)
register(
    Action(
        name="contact.edit",
        subject=Contact,
        params=Edit,
        words=_("Change the contact"),
        apply=_edit,
        writes=lambda p: p.given(),
        permits=permits_record,
        avoided=NOT_CHANGED,
    )
)
register(
    Action(
        name="contact.add_address",
        subject=Contact,
        params=Address,
        words=_("Add an address"),
        check=_check_address,
        apply=_add_address,
        writes_aspects=frozenset({"points"}),
        permits=permits_record,
        avoided=NOT_CHANGED,
    )
)
register(
    Action(
        name="contact.remove_address",
        subject=Contact,
        params=OneAddress,
        words=_("Remove an address"),
        check=_check_own,
        apply=_remove_address,
        writes_aspects=frozenset({"points"}),
        permits=permits_record,
        avoided=NOT_CHANGED,
        loads=(load_points,),
    )
)
register(
    Action(
        name="contact.state_consent",
        records_fact=True,
        subject=Contact,
        params=State,
        words=_("Record what the contact agreed to"),
        apply=_state_consent,
        writes_aspects=frozenset({"consents"}),
        permits=permits_record,
        avoided=NOT_CHANGED,
    )
)
