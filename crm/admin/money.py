"""An amount in the admin, as the reader's language writes it."""

from typing import Any

from django.utils import translation
from moneyed import Money
from moneyed.l10n import format_money


def money(amount: Any, currency: str) -> str:
    """`R$ 86,000.00`; a dash for none, the bare figure where nobody said the currency."""
    if amount is None:
        return "–"
    if not currency:
        return str(amount)
    return str(format_money(Money(amount, currency), locale=translation.to_locale(translation.get_language() or "en")))
