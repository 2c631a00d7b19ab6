"""The concurrency kernel. Loading this app registers the checks that refuse to start without a guarantee."""

from django.apps import AppConfig


class ConflictsConfig(AppConfig):
    name = "conflicts"

    def ready(self) -> None:
        from conflicts import checks  # noqa: F401 - registers the system checks
