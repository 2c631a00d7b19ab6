"""The concurrency kernel. Loading this app registers the checks that refuse to start without a guarantee."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConflictsConfig(AppConfig):
    name = "conflicts"
    verbose_name = _("Review")

    def ready(self) -> None:
        from conflicts import checks, delivery  # noqa: F401 - register the system checks and the kinds of jobs
