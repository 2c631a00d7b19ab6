"""Reports: what follows from what a provider says became of a message of ours.

Guarantees that it follows, in the transaction that stores the report or by a job of that transaction: a message nobody
could tell of is settled by a report that carries its key, and one that did not arrive comes before a person.
Next in the flow: `crm/undelivered.py`.
"""

import datetime as dt
import logging
from functools import partial

from django.db import transaction

from conflicts import jobs, outbox
from conflicts.clock import database_now
from conflicts.jobs import PutOff
from conflicts.leases import Claim
from conflicts.models.job import Job
from conflicts.models.outbox import Delivery, OutboxMessage
from conflicts.refs import Ref
from crm import live
from crm.channels.events import Reported
from crm.channels.sending import UNDELIVERED, destination_of
from crm.models import ChannelAccount, Message, MessageReport
from crm.models.conversation_timer import Report

logger = logging.getLogger(__name__)

REPORTED = "message.reported"
"""The kind of job."""
PATIENCE = dt.timedelta(minutes=10)
"""So long a report waits for a message that we have not noted yet."""


def heard(account: ChannelAccount, event: Reported) -> None:
    """In the transaction that stores the report. Most say only that all is well, and cost one look."""
    sent = OutboxMessage.objects.filter(key=event.key).only("state", "subject").first() if event.key else None
    open_end = sent is not None and sent.state in (Delivery.SENDING, Delivery.OUTCOME_UNKNOWN)
    if open_end or event.state == "failed":
        jobs.enqueue(
            REPORTED,
            f"reported:{account.pk}:{event.state}:{event.provider_id}"[:255],
            payload={"account": account.pk, "number": event.provider_id[:255]},
        )
    if sent is not None and sent.subject:
        subject = Ref.parse(sent.subject)
        transaction.on_commit(partial(live.nudge, subject, aspect="delivery"), robust=True)


def act(job: Job, claim: Claim) -> None:
    """The handler. The row in force counts, not the report that rang: several may have come meanwhile."""
    account = ChannelAccount.objects.get(pk=job.payload["account"])
    report = MessageReport.objects.get(account=account, provider_id=job.payload["number"])
    message = _message_of(account, report)
    if message is None:
        if _said_elsewhere(account, report):
            return
        if database_now() - job.created_at < PATIENCE:
            raise PutOff(5, "the message it is about has not been noted yet")
        logger.warning("A report about a message that nobody here sent: %s %s", account, report.state)
        return
    match message.state:
        case Delivery.SENDING:
            raise PutOff(2, "its sender has not noted the end yet")
        case Delivery.QUEUED:
            raise PutOff(15, "it is about to be sent, after a look at this report")
        case Delivery.OUTCOME_UNKNOWN:
            settle(account, message, report)
    if report.state == Report.FAILED:
        jobs.enqueue(UNDELIVERED, f"undelivered:{message.key}", payload={"key": message.key})


def settle(account: ChannelAccount, message: OutboxMessage, report: MessageReport) -> None:
    """It arrived at the provider: nobody has to look any more. Raises PutOff if something moved at this moment."""
    if not outbox.arrived(message.key, by=account.actor, remote_id=report.provider_id[:200]):
        raise PutOff(1, "somebody has settled it at this moment")


def _message_of(account: ChannelAccount, report: MessageReport) -> OutboxMessage | None:
    ours = OutboxMessage.objects.filter(destination=destination_of(account.provider))
    if report.key and (found := ours.filter(key=report.key).first()):
        return found
    return ours.filter(remote_id=report.provider_id).first()


def _said_elsewhere(account: ChannelAccount, report: MessageReport) -> bool:
    """A person's words from the phone: they see there what became of them."""
    return Message.objects.filter(account=account, provider_id=report.provider_id).exists()


jobs.register(REPORTED, act)
