"""`manage.py import_csv`: companies, contacts, products, people and deals from a CSV file."""

import datetime as dt
import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

import moneyed
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from crm.imports import running
from crm.imports.columns import read_mapping
from crm.imports.options import Options
from crm.imports.problems import FileProblem
from crm.imports.report import Report

HELP = """\
Import a CSV file. Each row goes through the gate; a bad row is named with line, column and reason, and never stops
the others. The same file once more changes nothing. What people have changed since the last import is theirs: a file
that says nothing new leaves it alone; where both have changed a field, nothing is written over: the report names the
page on which a person chooses, and all that waits stands under From imports (/imports/) and in the review queue.
A column "version" says from which version of its record a row was made (export_csv writes it): then what the row says
otherwise than that version is what it means, and nothing else.

Columns are found by name, in English or Portuguese, whatever their case, spaces, accents and underscores; others are
named by a mapping file (JSON or TOML), header to field:  {"deal_stage": "stage", "remarks": null}
An empty cell says nothing. Delimiter , ; tab or | is found out. Amounts may be written 1234.5, 1,234.50 or R$ 1.234,50.

What makes two rows the same record: a company's or product's name (whatever case, spaces, accents, punctuation), a
contact's e-mail address, else name and company; a deal's id in the other system; a person's e-mail, else name.
Names that are not known here (an owner, a company) are left open and reported; import those and then this file again.

Load in this order: team, companies, products, contacts, opportunities. For example:
  manage.py import_csv sales_teams.csv --kind team
  manage.py import_csv accounts.csv --kind companies --currency USD --mapping accounts.json
  manage.py import_csv products.csv --kind products --currency USD
  manage.py import_csv sales_pipeline.csv --kind opportunities --currency USD \\
      --pipeline Hardware --stages "Prospecting, Engaging, Won, Lost"
where accounts.json is {"revenue": "revenue_millions"}.

Exit code: 0 when the file was read to its end, however many rows were refused; 1 when it could not be read (or not to
its end); 130 after Ctrl-C, which leaves whole rows behind.

Fields of each kind:
"""


class Command(BaseCommand):
    help = "Import companies, contacts, products, people or deals from a CSV file."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        fields = "\n".join(
            f"  {name:<14} {', '.join(column.target + ('*' if column.required else '') for column in kind.columns)}"
            for name, kind in running.KINDS.items()
        )
        return super().create_parser(
            prog_name, subcommand, epilog=HELP + fields, formatter_class=RawDescriptionHelpFormatter, **kwargs
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("file", type=Path, help="the CSV file")
        add("--kind", required=True, choices=list(running.KINDS), help="what its rows are")
        add("--mapping", type=Path, metavar="FILE", help="JSON or TOML: header in the file -> field")
        add("--dry-run", action="store_true", help="say what would happen, write nothing")
        add("--json", action="store_true", help="the report as JSON on standard output, no progress bar")
        add("--encoding", default="", help="of the file; default UTF-8, or UTF-16 with a byte order mark")
        add("--currency", default=settings.VIGENTE_CURRENCY, help="of amounts without one (default %(default)s)")
        add("--dates", default="%Y-%m-%d", metavar="FORMAT", help="how days are written, e.g. %%d/%%m/%%Y")
        add("--by", default="", metavar="USERNAME", help="who answers for this import; stands in the history")
        add("--pipeline", default="", metavar="NAME", help="opportunities: the pipeline (default: the default one)")
        add("--stages", default="", metavar="NAMES", help="opportunities: make these stages, in order, where missing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = self._run(options)
        except FileProblem as problem:
            if options["json"]:
                self.stdout.write(json.dumps({"error": str(problem)}, ensure_ascii=False))
                sys.exit(1)
            raise CommandError(str(problem)) from None
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
        else:
            for line in report.lines():
                self.stdout.write(line)
        if report.interrupted:
            sys.exit(130)
        if report.stopped:
            sys.exit(1)

    def _run(self, options: dict[str, Any]) -> Report:
        currency = options["currency"].upper()
        if currency not in moneyed.CURRENCIES:
            raise FileProblem(f"There is no currency {options['currency']!r}.")
        if not _tells_a_day(options["dates"]):
            raise FileProblem(f"--dates {options['dates']!r} does not tell a day; one that does is %d/%m/%Y.")
        chosen = Options(
            currency=currency,
            date_format=options["dates"],
            dry_run=options["dry_run"],
            by=options["by"],
            pipeline=options["pipeline"].strip(),
            stages=tuple(name.strip() for name in options["stages"].split(",") if name.strip()),
            mapping=read_mapping(options["mapping"]) if options["mapping"] else {},
        )
        quiet = options["json"] or not sys.stderr.isatty()
        with tqdm(
            desc=options["file"].name, unit="B", unit_scale=True, disable=quiet, file=sys.stderr, leave=False
        ) as bar:

            def show(position: int, size: int) -> None:
                bar.total = size
                bar.update(position - bar.n)

            return running.run(
                options["file"],
                kind=options["kind"],
                options=chosen,
                encoding=options["encoding"],
                progress=show,
            )


def _tells_a_day(date_format: str) -> bool:
    day = dt.date(2031, 12, 24)
    try:
        return dt.datetime.strptime(day.strftime(date_format), date_format).date() == day  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return False
