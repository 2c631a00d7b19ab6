"""`make messages`: collect every sentence of the source into locale/*/LC_MESSAGES/django.po, compile django.mo.

Guarantees one result on every machine: Babel alone reads, writes and compiles, with Django's own reader of templates in
front; no gettext has to be installed. What has no translation yet is counted, stays empty and is read in English.
Next in the flow: `locale/pt_BR/LC_MESSAGES/django.po`, tests/test_translation.py.
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

PROJECT = Path(__file__).resolve().parent.parent
LOCALE = PROJECT / "locale"
ROOMS = ("config", "agents", "crm", "conflicts")

ONE, TWO = (1,), (1, 2)
IN_CONTEXT, TWO_IN_CONTEXT = ((1, "c"), 2), ((1, "c"), 2, 3)
NAMES = {
    ONE: ("_", "_t", "_l", "gettext", "gettext_lazy", "gettext_noop"),
    TWO: ("ngettext", "ngettext_lazy"),
    IN_CONTEXT: ("pgettext", "pgettext_lazy"),
    TWO_IN_CONTEXT: ("npgettext", "npgettext_lazy"),
}
KEYWORDS = {name: where for where, names in NAMES.items() for name in names}

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
OF_DJANGO = (*DAYS, *(day[:3] for day in DAYS), *MONTHS)
"""Words that Django asks for under these names, said our own way: days and months are written small in Portuguese."""

OF_UNFOLD = (
    *("Add row", "All applications", "Apply Filters", "Available shortcuts", "Changelist shortcuts", "Cancel"),
    *("Command tool shortcuts", "Create new record", "Dark", "Date from", "Date to", "False", "Filters", "From"),
    *("General", "Global shortcuts", "Go back", "Light", "Navigate", "Next", "No data", "No results found"),
    *("Nothing matched your search", "Open command tool", "Open selection", "Open selection in new tab"),
    *("Open shortcuts list", "Previous", "Recent searches", "Reset filters", "Return to site"),
    *("Run the selected action", "Search apps and models...", "Select", "Select action", "Select action to run"),
    *("Select record", "Select value", "Submit", "System", "This page yielded into no results.", "To"),
    *("Toggle dark/light mode", "Toggle filter", "Toggle password visibility", "Toggle sidebar", "True"),
    *("Type to search", "Value", "Welcome", "Welcome back to"),
    "You have been successfully logged out from the administration",
)
"""Words of the admin's theme, which comes in English only."""

Found = tuple[str, str | tuple[str, ...], list[str], str | None]


def _python(path: Path) -> bytes:
    return path.read_bytes()


def _template(path: Path) -> bytes:
    """A template as the calls it makes. What stands between them is nothing but X; its indentation would not parse."""
    if not settings.configured:
        settings.configure()
    calls = templatize(path.read_text(encoding="utf-8"), origin=str(path))
    return re.sub(r"^[ \t]+", "", calls, flags=re.MULTILINE).encode()


def found() -> Iterator[Found]:
    """Every message of the source: file, message (or singular and plural), comments, context."""
    sources = [(path, _python) for room in ROOMS for path in sorted((PROJECT / room).rglob("*.py"))]
    sources += [(path, _template) for path in sorted((PROJECT / "templates").rglob("*.html"))]
    for path, read in sources:
        if "migrations" in path.parts:
            continue
        place = path.relative_to(PROJECT).as_posix()
        for _line, message, comments, context in extract("python", io.BytesIO(read(path)), KEYWORDS, ("Translators:",)):
            yield place, message, comments, context
    for name in OF_DJANGO:
        yield "django/utils/dates.py", name, [], None
    for name in OF_UNFOLD:
        yield "unfold", name, [], None


def fresh() -> Catalog:
    """The source as it is now, without translations."""
    catalog = Catalog()
    for place, message, comments, context in found():
        if message and (not isinstance(message, str) or message.strip()):
            catalog.add(message, locations=[(place, 0)], auto_comments=comments, context=context)
    return catalog


def stored(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, domain="django")


def renewed(path: Path) -> Catalog:
    """What is stored, brought up to the source: new messages empty, those no longer said left out."""
    catalog = stored(path) if path.exists() else Catalog(locale=path.parent.parent.name, domain="django")
    catalog.update(fresh(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return catalog


def _head(catalog: Catalog) -> list[str]:
    """Without day, writer and program: a file changes when its words do."""
    return [
        "Project-Id-Version: Vigente\n",
        f"Language: {catalog.locale}\n",
        f"Plural-Forms: {catalog.plural_forms}\n",
        "MIME-Version: 1.0\n",
        "Content-Type: text/plain; charset=utf-8\n",
        "Content-Transfer-Encoding: 8bit\n",
    ]


def as_po(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalog, width=118, omit_header=True, sort_by_file=True, include_lineno=False)
    lines = "".join('"{}"\n'.format(line.replace("\n", "\\n")) for line in _head(catalog))
    return f'msgid ""\nmsgstr ""\n{lines}\n'.encode() + out.getvalue()


class _Messages(list[Message]):
    charset = "utf-8"


def as_mo(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_mo(out, _Messages([Message("", "".join(_head(catalog))), *list(catalog)[1:]]))
    return out.getvalue()


def missing(catalog: Catalog) -> list[str]:
    return [
        str(message.id)
        for message in catalog
        if message.id and (message.fuzzy or not message.string or not all([message.string, *message.string]))
    ]


def main() -> int:
    for folder in sorted(LOCALE.glob("*/LC_MESSAGES")):
        path = folder / "django.po"
        catalog = renewed(path)
        path.write_bytes(as_po(catalog))
        catalog = stored(path)
        path.with_suffix(".mo").write_bytes(as_mo(catalog))
        print(f"{folder.parent.name}: {len(catalog)} messages, {len(missing(catalog))} without translation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
