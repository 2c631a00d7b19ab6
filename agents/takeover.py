"""When a person takes a conversation over: what the agent had begun about it is closed in the same transaction.

Guarantees that with a person's first word the draft under way is dropped and no follow-up that would have the agent
write to this customer, approved or not, is left: each by compare-and-swap on its state, linked to the person's act.
What is written already waits in the outbox for its last look (crm/channels/sending.py), which stops it.
"""

from typing import Any

from django.dispatch import receiver

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
    open_ones = Recommendation.objects.filter(
        opportunity=conversation.opportunity_id, state__in=OPEN_STATES, params__kind__in=CONTACTS
    )
    outcome = Outcome(result=Result.SUPERSEDED, sentence=Sentence("suggestion.taken_over", {"who": actor(by)}))
    open_ones.update(
        state=State.SUPERSEDED, decided_at=ClockTimestamp(), overtaken_by=str(by), outcome=outcome.as_json()
    )
