"""How the text of a cell becomes a value, or one sentence about what is wrong with it."""

import datetime as dt
from decimal import Decimal

import pytest

from crm import naming
from crm.imports import cells
from crm.imports.options import Options
from crm.imports.problems import BadCell
from crm.imports.running import KINDS

PLAIN = Options(currency="BRL")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1054", "1054"),
        ("1234.5", "1234.5"),
        ("1,234.50", "1234.50"),
        ("1.234,50", "1234.50"),
        ("R$ 1.234.567,89", "1234567.89"),
        ("US$ 1,234", "1234"),
        ("1.234", "1234"),
        ("12,5", "12.5"),
        ("1 234,50 €", "1234.50"),
        ("BRL 80", "80"),
        ("0", "0"),
    ],
)
def test_amounts_are_taken_as_people_write_them(text, amount):
    assert cells.amount(text, PLAIN) == Decimal(amount)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-5", "below zero"),
        ("(80.00)", "below zero"),
        ("1e9", "not a number"),
        ("NaN", "not a number"),
        ("Infinity", "not a number"),
        ("ten", "not a number"),
        ("57.3OO", "not a number"),
        ("1,23,456.5", "not a number"),
        ("9" * 13, "is more than 999,999,999,999"),
        ("9" * 200, "not a number"),
        ("0.125", "more than 2 decimals"),
        ("1234.5678", "more than 2 decimals"),
    ],
)
def test_an_amount_that_cannot_be_meant_is_refused_with_its_reason(text, why):
    with pytest.raises(BadCell, match=why):
        cells.amount(text, PLAIN)


def test_millions_are_turned_into_units():
    assert cells.millions("1100.04", PLAIN) == Decimal("1100040000.00")
    assert cells.millions("0.000001", PLAIN) == Decimal("1.00")


@pytest.mark.parametrize(
    ("text", "date_format", "day"),
    [
        ("2017-03-01", "%Y-%m-%d", dt.date(2017, 3, 1)),
        ("2017-03-01T00:00:00Z", "%Y-%m-%d", dt.date(2017, 3, 1)),
        ("01/03/2017", "%d/%m/%Y", dt.date(2017, 3, 1)),
    ],
)
def test_days_are_read_in_the_format_of_the_file(text, date_format, day):
    assert cells.day(text, Options(currency="BRL", date_format=date_format)) == day


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2025-02-30", "not in the calendar"),
        ("2025-13-01", "not in the calendar"),
        ("03/04/2025", "--dates names another format"),
        ("tomorrow", "--dates names another format"),
        ("2025-02-28 14:30", "--dates names another format"),
        ("0204-02-28", "year that cannot be meant"),
    ],
)
def test_a_day_that_does_not_exist_or_is_ambiguous_is_refused(text, why):
    with pytest.raises(BadCell, match=why):
        cells.day(text, PLAIN)


def test_whole_numbers_yes_and_no_tags_and_currencies():
    assert cells.whole(0, 9999)("2,448", PLAIN) == 2448
    with pytest.raises(BadCell, match="not a whole number"):
        cells.whole(0, 9999)("12.5", PLAIN)
    with pytest.raises(BadCell, match="not a whole number from 1000 to 2200"):
        cells.whole(1000, 2200)("19", PLAIN)
    assert (cells.yes_no("Sim", PLAIN), cells.yes_no("0", PLAIN)) == (True, False)
    with pytest.raises(BadCell, match="neither yes nor no"):
        cells.yes_no("maybe", PLAIN)
    assert cells.tags("cold rooms; hotel ;cold rooms", PLAIN) == ["cold rooms", "hotel"]
    assert cells.language("pt_BR", PLAIN) == "pt-br"
    with pytest.raises(BadCell, match="not a code of a language"):
        cells.language("Portuguese", PLAIN)
    assert cells.zone("America/Sao_Paulo", PLAIN) == "America/Sao_Paulo"
    with pytest.raises(BadCell, match="no time zone"):
        cells.zone("Sao Paulo", PLAIN)
    assert cells.currency("usd", PLAIN) == "USD"
    with pytest.raises(BadCell, match="no currency"):
        cells.currency("XYZ", PLAIN)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_header_means_two_fields(kind):
    seen: dict[str, str] = {}
    for column in kind.columns:
        for word in (column.target, *column.words):
            key = naming.key(word)
            assert key, word
            assert seen.setdefault(key, column.target) == column.target, word
