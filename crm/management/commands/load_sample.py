"""`manage.py load_sample`: the sample workspace, into an empty database only."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from crm.sample import LOGINS
from crm.sample.loading import NotEmpty, load


class Command(BaseCommand):
    help = (
        "Load the sample workspace (people, companies, contacts, deals) into an empty database. "
        "Its passwords are known to everybody who reads the code: for trying out, never for real work."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made = load(now=timezone.now())
        except NotEmpty:
            raise CommandError(
                "The sample is for an empty database; this one has people or records in it. Nothing was loaded."
            ) from None
        counts = ", ".join(f"{count} {kind}" for kind, count in made.items())
        self.stdout.write(f"Loaded the sample workspace: {counts}.")
        if options["verbosity"] > 1:
            for role, username, password in LOGINS:
                self.stdout.write(f"  {role:<14} {username} / {password}")
