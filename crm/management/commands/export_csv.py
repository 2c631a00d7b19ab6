"""`manage.py export_csv`: a file to change and to import again, each row with the version it was made from."""

import io
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crm.imports import exporting


class Command(BaseCommand):
    help = (
        "Write companies, contacts, products or deals to a CSV file that import_csv reads: what is changed in it is"
        " held against the version that the row was made from. Deals without an outside id cannot be named there, and"
        " are left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write; - for standard output")
        parser.add_argument("--kind", required=True, choices=list(exporting.CELLS), help="what its rows are")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if str(path) == "-":
            text = io.StringIO()
            exporting.write(options["kind"], text)
            self.stdout.write(text.getvalue(), ending="")
            return
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                count = exporting.write(options["kind"], file)
        except OSError as error:
            raise CommandError(
                _("The file %(path)s cannot be written: %(why)s.") % {"path": path, "why": error.strerror}
            ) from None
        self.stdout.write(
            ngettext("Wrote %(count)s row to %(path)s.", "Wrote %(count)s rows to %(path)s.", count)
            % {"count": count, "path": path}
        )
