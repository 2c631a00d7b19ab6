"""`manage.py race`: every race run twice, the naive way and through the gate, in a database of its own.

Ends with 1 if anything went wrong through the gate (with the seed that shows it again), or if the naive way lost
nothing: then the race was not run.
"""

import json
import random
import sys
from argparse import SUPPRESS, ArgumentParser
from contextlib import nullcontext
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from config.lab import mutants, mutation, report, running, scratch, side_by_side
from config.lab.running import Line, Mode
from config.lab.scenario import NoSuchScenario, Scenario, find, known

MODES = {"naive": [Mode.NAIVE], "guarded": [Mode.GUARDED], "both": [Mode.NAIVE, Mode.GUARDED]}
SHOWN = 5
"""Reasons that are told per scenario; the seed shows all of them again."""


class Command(BaseCommand):
    requires_system_checks: tuple[str, ...] = ()
    help = "Run the races that production will create, twice: the naive way and through the gate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--scenario", action="append", default=[], metavar="SLUG", help="default: all; repeatable")
        parser.add_argument("--mode", choices=sorted(MODES), default="both")
        parser.add_argument("--rounds", type=int, help="default: 200, and 5 where processes are started")
        parser.add_argument("--seed", type=int, help="decides who comes when; default: a new one, which is printed")
        parser.add_argument(
            "--jobs", type=int, default=side_by_side.usual(), help="scenarios at a time; default: one per core, up to 4"
        )
        parser.add_argument("--json", action="store_true", help="a list of objects, and no progress bar")
        parser.add_argument(
            "--mutate",
            nargs="*",
            metavar="MUTANT",
            help="take out each protection in turn and see that its race is then lost; default: all of them",
        )
        # How the mutation check starts itself: in the database that it has made, with one protection out.
        parser.add_argument("--mutant", default="", help=SUPPRESS)
        parser.add_argument("--database", default="", help=SUPPRESS)
        parser.add_argument("--list", action="store_true", help="name the scenarios and run none")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            for scenario in known():
                self.stdout.write(f"{scenario.slug:<34} {scenario.kind:<11} {scenario.title}")
            return
        if options["rounds"] is not None and options["rounds"] < 1:
            raise CommandError("--rounds is a whole number above zero.")
        if options["jobs"] < 1:
            raise CommandError("--jobs is a whole number above zero.")
        try:
            chosen = find(options["scenario"])
        except NoSuchScenario as unknown:
            raise CommandError(str(unknown)) from None
        seed = random.SystemRandom().randrange(1, 10**6) if options["seed"] is None else options["seed"]
        if options["mutate"] is not None:
            self._mutate(options["mutate"], seed, jobs=options["jobs"])
            return
        lines = self._run(chosen, MODES[options["mode"]], seed, options)
        self._show(lines, seed, as_json=options["json"])
        self._verdict(lines)

    def _run(self, chosen: list[Scenario], modes: list[Mode], seed: int, options: dict[str, Any]) -> list[Line]:
        plan = []
        for scenario in chosen:
            if missing := scenario.needs():
                self.stderr.write(f"{scenario.slug} was left out: {missing}")
                continue
            plan += [(scenario, mode, options["rounds"] or scenario.rounds) for mode in modes]
        quiet = options["json"] or not sys.stderr.isatty()
        total = sum(rounds for _, _, rounds in plan)
        with (
            scratch.database(use=options["database"]),
            tqdm(total=total, unit="round", disable=quiet, file=sys.stderr) as bar,
        ):
            alone = options["database"] or options["mutant"] or len(plan) == 1
            if options["jobs"] > 1 and not alone:
                errands = [side_by_side.Errand(scenario.slug, mode, rounds, seed) for scenario, mode, rounds in plan]
                return side_by_side.run(errands, jobs=options["jobs"], done=lambda line: bar.update(line.rounds))
            out = mutants.find([options["mutant"]])[0].out if options["mutant"] else nullcontext
            lines = []
            for scenario, mode, rounds in plan:
                bar.set_description(f"{scenario.slug} {mode}")
                lines.append(running.run(scenario, mode, rounds=rounds, seed=seed, tick=bar.update, out=out))
            return lines

    def _mutate(self, names: list[str], seed: int, *, jobs: int) -> None:
        try:
            chosen = mutants.find(names)
        except mutants.NoSuchMutant as unknown:
            raise CommandError(str(unknown)) from None
        total, quiet = len(chosen) + 1, not sys.stderr.isatty()
        with scratch.database(), tqdm(total=total, unit="mutant", disable=quiet, file=sys.stderr) as bar:
            catches = mutation.check(chosen, seed=seed, jobs=jobs, tick=bar.update)
        self.stdout.write("\n".join(mutation.rows(catches)))
        self.stdout.write(f"seed {seed}")
        if not mutation.all_caught(catches):
            raise SystemExit(1)

    def _show(self, lines: list[Line], seed: int, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps([report.as_json(line) for line in lines], indent=1))
            return
        self.stdout.write("\n".join(report.rows(lines)))
        self.stdout.write(f"seed {seed}")

    def _verdict(self, lines: list[Line]) -> None:
        bad = [line for line in lines if not line.as_it_should_be]
        for line in bad:
            if line.mode is Mode.NAIVE:
                self.stderr.write(f"{line.scenario}: the naive way lost nothing, so the race was not run.")
                continue
            self.stderr.write(f"{line.scenario}: {line.wrong} wrong through the gate; seed {line.seed} shows it again:")
            for reason in line.reasons[:SHOWN]:
                self.stderr.write(f"  {reason}")
        if bad:
            raise SystemExit(1)
