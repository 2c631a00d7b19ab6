"""`manage.py bench`: how fast, on this machine, now. In a database of its own, thrown away at the end."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from config.bench import Bench, conversations, gate, holding, loaded, queue, scratch


class Command(BaseCommand):
    requires_system_checks: tuple[str, ...] = ()
    help = "Measure gate, leases, guard, partitions, conversations, import, sweep, pages, queue; ratios are of one run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = ["gate", "holding", "conversations", "loaded", "queue"]
        parser.add_argument("--only", nargs="*", choices=names, help="default: all")
        parser.add_argument("--data", type=Path, help="a folder with a real export; default: made up, of the same size")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        benches: dict[str, Bench] = {
            "gate": gate.measure,
            "holding": holding.measure,
            "conversations": conversations.measure,
            "loaded": lambda: loaded.measure(options["data"]),
            "queue": queue.measure,
        }
        figures = []
        for name in options["only"] or benches:
            if not options["json"]:
                self.stdout.write(self.style.MIGRATE_HEADING(name))
            with scratch.database():
                for figure in benches[name]():
                    figures.append({"bench": name, **vars(figure)})
                    if not options["json"]:
                        note = f"   ({figure.note})" if figure.note else ""
                        self.stdout.write(f"  {figure.name:<56} {figure.value:>12,.2f} {figure.unit}{note}")
        if options["json"]:
            self.stdout.write(json.dumps(figures, indent=1))
