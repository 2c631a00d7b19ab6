"""What a person reads when a value does not fit a field: the validator's findings in the reader's words."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

_WORDS: dict[str, Any] = {
    "missing": _("This is needed."),
    "string_too_short": _("This is needed."),
    "string_too_long": _("At most {max_length} characters fit here."),
    "string_type": _("This must be text."),
    "string_unicode": _("This text holds characters that cannot be read."),
    "decimal_parsing": _("This is not a number."),
    "decimal_type": _("This is not a number."),
    "finite_number": _("This is not a number."),
    "decimal_max_digits": _("This number is too large."),
    "decimal_whole_digits": _("This number is too large."),
    "decimal_max_places": _("At most {decimal_places} decimal places fit here."),
    "int_parsing": _("This is not a whole number."),
    "int_type": _("This is not a whole number."),
    "int_from_float": _("This is not a whole number."),
    "int_parsing_size": _("This number is too large."),
    "greater_than_equal": _("This cannot be less than {ge}."),
    "less_than_equal": _("This cannot be more than {le}."),
    "bool_parsing": _("This is either yes or no."),
    "date_parsing": _("There is no such day."),
    "date_from_datetime_parsing": _("There is no such day."),
    "date_from_datetime_inexact": _("This is a day without a time."),
    "date_type": _("There is no such day."),
    "datetime_parsing": _("There is no such time."),
    "datetime_from_date_parsing": _("There is no such time."),
    "datetime_type": _("There is no such time."),
    "literal_error": _("Choose one of: {expected}."),
    "extra_forbidden": _("There is no such field here."),
    "too_long": _("At most {max_length} fit here."),
    "list_type": _("This must be a list."),
}


def message(error: Mapping[str, Any]) -> str:
    """The words for one of pydantic's error lines; its own English where we have none."""
    words = _WORDS.get(error["type"])
    if words is None:
        return str(error["msg"]).removeprefix("Value error, ")
    return str(words).format_map(error.get("ctx") or {})
