"""Drafts: what the inbox shows of the agent's turns: that it is writing, and what it wrote and did not say, and why.

A turn whose worker died is shown as writing no longer than its lease could last. Next in the flow: `agents/slots.py`.
"""

import datetime as dt
from collections.abc import Sequence

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from agents.identity import REPLY
from agents.models import Turn, TurnState
from conflicts import gate
from conflicts.clock import ClockTimestamp, database_now
from conflicts.proposals import Proposal, Read
from crm.models import Conversation, User
from crm.thread import Told

AT_MOST = 40
SILENT = (TurnState.SUPERSEDED, TurnState.FAILED)
"""Ends after which the customer has read nothing, and nothing else in the thread says so."""


def writing(conversations: Sequence[int]) -> set[int]:
    """Of these conversations, those with a turn under way."""
    if not conversations:
        return set()
    since = database_now() - dt.timedelta(seconds=float(settings.VIGENTE_TURN_SECONDS))
    running = Turn.objects.filter(conversation__in=conversations, state=TurnState.RUNNING, started_at__gte=since)
    return set(running.values_list("conversation", flat=True))


def told(conversation: Conversation, *, viewer: User) -> list[Told]:
    """The last drafts that were dropped and turns that failed."""
    turns = list(Turn.objects.filter(conversation=conversation, state__in=SILENT).order_by("-id")[:AT_MOST])
    newest = turns[0].pk if turns else None
    return [
        Told(
            at=turn.ended_at or turn.started_at,
            kind="part",
            part={
                "template": "agents/draft.html",
                "context": {"turn": turn, "open": turn.pk == newest, "evidence": evidence(turn, viewer=viewer)},
            },
        )
        for turn in turns
    ]


def evidence(turn: Turn, *, viewer: User) -> str:
    """Where whoever may enter the admin reads the record of it; empty for the others, and where there is none."""
    if turn.record_id is None or not viewer.is_staff:
        return ""
    try:
        return reverse("admin:conflicts_conflict_change", args=[turn.record_id])
    except NoReverseMatch:
        return ""


def come_too_late(conversation: int, *, text: str) -> None:
    """A turn that had read all but the last message: refused by the gate, and kept with its reason and evidence."""
    talk = Conversation.objects.get(pk=conversation)
    seen = talk.inbound_count - 1
    turn = Turn.objects.create(
        conversation=talk,
        counter=seen,
        answered=talk.answered_count,
        epoch=talk.owner_epoch,
        fence=0,
        responder="sample",
        text=text,
    )
    params = {"text": text, "counter": seen, "epoch": talk.owner_epoch}
    outcome = gate.commit(
        Proposal(action="conversation.reply", by=REPLY, basis=(Read.of(talk),), params=params, source=f"turn:{turn.pk}")
    )
    why = outcome.sentence.as_json() if outcome.sentence else {}
    Turn.objects.filter(pk=turn.pk).update(
        state=TurnState.SUPERSEDED, reason=why, record=outcome.record, ended_at=ClockTimestamp()
    )
