"""Inputs: the fields of a subject as a person types them, and back into an action's params.

Guarantees that what reaches the gate from a form is of the field's type, that a related record exists, and that each
fault is said in words beside its field, in the reader's number and date format. A value that was not understood stays
as typed. Used by every form and by settling; the template is `templates/_input.html`.
"""

import datetime as dt
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from babel.numbers import NumberFormatError, get_decimal_symbol, get_group_symbol, parse_decimal
from django.db import models
from django.db.models import Q
from django.utils.translation import get_language, to_locale
from django.utils.translation import gettext as _

from crm import naming
from crm.actions.fields import MAX_AMOUNT
from crm.models import Company, Contact, Contract, Opportunity, Product, Stage, Team, User

MOST = 300
"""Options in a list; of more, the name is typed."""


class Fault(Exception):
    """What is wrong with a typed value, in words for the person."""


@dataclass(kw_only=True)
class Input:
    name: str
    label: str
    kind: str
    """text, long, amount, number, date, time, tags, yes, choice (a list) or name (typed, with a list of some)."""
    value: Any = ""
    options: tuple[tuple[str, str], ...] = ()
    fault: str = ""
    help: str = ""
    required: bool = False
    longest: int | None = None

    @property
    def id(self) -> str:
        return f"f-{self.name}"


def kind_of(field: Any) -> str:
    if field.related_model is not None:
        return "name" if field.related_model in (Company, Contact) else "choice"
    match field:
        case _ if field.choices:
            return "choice"
        case models.TextField():
            return "long"
        case models.DecimalField() | models.FloatField():
            return "amount"
        case models.BooleanField():
            return "yes"
        case models.IntegerField():
            return "number"
        case models.DateField():
            return "date"
        case models.TimeField():
            return "time"
    return "tags" if type(field).__name__ == "ArrayField" else "text"


def build(
    subject: models.Model,
    names: Iterable[str],
    *,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, list[str]] | None = None,
    required: Iterable[str] = ("name",),
) -> list[Input]:
    """The inputs for `names`, filled from the subject, or with what was `typed` where it was not understood."""
    return [_input(subject, name, typed=typed or {}, faults=faults or {}, required=name in required) for name in names]


def _input(subject: Any, name: str, *, typed: Mapping[str, str], faults: Mapping[str, Any], required: bool) -> Input:
    field = subject._meta.get_field(name)
    kind = kind_of(field)
    value = typed[name] if name in typed else as_typed(getattr(subject, field.attname), field, subject)
    return Input(
        name=name,
        label=str(field.verbose_name),
        kind=kind,
        value=value,
        options=tuple(options(field, subject)),
        fault=" ".join(faults.get(name, ())),
        required=required,
        longest=getattr(field, "max_length", None),
    )


def as_typed(value: Any, field: Any, subject: Any = None) -> str:
    """A value as it stands in an input: what `read` would understand again."""
    if value is None or value == "":
        return ""
    kind = kind_of(field)
    if kind == "amount":
        return _number_text(Decimal(str(value)))
    if kind == "name":
        current = getattr(subject, field.name, None) if subject is not None else None
        if current is None or current.pk != value:
            current = field.related_model._default_manager.filter(pk=value).first()
        return str(current or "")
    if kind == "tags":
        return ", ".join(value)
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def options(field: Any, subject: Any = None) -> list[tuple[str, str]]:
    """What can be chosen, or for a typed name, some that can be meant."""
    if field.choices:
        return [(str(value), str(label)) for value, label in field.flatchoices]
    model = field.related_model
    if model is None:
        return []
    rows: Any = model._default_manager.all()
    if model is User:
        rows = rows.filter(is_active=True).order_by("first_name", "last_name")
    elif model is Stage:
        rows = rows.filter(pipeline=subject.pipeline_id).order_by("position")
    elif model in (Product, Team):
        rows = rows.order_by("name")
    elif model in (Opportunity, Contract):
        # Those of the same company that everybody who sees this record sees too.
        team = Q(team=None) | Q(team=getattr(subject, "team_id", None))
        rows = rows.filter(team, company=getattr(subject, "company_id", None)).order_by("-id")
    elif model is Contact:
        company = getattr(subject, "company_id", None)
        rows = rows.filter(company=company).order_by("name_key") if company else rows.none()
    else:
        rows = rows.order_by("name_key")
    return [(str(row.pk), str(row)) for row in rows[:MOST]]


def read(
    posted: Mapping[str, str], names: Iterable[str], *, model: type[models.Model], subject: Any = None
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """`(params, faults)` for those of `names` that were posted."""
    params: dict[str, Any] = {}
    faults: dict[str, list[str]] = {}
    for name in names:
        if name not in posted:
            continue
        field: Any = model._meta.get_field(name)
        try:
            params[name] = parse(posted[name], field, subject)
        except Fault as fault:
            faults[name] = [str(fault)]
    return params, faults


def parse(text: str, field: Any, subject: Any = None) -> Any:
    """The value meant by `text`. Raises Fault."""
    text = text.strip()
    readers: dict[str, Callable[[str, Any, Any], Any]] = {
        "amount": _amount,
        "number": _whole,
        "date": _date,
        "time": _time,
        "tags": _tags,
        "yes": lambda text, field, subject: text in ("1", "on", "true"),
        "choice": _choice,
        "name": _named,
    }
    reader = readers.get(kind_of(field))
    if reader:
        return reader(text, field, subject)
    if field.max_length and len(text) > field.max_length:
        raise Fault(_("At most %(n)d letters; this has %(has)d.") % {"n": field.max_length, "has": len(text)})
    if not text and not field.blank:
        raise Fault(_("This cannot be empty."))
    return text


def _locale() -> str:
    return to_locale(get_language() or "en")


def _number_text(value: Decimal) -> str:
    """Without grouping and without empty cents: short, and understood in the same language."""
    whole = value == value.to_integral_value()
    return f"{value:.0f}" if whole else f"{value:.2f}".replace(".", get_decimal_symbol(_locale()))


def _amount(text: str, field: Any, subject: Any) -> Decimal | None:
    kept = "".join(c for c in text if not c.isspace() and unicodedata.category(c) != "Sc")
    for sign in ("R$", "US$", "R", "US"):
        kept = kept.removeprefix(sign)
    if not kept:
        return None
    try:
        value = parse_decimal(kept, locale=_locale(), strict=True)
    except (NumberFormatError, InvalidOperation, ValueError):
        example = {"plain": "57300", "grouped": f"57{get_group_symbol(_locale())}300"}
        if any(c.isalpha() for c in kept):
            raise Fault(
                _("“%(text)s” has letters in it. Write %(plain)s or %(grouped)s.") % {"text": text[:40], **example}
            ) from None
        raise Fault(
            _("“%(text)s” is not an amount. Write %(plain)s or %(grouped)s.") % {"text": text[:40], **example}
        ) from None
    if not value.is_finite() or value < 0:
        raise Fault(_("An amount cannot be below zero."))
    if value > MAX_AMOUNT:
        raise Fault(_("This is more than a deal can hold."))
    if value != value.quantize(Decimal("0.01")):
        raise Fault(_("At most two places after the point."))
    return value


def _whole(text: str, field: Any, subject: Any) -> int | None:
    kept = text.replace("\u00a0", "").replace(" ", "").replace(get_group_symbol(_locale()), "")
    if not kept:
        return None
    most = 32_767 if isinstance(field, models.PositiveSmallIntegerField) else 2_147_483_647
    if not (kept.isascii() and kept.isdigit() and len(kept) < 12 and 1 <= int(kept) <= most):
        raise Fault(_("“%(text)s” is not a whole number that fits here.") % {"text": text[:40]})
    return int(kept)


def _date(text: str, field: Any, subject: Any) -> dt.date | None:
    if not text:
        return None
    try:
        value = dt.date.fromisoformat(text)
    except ValueError:
        raise Fault(_("There is no day “%(text)s”.") % {"text": text[:40]}) from None
    if not 1900 <= value.year <= 2200:
        raise Fault(_("The year %(year)d is too far away.") % {"year": value.year})
    return value


def _time(text: str, field: Any, subject: Any) -> dt.time | None:
    if not text:
        if not field.blank:
            raise Fault(_("This cannot be empty."))
        return None
    try:
        return dt.time.fromisoformat(text)
    except ValueError:
        raise Fault(_("There is no time “%(text)s”; one is 08:30.") % {"text": text[:40]}) from None


def _tags(text: str, field: Any, subject: Any) -> list[str]:
    tags = [tag.strip() for tag in text.split(",") if tag.strip()]
    if any(len(tag) > 60 for tag in tags):
        raise Fault(_("A tag has at most 60 letters."))
    return list(dict.fromkeys(tags))


def _choice(text: str, field: Any, subject: Any) -> Any:
    """One of the options, or what is there already (an owner who has left stays until somebody changes it)."""
    if not text:
        if not field.blank:
            raise Fault(_("Choose one."))
        return None if field.related_model else ""
    known = dict(options(field, subject))
    there = str(getattr(subject, field.attname, "")) if subject is not None else ""
    if text not in known and text != there:
        raise Fault(_("Choose one from the list."))
    return int(text) if field.related_model else text


def _named(text: str, field: Any, subject: Any) -> int | None:
    """The key of the company or contact of that name; those of the deal's company come first."""
    if not text:
        return None
    current = getattr(subject, field.name, None) if subject is not None else None
    if current is not None and str(current) == text:
        return int(current.pk)
    rows = field.related_model._default_manager.filter(name_key=naming.key(text))
    if field.related_model is Contact and getattr(subject, "company_id", None):
        own = rows.filter(company=subject.company_id)
        rows = own if own.exists() else rows
    found = list(rows.values_list("pk", flat=True)[:2]) if naming.key(text) else []
    if not found:
        raise Fault(
            _("Nobody is called “%(name)s” here yet. Add it first, or look at the spelling.") % {"name": text[:60]}
        )
    if len(found) > 1:
        raise Fault(_("More than one is called “%(name)s”. Choose the company first.") % {"name": text[:60]})
    return int(found[0])
