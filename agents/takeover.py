"""When a person takes a conversation over: what the agent had begun about it is closed in the same transaction.

Guarantees that with a person's first word the draft under way is dropped and no follow-up that would have the agent
write to this customer is left, nor an open approval of one: each by compare-and-swap on its state, linked to the
person's act.
What is written already waits in the outbox for its last look (crm/channels/sending.py), which stops it.
"""

from typing import Any

from django.dispatch import receiver

from agents import approving
from agents.models import Recommendation, Turn, TurnState
from agents.models.recommendation import OPEN_STATES
from agents.states import State
from conflicts.actors import Actor
from conflicts.clock import ClockTimestamp
from conflicts.outcomes import Outcome, Result
from conflicts.sentences import Sentence, actor
from crm.models import Conversation
from crm.signals import taken_over

CONTACTS = ("call", "mail")
"""Kinds of follow-up by which somebody would speak to the customer."""


@receiver(taken_over, dispatch_uid="agents.takeover")
def close_what_was_begun(sender: Any, conversation: Conversation, by: Actor, **kwargs: Any) -> None:
    why = Sentence("turn.taken_over", {"who": actor(by)}).as_json()
    Turn.objects.filter(conversation=conversation, state=TurnState.RUNNING).update(
        state=TurnState.SUPERSEDED, reason=why, ended_at=ClockTimestamp()
    )
    if conversation.opportunity_id is None:
        return
    about = Recommendation.objects.filter(
        opportunity=conversation.opportunity_id, state__in=OPEN_STATES, params__kind__in=CONTACTS
    )
    # Locked first: a yes that is being given this moment is there and void, or is refused.
    pks = list(about.select_for_update().order_by("pk").values_list("pk", flat=True))
    open_ones = Recommendation.objects.filter(pk__in=pks, state__in=OPEN_STATES)
    overtaken = Sentence("suggestion.taken_over", {"who": actor(by)})
    outcome = Outcome(result=Result.SUPERSEDED, sentence=overtaken)
    open_ones.update(
        state=State.SUPERSEDED, decided_at=ClockTimestamp(), overtaken_by=str(by), outcome=outcome.as_json()
    )
    approving.void_those_of(pks, why=overtaken)
