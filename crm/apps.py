"""The facts and their screens. Loading this app registers every action, sentence and the live bus."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CrmConfig(AppConfig):
    name = "crm"
    verbose_name = _("Sales")

    def ready(self) -> None:
        from crm import actions, live, sentences  # noqa: F401 - registers actions, sentences and the live bus
