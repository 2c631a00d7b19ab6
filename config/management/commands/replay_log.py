"""`manage.py replay_log FILE`: real saves replayed as concurrent writers, in a database of the lab's own.

Ends with 1 if an update was lost through the gate, or something was turned away without a record.
"""

import datetime as dt
import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from config.lab import log, replaying, scratch
from config.lab.replaying import Tally
from config.lab.running import Mode

MODES = {"naive": [Mode.NAIVE], "guarded": [Mode.GUARDED], "both": [Mode.NAIVE, Mode.GUARDED]}
SHOWN = 5


class Command(BaseCommand):
    requires_system_checks: tuple[str, ...] = ()
    help = "Replay an event log (case_id, updated_at, actor, actor_kind, state, ...) as concurrent writers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--mode", choices=sorted(MODES), default="both")
        parser.add_argument(
            "--thinking", type=int, default=2, metavar="MINUTES", help="how long a record was open before its save"
        )
        parser.add_argument("--limit", type=int, help="rows to read; default: all")
        parser.add_argument("--json", action="store_true", help="a list of objects, one per mode, and no progress bar")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["limit"] is not None and options["limit"] < 1:
            raise CommandError("--limit is a whole number above zero.")
        if not 0 <= options["thinking"] <= 10_000:
            raise CommandError("--thinking is a number of minutes from 0 to 10000.")
        try:
            thinking = dt.timedelta(minutes=options["thinking"])
            cases = log.read(options["file"], limit=options["limit"], thinking=thinking)
        except log.UnreadableLog as error:
            raise CommandError(str(error)) from None
        modes = MODES[options["mode"]]
        total = sum(len(case) - 1 for case in cases) * len(modes)
        quiet = options["json"] or not sys.stderr.isatty()
        with scratch.database(), tqdm(total=total, unit="save", disable=quiet, file=sys.stderr) as bar:
            tallies = [replaying.replay(cases, mode, tick=bar.update) for mode in modes]
        self._show(tallies, as_json=options["json"])
        for tally in tallies:
            if tally.mode is Mode.GUARDED and (tally.reasons or tally.without_evidence):
                for reason in tally.reasons[:SHOWN]:
                    self.stderr.write(f"  {reason}")
                raise SystemExit(1)

    def _show(self, tallies: list[Tally], *, as_json: bool) -> None:
        found = [{name: value for name, value in vars(tally).items() if name != "reasons"} for tally in tallies]
        if as_json:
            self.stdout.write(json.dumps(found, indent=1))
            return
        for name in found[0] if found else ():
            self.stdout.write(f"{name.replace('_', ' '):<24}" + "".join(f"{tally[name]!s:>12}" for tally in found))
