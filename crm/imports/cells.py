"""From the text of a cell to a value. Raises BadCell with what is wrong and, where it helps, what would be right.

Takes amounts as people write them ("R$ 1.234,50", "1,234.50", "(80)" is below zero and refused), never guesses a date.
"""

import datetime as dt
import re
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import moneyed
from django.utils.translation import gettext as _

from crm.actions.fields import MAX_AMOUNT
from crm.imports.options import Options
from crm.imports.problems import BadCell

type Reader = Callable[[str, Options], Any]

SHOWN = 40
YES = frozenset({"yes", "y", "true", "1", "sim", "s", "x"})
NO = frozenset({"no", "n", "false", "0", "não", "nao"})
YEARS = range(1000, 2200)

_NUMBER = re.compile(
    r"(?P<sign>[-−(]?)\s*(?:R\$|US\$|[A-Z]{3}|[$€£])?\s*(?P<again>[-−]?)(?P<digits>\d[\d.,'\s]*)\s*(?:[A-Z]{3}|€)?\s*\)?"
)


def shown(text: str) -> str:
    """A cell as a message quotes it: short, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def line(most: int) -> Reader:
    """Text of one line."""

    def read(text: str, options: Options) -> str:
        if len(text) > most:
            raise BadCell(
                _("%(count)s characters, at most %(most)s fit.") % {"count": f"{len(text):,}", "most": f"{most:,}"}
            )
        return text

    return read


def amount(text: str, options: Options) -> Decimal:
    return _not_negative(_number(text, places=2), text)


def millions(text: str, options: Options) -> Decimal:
    """An amount that the file gives in millions."""
    return _not_negative((_number(text, places=6) * 1_000_000).quantize(Decimal("0.01")), text)


def whole(least: int, most: int) -> Reader:
    def read(text: str, options: Options) -> int:
        number = _number(text, places=0)
        if number != int(number) or not least <= number <= most:
            raise BadCell(
                _("“%(text)s” is not a whole number from %(least)s to %(most)s.")
                % {"text": shown(text), "least": least, "most": most}
            )
        return int(number)

    return read


def _not_negative(number: Decimal, text: str) -> Decimal:
    if number < 0:
        raise BadCell(_("“%(text)s” is below zero.") % {"text": shown(text)})
    if number > MAX_AMOUNT:
        raise BadCell(_("“%(text)s” is more than %(most)s.") % {"text": shown(text), "most": f"{int(MAX_AMOUNT):,}"})
    return number


def _number(text: str, *, places: int) -> Decimal:
    match = _NUMBER.fullmatch(text.strip())
    if match is None or len(text) > 60:
        raise BadCell(_("“%(text)s” is not a number.") % {"text": shown(text)})
    digits = re.sub(r"[\s']", "", match["digits"])
    mark = _decimal_mark(digits, places)
    if mark is None:
        raise BadCell(_("“%(text)s” is not a number.") % {"text": shown(text)})
    whole_part, _mark, decimals = digits.rpartition(mark) if mark else (digits, "", "")
    if len(decimals) > places:
        raise BadCell(
            _("“%(text)s” has more than %(places)s decimals.") % {"text": shown(text), "places": places}
            if places
            else _("“%(text)s” is not a whole number.") % {"text": shown(text)}
        )
    number = Decimal(f"{whole_part.replace('.', '').replace(',', '')}.{decimals or 0}")
    return -number if match["sign"] or match["again"] else number


def _decimal_mark(digits: str, places: int) -> str | None:
    """Which of "." and "," divides the decimals; empty for none of them; None where it makes no sense."""
    seen = [mark for mark in ".," if mark in digits]
    if not seen:
        return ""
    if len(seen) == 2:
        mark = max(seen, key=digits.rfind)
        other = "," if mark == "." else "."
        grouped = re.fullmatch(rf"\d{{1,3}}(?:\{other}\d{{3}})+\{mark}\d+", digits)
        return mark if grouped else None
    mark = seen[0]
    grouped = re.fullmatch(rf"[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+", digits)
    if grouped and (digits.count(mark) > 1 or places < 3):
        return ""  # thousands: 1.234 has no third decimal to mean
    return mark if digits.count(mark) == 1 else None


def day(text: str, options: Options) -> dt.date:
    """A day in the file's own format; a time behind it is left out only where it says midnight."""
    plain = re.sub(r"[T ]00:00(?::00(?:\.0+)?)?Z?$", "", text)
    try:
        found = dt.datetime.strptime(plain, options.date_format).date()  # noqa: DTZ007 - a day has no zone
    except ValueError:
        raise BadCell(_bad_day(plain, options)) from None
    if found.year not in YEARS:
        raise BadCell(_("“%(text)s” is in a year that cannot be meant.") % {"text": shown(text)})
    return found


def _bad_day(text: str, options: Options) -> str:
    if options.date_format == "%Y-%m-%d" and re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", text):
        return _("“%(text)s” is not in the calendar.") % {"text": shown(text)}
    example = dt.date(2031, 12, 24).strftime(options.date_format)
    return _("“%(text)s” is not a day as in %(example)s; --dates names another format.") % {
        "text": shown(text),
        "example": example,
    }


def yes_no(text: str, options: Options) -> bool:
    word = text.casefold()
    if word not in YES | NO:
        raise BadCell(_("“%(text)s” is neither yes nor no.") % {"text": shown(text)})
    return word in YES


def tags(text: str, options: Options) -> list[str]:
    """Several words in one cell, parted by ; or |, else by commas."""
    mark = next((mark for mark in ";|," if mark in text), ";")
    found = [tag for part in text.split(mark) if (tag := part.strip())]
    for tag in found:
        line(60)(tag, options)
    return list(dict.fromkeys(found))


def zone(text: str, options: Options) -> str:
    if text not in zoneinfo.available_timezones():
        raise BadCell(_("There is no time zone “%(text)s”; one is America/Sao_Paulo.") % {"text": shown(text)})
    return text


def language(text: str, options: Options) -> str:
    """A code such as pt-br, en, es_419."""
    if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,4})?", text):
        raise BadCell(_("“%(text)s” is not a code of a language, such as pt-br.") % {"text": shown(text)})
    return text.lower().replace("_", "-")


def currency(text: str, options: Options) -> str:
    code = text.upper()
    if code not in moneyed.CURRENCIES:
        raise BadCell(_("There is no currency “%(text)s”.") % {"text": shown(text)})
    return code
