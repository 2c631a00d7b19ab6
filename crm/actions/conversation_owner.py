"""Who answers in a conversation: the agent or a person. Each change raises the epoch, which voids what was begun.

Guarantees that ownership is a stored fact and never derived, and that a person's word is final: only a person, or the
time that was agreed on, gives a conversation back. Next in the flow: `crm/timers.py`.
"""

import datetime as dt
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from conflicts.actions import Action, register, related
from conflicts.actors import Kind
from conflicts.exceptions import Clash, GoalMet, RuleBroken
from conflicts.sentences import actor
from conflicts.work import Work
from crm.actions.conversation_outbound import _tell_taken_over, check_turn
from crm.actions.conversations import NOT_CHANGED, arm
from crm.actions.fields import Key, Params
from crm.models import Conversation, User
from crm.models.conversation import Owner
from crm.permissions import permits_conversation

OWNER = frozenset({"owner"})


class Take(Params):
    owner: Key = None
    """Whom it is given to; default: the person who asks."""
    epoch: int
    """Of the page on which it was decided."""


def _check_take(work: Work) -> None:
    p: Take = work.params
    if not work.by.is_person:
        raise RuleBroken("conversation_people_take")
    if p.owner and not User.objects.filter(pk=p.owner, is_active=True).exists():
        raise RuleBroken("conversation_no_such_person")
    conversation: Conversation = work.subject
    wanted = p.owner or int(work.by.key)
    if conversation.owner_kind == Owner.PERSON and conversation.owner_id == wanted:
        raise GoalMet("conversation_yours_already", who=str(conversation.owner))
    if conversation.owner_epoch != p.epoch and conversation.owner_id is not None:
        taker = next(
            (c.by for c in reversed(work.moved) if c.aspect in ("owner", "owner_epoch")), conversation.changed_by
        )
        raise Clash("conversation_taken", who=actor(taker), owner=str(conversation.owner))


def _take(work: Work) -> None:
    work.set(
        owner_kind=Owner.PERSON.value,
        owner_id=work.params.owner or int(work.by.key),
        owner_epoch=work.subject.owner_epoch + 1,
        last_human_at=work.now,
        handed_over="",
    )


class GiveBack(Params):
    epoch: int


def _check_give_back(work: Work) -> None:
    p: GiveBack = work.params
    conversation: Conversation = work.subject
    if conversation.is_agents:
        raise GoalMet("conversation_agents_already")
    if conversation.owner_epoch != p.epoch:
        raise Clash("conversation_taken", who=actor(conversation.changed_by), owner=str(conversation.owner or "-"))
    if not work.by.is_person:
        since = conversation.last_human_at
        limit = conversation.account.give_back_minutes
        if limit is None or since is None or work.now - since < dt.timedelta(minutes=limit):
            raise GoalMet("conversation_looked_after")


def _give_back(work: Work) -> None:
    work.set(
        owner_kind=Owner.AGENT.value,
        owner_id=None,
        owner_epoch=work.subject.owner_epoch + 1,
        handed_over="",
    )


class HandOver(Params):
    counter: int
    epoch: int
    final: bool = False
    """As with an answer: for what it saw, though the customer wrote on."""
    reason: Literal["cannot_answer", "failed", "forbidden", "asked_for", "undelivered", "human", "doubtful"]


def _check_hand_over(work: Work) -> None:
    p: HandOver = work.params
    if work.by.kind is Kind.PERSON:
        raise RuleBroken("conversation_agents_hand_over")
    if p.reason != "undelivered":
        # A hand-over is an answer too: what it was decided on must still be all there is.
        check_turn(work.subject, counter=p.counter, epoch=p.epoch, final=p.final)
    elif not work.subject.is_agents:
        raise GoalMet("reply.person_took_over", state="manual_action_detected")


def _hand_over(work: Work) -> None:
    """To the owner of the deal it is about, if there is one; else to whoever takes it."""
    deal = work.subject.opportunity
    work.set(
        owner_kind=Owner.PERSON.value,
        owner_id=deal.owner_id if deal and deal.owner_id else None,
        owner_epoch=work.subject.owner_epoch + 1,
        handed_over=work.params.reason,
    )


rows: tuple[tuple[str, type[Params], Any, Any, Any, Any], ...] = (
    ("take_over", Take, _("Take a conversation over"), _check_take, _take, _tell_taken_over),
    ("give_back", GiveBack, _("Give a conversation back to the agent"), _check_give_back, _give_back, arm),
    ("hand_over", HandOver, _("Hand a conversation over to a person"), _check_hand_over, _hand_over, arm),
)
for name, params, words, check, apply, also in rows:
    register(
        Action(
            name=f"conversation.{name}",
            subject=Conversation,
            params=params,
            words=words,
            check=check,
            apply=apply,
            writes_aspects=OWNER,
            permits=permits_conversation,
            avoided=NOT_CHANGED,
            also=also,
            loads=(related("account", "owner", "opportunity"),),
        )
    )
