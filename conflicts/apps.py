"""The concurrency kernel. Loading this app registers the checks that refuse to start without a guarantee."""

from django.apps import AppConfig


class ConflictsConfig(AppConfig):
    name = "conflicts"

    def ready(self) -> None:
        from conflicts import checks, delivery  # noqa: F401 - register the system checks and the kinds of jobs
