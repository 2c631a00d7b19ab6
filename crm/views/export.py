"""Lists as files. Guarantees that a list leaves the house only with whom `may_export` names, that it holds what the
person may see and no more, and that a cell which a spreadsheet would run as a formula is a text there.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from crm.permissions import may_export
from crm.views import errors

MOST = 20_000
"""Rows in one file."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_answer(request: HttpRequest, name: str, head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    if not may_export(request.user):  # type: ignore[arg-type]
        happened = _("Lists leave the house with managers, and with whom it was granted to. Ask for it under Access.")
        return errors.page(request, 403, happened=happened, back=request.path)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow([str(word) for word in head])
    writer.writerows([_cell(value) for value in row] for row in rows)
    response = HttpResponse("\ufeff" + file.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
