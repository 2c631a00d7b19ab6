"""What a customer said about being written to, carried from the conversation to the contact: a job, so that it is
neither lost nor forgotten when the transaction that stored the message is long over. Next: `conflicts/running.py`."""

from django.utils.translation import gettext as _

from conflicts import gate, jobs
from conflicts.actors import SYSTEM
from conflicts.leases import Claim
from conflicts.models.job import Job
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.actions.conversation_inbound import STATE_CONSENT
from crm.models import Conversation
from crm.models.channel_account import Medium


def state_consent(job: Job, claim: Claim) -> None:
    conversation = Conversation.objects.select_related("account").get(pk=job.payload["conversation"])
    if conversation.medium == Medium.WEBCHAT:
        return  # nobody is written to there unasked, and there is nothing to agree to
    gate.commit(
        Proposal(
            action="contact.state_consent",
            by=SYSTEM,
            basis=(Read.unread(Ref("crm.contact", conversation.contact_id)),),
            params={
                "channel": conversation.medium,
                "status": job.payload["status"],
                "source": _("wrote “%(said)s” on %(channel)s")
                % {"said": job.payload["said"], "channel": conversation.account.name},
                "at": job.created_at,
            },
            key=job.key,
            lease=claim,
            source=f"conversation:{conversation.pk}",
        )
    )


jobs.register(STATE_CONSENT, state_consent)
