"""The concurrency kernel. Loading this app registers the checks that refuse to start without a guarantee."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConflictsConfig(AppConfig):
    name = "conflicts"
    verbose_name = _("Review")

    def ready(self) -> None:
        # Register the system checks, the kinds of jobs and what can be decided about a conflict.
        from conflicts import checks, decisions, delivery  # noqa: F401
