"""The broken bot of many houses: a lock that is let go before the model runs, and a timer in the conversation's row.

Each message sets off an answer after the quiet window, unless the row says that a newer one came meanwhile. Who answers
reads the row, lets the lock go, asks the model, sends, and saves the row as it was read: counter, timer and owner with
it. Run in a database whose guards are off (config/lab/scratch.py).
"""

import datetime as dt

from agents import prompts
from agents.identity import REPLY
from agents.models import Turn, TurnState
from agents.replies import responder
from config.celery import app
from config.lab import naive
from config.lab.chat.pace import Pace
from conflicts import leases
from conflicts.actors import Actor
from conflicts.clock import database_now
from crm import accepting
from crm.channels.events import Incoming
from crm.models import ChannelAccount, Conversation, Message
from crm.models.conversation import Direction, Owner

TASK = "lab.answer_naively"


def receive(account: ChannelAccount, peer: str, number: int, text: str) -> None:
    """The webhook: count, store, and an answer after the window."""
    pk = accepting.conversation_of(account, Incoming(provider_id=str(number), peer=peer, name=peer))
    conversation, now = Conversation.objects.get(pk=pk), database_now()
    conversation.inbound_count += 1
    conversation.last_inbound_at = now
    conversation.waiting_since = conversation.waiting_since or now
    naive.save(conversation)
    _store(conversation, Direction.IN, text, by=str(account.pk), at=now, number=conversation.inbound_count)
    app.send_task(TASK, args=(pk,), queue="agents", countdown=account.quiet_seconds)


def send(account: ChannelAccount, peer: str, number: int, text: str, by: Actor) -> None:
    """A person answers, and the conversation is theirs."""
    conversation, now = Conversation.objects.get(account=account, peer=peer), database_now()
    conversation.owner_kind, conversation.owner_id = Owner.PERSON, None
    conversation.answered_count, conversation.waiting_since = conversation.inbound_count, None
    naive.save(conversation)
    _store(conversation, Direction.OUT, text, by=str(by), at=now)


echo = send


def give_back(account: ChannelAccount, peer: str, by: Actor) -> None:
    conversation = Conversation.objects.get(account=account, peer=peer)
    conversation.owner_kind = Owner.AGENT
    naive.save(conversation)


@app.task(name=TASK, acks_late=False)  # type: ignore[untyped-decorator]
def answer(pk: int) -> None:
    window = dt.timedelta(seconds=Pace.at_hand().real(Pace.at_hand().window))
    with leases.holding(f"naive:{pk}", by=REPLY, unit="answer", reason="answers the customer", seconds=60) as lock:
        if isinstance(lock, leases.Busy):
            return
        conversation = prompts.load(pk)
    # Here the lock is let go, a few milliseconds after it was taken.
    now = database_now()
    if not conversation.is_agents or conversation.unanswered <= 0:
        return
    if conversation.last_inbound_at and now - conversation.last_inbound_at < window:
        return  # a newer message came; its own timer will ring
    turn = Turn.objects.create(
        conversation=conversation,
        counter=conversation.inbound_count,
        answered=conversation.answered_count,
        epoch=conversation.owner_epoch,
        fence=0,
        responder="lab",
        calls=1,
    )
    said = responder().answer(prompts.prompt_of(conversation, now=now))
    at = database_now()
    _store(conversation, Direction.OUT, said.text, by=str(REPLY), at=at, automatic=True)
    conversation.answered_count, conversation.waiting_since = conversation.inbound_count, None
    naive.save(conversation)
    Turn.objects.filter(pk=turn.pk).update(state=TurnState.QUEUED, text=said.text, ended_at=at)


def _store(
    conversation: Conversation, direction: Direction, text: str, *, by: str, at: dt.datetime, **more: object
) -> None:
    Message.objects.create(
        conversation=conversation,
        account_id=conversation.account_id,
        direction=direction,
        at=at,
        made_by=by,
        text=text,
        **more,
    )
