"""What a customer does in a conversation: write. Stored, counted and, where it says so, acted upon without any model.

Guarantees that storing the message, raising the counter and arming the timer are one transaction, that a stop word or
the wish for a person takes effect in that very transaction, and that what is late or automatic sets nothing off.
Next in the flow: `crm/timers.py`, then `agents/turns.py`.
"""

import datetime as dt
from typing import Any

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register
from conflicts.exceptions import GoalMet
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm import keywords
from crm.actions.conversations import MESSAGES, arm
from crm.actions.fields import Params, ProviderId, Text
from crm.keywords import Intent
from crm.models import Conversation, Message
from crm.models.conversation import Direction, Owner, Status
from crm.permissions import permits_conversation

STATE_CONSENT = "conversation.state_consent"
"""The kind of job that writes down, at the contact, what the customer said about being written to."""


class Receive(Params):
    provider_id: ProviderId
    text: Text = ""
    media: list[dict[str, str]] = []
    sent_at: dt.datetime | None = None
    automatic: bool = False
    late: bool = False
    imported: bool = False
    """Late because it comes from an archive: nobody waits for an answer to it."""
    headers: dict[str, Any] = {}


def _check(work: Work) -> None:
    known = Message.objects.filter(account_id=work.subject.account_id, provider_id=work.params.provider_id)
    if known.exists():
        raise GoalMet("message_known")


def _receive(work: Work) -> None:
    p: Receive = work.params
    conversation: Conversation = work.subject
    counts = not (p.late or p.automatic)
    number = conversation.inbound_count + 1 if counts else None
    work.add(
        Message(
            conversation=conversation,
            account_id=conversation.account_id,
            direction=Direction.IN,
            number=number,
            # A provider's clock may be ahead: nothing stands in the thread later than it came.
            at=min(p.sent_at, work.now) if p.sent_at else work.now,
            sent_at=p.sent_at,
            made_by=str(work.by),
            text=p.text,
            media=p.media,
            provider_id=p.provider_id,
            automatic=p.automatic,
            late=p.late,
            headers=p.headers,
        )
    )
    intent = Intent.NONE if p.automatic or p.imported else keywords.read(p.text)
    _state_consent(work, intent)
    if number is None:
        if p.late and not p.imported and not p.automatic:
            _late(work)
        return
    values: dict[str, Any] = {
        "inbound_count": number,
        "last_inbound_at": work.now,
        "waiting_since": conversation.waiting_since or work.now,
        "status": Status.OPEN.value,
    }
    if intent is Intent.OPT_OUT:
        # Nothing more is said to them, not even about what they wrote before.
        values |= {"answered_count": number, "waiting_since": None, "owner_epoch": conversation.owner_epoch + 1}
    elif intent in (Intent.HUMAN, Intent.DOUBTFUL) and conversation.is_agents:
        values |= {
            "owner_kind": Owner.PERSON.value,
            "owner_id": None,
            "owner_epoch": conversation.owner_epoch + 1,
            "handed_over": intent.value,
        }
    work.set(**values)


def _state_consent(work: Work, intent: Intent) -> None:
    """Who says stop is heard, however late the message comes; and at once: it is work on the contact, which waits for
    none of the conversation's messages that are still to be delivered."""
    if intent in (Intent.OPT_OUT, Intent.OPT_IN):
        said = {"status": "refused" if intent is Intent.OPT_OUT else "granted"}
        work.later(
            STATE_CONSENT,
            {**said, "conversation": work.subject.pk, "said": keywords.plain(work.params.text)[:60]},
            key=f"consent:{work.subject.pk}:{work.params.provider_id}"[:255],
            subject=Ref("crm.contact", work.subject.contact_id),
        )


def _late(work: Work) -> None:
    """It was held up on its way. The agent does not answer it hours later; but where nothing newer is in hand and we
    have not spoken since, somebody has to see it: a person gets the conversation."""
    conversation: Conversation = work.subject
    written = work.params.sent_at or work.now
    spoken_since = conversation.last_outbound_at is not None and conversation.last_outbound_at > written
    if conversation.is_agents and conversation.unanswered == 0 and not spoken_since:
        work.set(
            owner_kind=Owner.PERSON.value,
            owner_id=None,
            owner_epoch=conversation.owner_epoch + 1,
            handed_over="late",
            status=Status.OPEN.value,
        )


register(
    Action(
        name="conversation.receive",
        subject=Conversation,
        params=Receive,
        words=_("Receive a message"),
        check=_check,
        apply=_receive,
        writes_aspects=MESSAGES,
        permits=permits_conversation,
        avoided=Sentence("message_not_stored_twice"),
        records_fact=True,
        also=arm,
    )
)
