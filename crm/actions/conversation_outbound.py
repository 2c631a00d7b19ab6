"""What is said to a customer: by the agent (reply), by a person here (send) or on the phone (echo); notes; taking back.

Guarantees that the agent's answer is queued only if the customer has not written on, nobody has taken over and it has
not been answered, compared on the locked row that receiving also writes: either the answer comes first, or it is
refused. A person's words take the conversation over in the same transaction. Next in the flow: `conflicts/outbox.py`,
then `crm/channels/sending.py`.
"""

import datetime as dt
from typing import Any

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.clock import ClockTimestamp
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.models.outbox import Delivery, OutboxMessage
from conflicts.sentences import Sentence, actor
from conflicts.work import Work
from crm import contacting, templating, timers
from crm.actions.conversations import MESSAGES, NOT_CHANGED, arm
from crm.actions.fields import Line, Params, ProviderId, ShortLine, Text
from crm.channels.sending import destination_of
from crm.models import Conversation, Message, ReplyTimer
from crm.models.conversation import REACTION, Direction, Owner, Status
from crm.permissions import permits_conversation
from crm.signals import taken_over

MOST_DROPS = 2
"""Drafts in a row that may be dropped because the customer wrote on; the next answer goes out for what it saw, or
somebody who never stops typing would never be answered."""

NOT_SENT = Sentence("message_not_sent")
AROUND = related("contact", "account")


def _say(
    work: Work, text: str, *, key: str, counter: int, final: bool = False, drops: int = 0, template: str = ""
) -> None:
    """An outgoing message as writes of this Work: the line in the thread, the watermark, the row in the outbox."""
    conversation: Conversation = work.subject
    automatic = not work.by.is_person
    known = templating.approved(conversation, name=template, text=text) if template else None
    parameters = templating.values(known, conversation) if known else []
    headers = _mail_headers(conversation, automatic=automatic) if conversation.medium == "email" else {}
    work.add(
        Message(
            conversation=conversation,
            account_id=conversation.account_id,
            direction=Direction.OUT,
            at=work.now,
            made_by=str(work.by),
            text=text,
            automatic=automatic,
            outbox_key=key,
            answers_up_to=counter,
            headers=headers,
        )
    )
    before = conversation.answered_count
    work.set(
        answered_count=max(before, counter),
        waiting_since=_waiting_since(conversation, max(before, counter)),
        last_outbound_at=work.now,
    )
    work.send(
        destination_of(conversation.account.provider),
        {
            "account": conversation.account_id,
            "conversation": conversation.pk,
            "to": conversation.reply_to,
            "text": text,
            "template": template,
            "parameters": parameters,
            "language": conversation.language,
            "headers": headers,
            "automatic": automatic,
            "epoch": conversation.owner_epoch,
            "counter": counter,
            "answered": before,
            "final": final,
            "drops": drops,
        },
        key=key,
    )


def _waiting_since(conversation: Conversation, counter: int) -> dt.datetime | None:
    """When the first message after `counter` came; None if there is none."""
    if counter >= conversation.inbound_count:
        return None
    after = Message.objects.filter(conversation=conversation, number__gt=counter).order_by("number")
    return after.values_list("at", flat=True).first()


def _mail_headers(conversation: Conversation, *, automatic: bool) -> dict[str, Any]:
    """For threading: the last Message-ID is answered, all of them are referred to; automatic mail says that it is."""
    lines = Message.objects.filter(conversation=conversation).exclude(headers={}).order_by("at", "id")
    known = [found for line in lines if (found := line.headers.get("message_id"))]
    subject = next((line.headers["subject"] for line in lines if line.headers.get("subject")), conversation.title)
    headers = {"subject": subject if subject.lower().startswith("re:") else f"Re: {subject}"}
    if known:
        headers |= {"in_reply_to": known[-1], "references": " ".join(known[-20:])}
    return headers | ({"auto_submitted": "auto-replied"} if automatic else {})


# ---- the agent


class Reply(Params):
    text: Text
    counter: int
    """The conversation's inbound counter as the turn saw it."""
    epoch: int
    """The owner's epoch as the turn saw it."""
    answered: int | None = None
    """How far was answered as the turn saw it: what it did not have to answer must still be answered."""
    final: bool = False
    """Goes out for what it saw, though the customer wrote on: only after MOST_DROPS drafts were dropped in a row."""


def unit_of(conversation: int, *, epoch: int, answered: int, counter: int) -> str:
    """Names the work of answering these messages under this owner; anew, once an answer to them was taken back."""
    taken_back = Message.objects.filter(conversation=conversation, withdrawn=True, answers_up_to=counter).count()
    return f"{conversation}:{epoch}:{answered}-{counter}" + (f":{taken_back}" if taken_back else "")


def check_turn(
    conversation: Conversation, *, counter: int, epoch: int, final: bool, answered: int | None = None
) -> None:
    """Is the turn that saw this counter and epoch still the one to speak? Raises GoalMet, RuleBroken."""
    if not conversation.is_agents or conversation.owner_epoch != epoch:
        raise GoalMet("reply.person_took_over", state="manual_action_detected")
    if conversation.answered_count >= counter:
        raise GoalMet("reply.answered_already")
    if answered is not None and conversation.answered_count < answered:
        raise GoalMet("reply.taken_back_meanwhile")
    if conversation.inbound_count == counter:
        return
    if not final:
        raise GoalMet("reply.customer_wrote_again", count=conversation.inbound_count - counter)
    if ReplyTimer.objects.filter(conversation=conversation, drops__gte=MOST_DROPS).first() is None:
        raise RuleBroken("reply.not_final")


def _check_reply(work: Work) -> None:
    p: Reply = work.params
    if work.by.kind is not Kind.AGENT:
        raise RuleBroken("reply.agents_only")
    if not p.text:
        raise RuleBroken("message_empty")
    check_turn(work.subject, counter=p.counter, epoch=p.epoch, final=p.final, answered=p.answered)
    if forbidden := contacting.why_not(work.subject, work.subject.contact, now=work.now):
        raise RuleBroken(forbidden.code, **forbidden.facts)


def _reply(work: Work) -> None:
    p: Reply = work.params
    key = f"reply:{work.subject.pk}:{work.subject.version + 1}"
    drops = ReplyTimer.objects.filter(conversation=work.subject).values_list("drops", flat=True).first() or 0
    _say(work, p.text, key=key, counter=p.counter, final=p.final, drops=drops)


# ---- a person


class Say(Params):
    text: Text
    seen: int
    """The inbound counter on the page that the person answered."""
    said: int = 0
    """The key of the last message of ours on that page; 0 for none."""
    anyway: bool = False
    """The person has seen what a colleague said meanwhile and sends this as well."""
    template: ShortLine = ""


def _check_say(work: Work) -> None:
    p: Say = work.params
    if not p.text:
        raise RuleBroken("message_empty")
    if not work.by.is_person:
        raise RuleBroken("message_people_only")
    if p.template and not templating.approved(work.subject, name=p.template, text=p.text):
        raise RuleBroken("template_not_approved")
    approved = bool(p.template)
    if forbidden := contacting.why_not(work.subject, work.subject.contact, now=work.now, approved_template=approved):
        raise RuleBroken(forbidden.code, **forbidden.facts)
    ours = Message.objects.filter(conversation=work.subject, direction=Direction.OUT, withdrawn=False)
    others = ours.filter(pk__gt=p.said).exclude(made_by__startswith=f"{work.by.kind}:{work.by.key}:")
    newer = others.exclude(REACTION).order_by("-pk").first()
    # Two answers to one question are what this house is built against, whoever gives them.
    if newer and not p.anyway:
        raise Clash("answered_meanwhile", state="version_conflict", who=actor(newer.made_by), text=newer.text[:200])


def _takes_over(work: Work, *, owner: int | None) -> dict[str, Any]:
    """What a human sign changes: the owner, and with it the epoch that voids all the agent has begun."""
    conversation: Conversation = work.subject
    same = conversation.owner_kind == Owner.PERSON and (owner is None or conversation.owner_id == owner)
    values: dict[str, Any] = {"last_human_at": work.now, "status": Status.OPEN.value, "handed_over": ""}
    if not same:
        values |= {
            "owner_kind": Owner.PERSON.value,
            "owner_id": owner if owner is not None else conversation.owner_id,
            "owner_epoch": conversation.owner_epoch + 1,
        }
    return values


def _send(work: Work) -> None:
    p: Say = work.params
    work.set(**_takes_over(work, owner=int(work.by.key)))
    key = f"say:{work.subject.pk}:{work.subject.version + 1}"
    _say(work, p.text, key=key, counter=min(p.seen, work.subject.inbound_count), template=p.template)


class Heard(Params):
    provider_id: ProviderId
    text: Text = ""
    media: list[dict[str, str]] = []
    sent_at: dt.datetime | None = None
    late: bool = False
    reaction: bool = False
    headers: dict[str, Any] = {}


def _check_echo(work: Work) -> None:
    p: Heard = work.params
    if Message.objects.filter(account_id=work.subject.account_id, provider_id=p.provider_id).exists():
        raise GoalMet("message_known")
    if own_echo(work.subject, provider_id=p.provider_id, text=p.text):
        raise GoalMet("message_known")


STILL_OURS = dt.timedelta(minutes=10)
"""So long after a sending began, the same words coming back are taken for it."""


def own_echo(conversation: Conversation, *, provider_id: str, text: str) -> bool:
    """True if this is our own message coming back: by its number, or by its words while the sending is under way."""
    ours = OutboxMessage.objects.filter(subject=f"crm.conversation:{conversation.pk}")
    if ours.filter(remote_id=provider_id).exists():
        return True
    # Whoever types the same words again tomorrow, because nobody knows whether ours arrived, is a person.
    lately = ClockTimestamp() - STILL_OURS
    under_way = ours.filter(state__in=[Delivery.SENDING, Delivery.OUTCOME_UNKNOWN], sending_at__gt=lately)
    return any(message.payload.get("text") == text for message in under_way)


def _echo(work: Work) -> None:
    """Said on the phone, or wherever a person of ours writes: a human act, though nobody tells us whose."""
    p: Heard = work.params
    conversation: Conversation = work.subject
    at = min(p.sent_at, work.now) if p.sent_at else work.now
    work.add(
        Message(
            conversation=conversation,
            account_id=conversation.account_id,
            direction=Direction.OUT,
            at=at,
            sent_at=p.sent_at,
            made_by=str(work.by),
            text=p.text,
            media=p.media,
            provider_id=p.provider_id,
            late=p.late,
            headers=p.headers,
        )
    )
    if p.late or p.reaction:
        return
    counter = Message.objects.filter(conversation=conversation, number__isnull=False, at__lte=at).count()
    work.set(
        **_takes_over(work, owner=None),
        answered_count=max(conversation.answered_count, min(counter, conversation.inbound_count)),
        waiting_since=_waiting_since(conversation, max(conversation.answered_count, counter)),
        last_outbound_at=work.now,
    )


class Note(Params):
    text: Text


def _check_note(work: Work) -> None:
    if not work.params.text:
        raise RuleBroken("message_empty")


def _note(work: Work) -> None:
    """Takes nobody's conversation over; that somebody looks after it counts as a human sign."""
    work.add(
        Message(
            conversation=work.subject,
            account_id=work.subject.account_id,
            direction=Direction.NOTE,
            at=work.now,
            made_by=str(work.by),
            text=work.params.text,
        )
    )
    if work.by.is_person:
        work.set(last_human_at=work.now)


# ---- taking back what did not leave


class Withdraw(Params):
    key: Line
    why: ShortLine
    while_it_waits: bool = False
    """Only if nobody has begun to send it: not for whoever sends it, and has looked."""


def _check_withdraw(work: Work) -> None:
    message = Message.objects.filter(conversation=work.subject, outbox_key=work.params.key).first()
    if message is None:
        raise RuleBroken("message_gone")
    if message.withdrawn:
        raise GoalMet("message_withdrawn_already")
    if work.params.while_it_waits:
        # Locked: who is about to send it waits for us, and sees in its last look what we have done.
        waits = OutboxMessage.objects.select_for_update().get(key=work.params.key).state == Delivery.QUEUED
        if not waits:
            raise GoalMet("message_on_its_way")


def _withdraw(work: Work) -> None:
    conversation: Conversation = work.subject
    message = Message.objects.get(conversation=conversation, outbox_key=work.params.key)
    work.change(message, withdrawn=True)
    sent = OutboxMessage.objects.get(key=work.params.key).payload
    # Whoever has spoken since, a person who took over, has answered it, though the watermark may be the same. An echo
    # does not say what it answers: all that was there.
    since = Message.objects.filter(
        conversation=conversation, direction=Direction.OUT, withdrawn=False, late=False, pk__gt=message.pk
    ).exclude(REACTION)
    counters = [sent["counter"] if up_to is None else up_to for up_to in since.values_list("answers_up_to", flat=True)]
    answered = max([sent["answered"], *counters])
    if conversation.answered_count == sent["counter"] > answered:
        work.set(answered_count=answered, waiting_since=_waiting_since(conversation, answered))


def _arm_again(works: Any) -> None:
    """An answer that the customer overtook on its way out is a draft dropped like any other: they add up, or somebody
    who never stops typing would never be answered."""
    for work in works:
        overtaken = work.params.why == "reply.customer_wrote_again" and "answered_count" in work.changes
        sent = OutboxMessage.objects.get(key=work.params.key).payload
        timers.arm([work.subject.pk], drops=sent.get("drops", 0) + 1 if overtaken else None)


def _tell_taken_over(works: Any) -> None:
    """The timer is disarmed, and whoever keeps drafts, follow-ups or approvals about it closes them, all in one."""
    arm(works)
    for work in works:
        taken_over.send(sender=Conversation, conversation=work.subject, by=work.by)


for name, params, words, check, apply, fact, also, avoided in (
    ("reply", Reply, _("Answer the customer"), _check_reply, _reply, False, arm, NOT_SENT),
    ("send", Say, _("Write to the customer"), _check_say, _send, False, _tell_taken_over, NOT_SENT),
    ("echo", Heard, _("Record what was said on the phone"), _check_echo, _echo, True, _tell_taken_over, None),
    ("note", Note, _("Write a note"), _check_note, _note, True, None, NOT_CHANGED),
    ("withdraw", Withdraw, _("Take a message back"), _check_withdraw, _withdraw, True, _arm_again, None),
):
    register(
        Action(
            name=f"conversation.{name}",
            subject=Conversation,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=MESSAGES,
            permits=permits_conversation,
            avoided=avoided,
            records_fact=fact,
            also=also,
            loads=(AROUND,),
        )
    )
