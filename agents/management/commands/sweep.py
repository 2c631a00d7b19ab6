"""`manage.py sweep`: look at every open deal without a next step, now."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext as _
from tqdm import tqdm

from agents import sweeps
from conflicts.clock import database_now


class Command(BaseCommand):
    help = "Give every open deal without a next step a suggestion, or a reason why not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        now = database_now()
        total = sweeps.candidates(now=now).count()
        quiet = options["json"] or not options["verbosity"] or not sys.stderr.isatty()
        with tqdm(total=total, unit=" deals", file=sys.stderr, disable=quiet, leave=False) as bar:
            run = sweeps.sweep(now=now, progress=bar.update)
        found = {
            "sweep": run.pk,
            "looked_at": run.looked_at,
            "proposed": run.proposed,
            "acted": run.acted,
            "left_alone": run.passed,
        }
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        self.stdout.write(_("%(looked_at)d deals looked at, %(proposed)d suggestions, %(acted)d carried out.") % found)
        for code, count in run.passed.items():
            self.stdout.write(_("%(code)s: %(count)d left alone.") % {"code": code, "count": count})
