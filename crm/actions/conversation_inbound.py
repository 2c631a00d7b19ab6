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
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm import keywords
from crm.actions.conversations import MESSAGES, arm
from crm.actions.fields import Line, Params, Text
from crm.keywords import Intent
from crm.models import Conversation, Message
from crm.models.conversation import Direction, Owner, Status
from crm.permissions import permits_conversation

STATE_CONSENT = "conversation.state_consent"
"""The kind of job that writes down, at the contact, what the customer said about being written to."""


class Receive(Params):
    provider_id: Line
    text: Text = ""
    media: list[dict[str, str]] = []
    sent_at: dt.datetime | None = None
    automatic: bool = False
    late: bool = False
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
    if number is None:
        return
    values: dict[str, Any] = {
        "inbound_count": number,
        "last_inbound_at": work.now,
        "waiting_since": conversation.waiting_since or work.now,
        "status": Status.OPEN.value,
    }
    intent = keywords.read(p.text)
    if intent in (Intent.OPT_OUT, Intent.OPT_IN):
        status = "refused" if intent is Intent.OPT_OUT else "granted"
        work.later(
            STATE_CONSENT,
            {"conversation": conversation.pk, "status": status, "said": keywords.plain(p.text)[:60]},
            key=f"consent:{conversation.pk}:{number}",
        )
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
