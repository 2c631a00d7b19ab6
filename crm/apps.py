"""The facts and their screens. Loading this app registers every action, sentence and the live bus."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CrmConfig(AppConfig):
    name = "crm"
    verbose_name = _("Sales")

    def ready(self) -> None:
        # Registers actions, words, what runs out, the live bus and the desk of the review queue.
        from crm import (  # noqa: F401
            actions,
            authority,
            consent_jobs,
            conversation_words,
            expiries,
            live,
            reports,
            sentences,
            sentences_governed,
            sentences_papers,
            undelivered,
        )
        from crm.channels import mail, twilio, webchat, whatsapp  # noqa: F401 - register themselves
