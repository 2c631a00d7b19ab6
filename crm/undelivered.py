"""Undelivered: what did not reach the customer comes before a person, and what it answered is unanswered again.

Guarantees, as a job of the transaction that noted the failure, that nobody has to look for it: of an answer of the
agent the conversation is handed over (the agent does not try again what the channel refuses), of a person's words it
waits again in that person's list. What the last look stopped has been taken back already, with its own reason.
"""

from conflicts import gate, jobs
from conflicts.leases import Claim
from conflicts.models.job import Job
from conflicts.models.outbox import OutboxMessage
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.sentences import Sentence
from crm.channels.sending import UNDELIVERED, withdraw
from crm.models import Conversation, Message


class NotHandedOver(Exception):
    """The conversation moved at this moment; it is tried again."""


def surface(job: Job, claim: Claim) -> None:
    message = OutboxMessage.objects.get(key=job.payload["key"])
    line = Message.objects.filter(outbox_key=message.key).first()
    if line is None or line.withdrawn:
        return
    if line.automatic:
        # First the owner, then the watermark: taken back under the agent, it would be answered by the agent again.
        _hand_over(message, claim=claim)
    withdraw(message, why=Sentence("message.undelivered"))


def _hand_over(message: OutboxMessage, *, claim: Claim) -> None:
    conversation = Conversation.objects.select_related("account").get(pk=message.payload["conversation"])
    if not conversation.is_agents:
        return
    outcome = gate.commit(
        Proposal(
            action="conversation.hand_over",
            by=conversation.account.actor,
            basis=(Read.of(conversation),),
            params={
                "counter": message.payload["counter"],
                "epoch": conversation.owner_epoch,
                "reason": "undelivered",
            },
            key=f"undelivered:{message.key}:{conversation.version}"[:255],
            lease=claim,
            source=f"outbox:{message.pk}",
        )
    )
    if not outcome.done and outcome.settled.result is not Result.SUPERSEDED:
        raise NotHandedOver(str(outcome.sentence))


jobs.register(UNDELIVERED, surface)
