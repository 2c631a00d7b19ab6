"""Types for the params of actions: what a person may type, cleaned once, with an error for exactly what is wrong."""

import unicodedata
from decimal import Decimal
from typing import Annotated, overload

import moneyed
from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

KEPT = "\n\t\u200c\u200d"
"""The two joiners hold emoji together and part Persian words; a name needs neither, and looks the same with them."""
JOINERS = {0x200C: None, 0x200D: None}
MAX_AMOUNT = Decimal("999999999999.99")


@overload
def clean_text(text: str) -> str: ...
@overload
def clean_text(text: object) -> object: ...
def clean_text(text: object) -> object:
    """Without control and invisible formatting characters, ends trimmed. HTML stays as typed: it is only ever text."""
    if not isinstance(text, str):
        return text
    kept = (c for c in text if c in KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))
    return "".join(kept).strip()


@overload
def clean_line(text: str) -> str: ...
@overload
def clean_line(text: object) -> object: ...
def clean_line(text: object) -> object:
    """As clean_text, in one line: whatever white space there is becomes single blanks."""
    cleaned = clean_text(text)
    return " ".join(cleaned.translate(JOINERS).split()) if isinstance(cleaned, str) else cleaned


def _currency(code: str) -> str:
    if code.upper() not in moneyed.CURRENCIES:
        raise ValueError(_("There is no currency %(code)s.") % {"code": code[:10]})
    return code.upper()


def _tags(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tag for tag in tags if tag))


def _empty_is_none(value: object) -> object:
    return None if value == "" else value


Line = Annotated[str, BeforeValidator(clean_line), Field(max_length=200)]
Address = Annotated[str, BeforeValidator(clean_line), Field(max_length=254)]
ProviderId = Annotated[str, BeforeValidator(clean_line), Field(min_length=1, max_length=255)]
Name = Annotated[str, BeforeValidator(clean_line), Field(min_length=1, max_length=200)]
ShortLine = Annotated[str, BeforeValidator(clean_line), Field(max_length=120)]
Text = Annotated[str, BeforeValidator(clean_text), Field(max_length=20_000)]
# The limits stand on the type inside the union: on the union itself pydantic would compare them with None.
Amount = Annotated[
    Annotated[Decimal, Field(ge=0, le=MAX_AMOUNT, max_digits=14, decimal_places=2)] | None,
    BeforeValidator(_empty_is_none),
]
Currency = Annotated[str, AfterValidator(_currency), Field(min_length=3, max_length=3)]
CurrencyIfAny = Annotated[
    str, BeforeValidator(lambda code: code or ""), AfterValidator(lambda code: code and _currency(code))
]
"""Empty where there is no amount."""
Tag = Annotated[str, BeforeValidator(clean_line), Field(max_length=60)]
Tags = Annotated[list[Tag], AfterValidator(_tags), Field(max_length=50)]
RequiredKey = Annotated[int, Field(ge=1)]
Key = Annotated[Annotated[int, Field(ge=1)] | None, BeforeValidator(_empty_is_none)]
Year = Annotated[Annotated[int, Field(ge=1000, le=9999)] | None, BeforeValidator(_empty_is_none)]
Count = Annotated[Annotated[int, Field(ge=0, le=2_147_483_647)] | None, BeforeValidator(_empty_is_none)]


class Params(BaseModel):
    """A field that is not given is not written; one that is not known is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.model_fields_set}
