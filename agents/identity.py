"""Who the agents are, as actors: a stable key for the history and the job's name for the reader."""

from django.utils.translation import gettext_lazy as _

from conflicts import actors
from conflicts.actors import Actor

FOLLOW_UP = actors.agent("follow-up", "Follow-up agent", words=_("Follow-up agent"))
REPLY = actors.agent("reply", "Reply agent", words=_("Reply agent"))


def short_name(actor: Actor) -> str:
    """As people speak of each other in running text: a person by the first name, an agent by its job."""
    return actor.name.split()[0] if actor.is_person and actor.name.split() else actor.shown or "-"
