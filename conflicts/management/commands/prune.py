"""`manage.py prune`: take away old ledger entries, ended jobs and events that nobody can ask for any more."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from tqdm import tqdm

from conflicts import pruning

DAYS = 90


class Command(BaseCommand):
    help = (
        "Take away what was kept only so that nothing is done twice: ledger entries (never those of an effect outside),"
        " ended jobs, the leases of these and of settled conflicts, and events, all older than so many days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days", type=int, default=DAYS, help=f"what is younger stays; at least {pruning.LEAST_DAYS}, here {DAYS}"
        )
        parser.add_argument("--dry-run", action="store_true", help="only count, take nothing away")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        days, dry_run = options["days"], options["dry_run"]
        if not pruning.LEAST_DAYS <= days <= pruning.MOST_DAYS:
            raise CommandError(
                _("--days is %(days)d; it must lie between %(least)d and %(most)d.")
                % {"days": days, "least": pruning.LEAST_DAYS, "most": pruning.MOST_DAYS}
            )
        quiet = options["json"] or not options["verbosity"] or not sys.stderr.isatty()
        with tqdm(unit=" rows", file=sys.stderr, disable=quiet, leave=False) as bar:
            found = asdict(
                pruning.prune(days=days, dry_run=dry_run, progress=lambda part: bar.update(sum(asdict(part).values())))
            )
        if options["json"]:
            self.stdout.write(json.dumps({"days": days, "dry_run": dry_run, **found}))
            return
        words = _("Older than %(days)d days, would go:") if dry_run else _("Older than %(days)d days, gone:")
        self.stdout.write(words % {"days": days})
        for label, count in (
            (_("ledger entries"), found["ledger_entries"]),
            (_("jobs"), found["jobs"]),
            (_("leases of those jobs and of settled conflicts"), found["leases"]),
            (_("lease events"), found["lease_events"]),
            (_("job events"), found["job_events"]),
        ):
            self.stdout.write(f"  {label}: {count}")
