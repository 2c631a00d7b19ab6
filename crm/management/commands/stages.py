"""`manage.py stages`: the stages that deals go through, for a workspace that begins without a file of deals."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conflicts import actors
from crm.imports import pipelines
from crm.imports.problems import FileProblem


class Command(BaseCommand):
    help = (
        'Make stages, in order, where they are missing: "New, Proposal, Won, Lost". Won and Lost end a deal. '
        "What is there stays as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", help="the names, parted by commas")
        parser.add_argument("--pipeline", default="", metavar="NAME", help="default: the default one")

    def handle(self, *args: Any, **options: Any) -> None:
        names = [name for part in options["names"].split(",") if (name := " ".join(part.split()))]
        if not names:
            raise CommandError("Name at least one stage.")
        if long := next((name for name in names if len(name) > 120), None):
            raise CommandError(f"A name has at most 120 characters; {long[:20]!r}… has {len(long)}.")
        try:
            stages, made = pipelines.open_stages(options["pipeline"].strip(), names, by=actors.SYSTEM, dry_run=False)
        except FileProblem as problem:
            raise CommandError(str(problem)) from None
        for line in made:
            self.stdout.write(line)
        listed = ", ".join(stage.name for stage in stages.all)
        self.stdout.write(f"{stages.pipeline.name}: {listed}.")
