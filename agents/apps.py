"""The agents: judgement about deals, and the tasks that ring for it. Next in the flow: `agents/sweeps.py`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentsConfig(AppConfig):
    name = "agents"
    verbose_name = _("Agents")

    def ready(self) -> None:
        # Registers sentences, fills the slots of the pages, and listens for take-overs, overrides and what is due.
        from agents import overrides, review, sentences, slots, takeover, turns  # noqa: F401
