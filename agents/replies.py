"""Replies: one turn of a conversation, from a due timer to an answer that is queued, or a draft that is dropped.

Guarantees one answer per burst; none that is older than the customer's last message; none over a person; and none by a
worker whose lease ran out. In this order:

    lease      compare-and-swap on the conversation's turn; lasts while its worker lives, for longer than the model may
               take; a worker that dies frees it within seconds
    look       counter, epoch and all pending messages, read once
    generate   once, for all of them together, outside any transaction
    commit     the gate, with the lease: counter, epoch and fencing token compared on the locked row that receiving
               also writes; the draft is queued, or dropped and kept with its reason, and the timer armed again

After two drops in a row the third answer goes out for what it saw (crm/actions/conversation_outbound.py). A failed or
empty turn moves no watermark; after several in a row a person gets the conversation. Next in the flow:
`conflicts/outbox.py`, then `crm/channels/sending.py`.
"""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from agents import prompts, turns
from agents.identity import REPLY
from agents.models import Turn, TurnState
from agents.responders.port import Answer, Responder
from conflicts import gate, leases, limits
from conflicts.clock import ClockTimestamp
from conflicts.heartbeat import Heartbeat
from conflicts.leases import Busy, Grant
from conflicts.models.lease import Renewal
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from crm import contacting, live, timers
from crm.actions.conversation_outbound import MOST_DROPS, unit_of
from crm.channels import sending
from crm.channels.sending import Way
from crm.models import Conversation, ReplyTimer

logger = logging.getLogger(__name__)

MOST_FAILURES = 3
"""Turns in a row that may fail before a person gets the conversation."""

MOMENT = 0.2
"""Seconds that are given to an answer of ours which is on its way."""

SILENT_AFTER = 15.0
"""Seconds without a sign of life after which a worker has lost its turn: another one answers, and nobody waits for the
whole time that a model may take."""

PAUSE = 5.0
"""Seconds before a failed turn is tried again; doubled each time."""


class End(StrEnum):
    NOT_DUE = "not_due"
    BUSY = "busy"
    WAITS = "waits"
    """The model may not be asked now, or an answer of ours is on its way."""
    QUEUED = "queued"
    SUPERSEDED = "superseded"
    HANDED_OVER = "handed_over"
    FAILED = "failed"


def responder() -> Responder:
    """The one that the settings name. Raises ImportError for a name that is none (checked at the start)."""
    found: Responder = import_string(settings.VIGENTE_RESPONDER)()
    return found


def take_turn(conversation: int, *, responder: Responder | None = None) -> End:
    """Answer what is pending in this conversation, if it is due. Safe to be called by anybody, any number of times."""
    if not ReplyTimer.objects.filter(pk=conversation, due_at__lte=ClockTimestamp()).exists():
        return End.NOT_DUE
    writer = responder or globals()["responder"]()
    end = _under_lease(conversation, writer)
    # Only now, with the lease given back: a bell that rang for what came meanwhile found us at work and went home.
    turns.ring_for([conversation])
    if end not in (End.NOT_DUE, End.BUSY, End.QUEUED):
        _show(conversation)
    return end


def _show(conversation: int) -> None:
    """Open pages show that the agent writes, or does so no more; a queued answer tells them by itself."""
    live.nudge(Ref("crm.conversation", conversation), aspect="turn")


def _under_lease(conversation: int, writer: Responder) -> End:
    whole = float(settings.VIGENTE_TURN_SECONDS)
    with leases.holding(
        timers.turn_key(conversation),
        by=REPLY,
        unit=f"conversation:{conversation}",
        reason="answers the customer",
        seconds=min(SILENT_AFTER, whole),
        renewal=Renewal.HEARTBEAT if whole > SILENT_AFTER else Renewal.NEVER,
    ) as grant:
        if isinstance(grant, Busy):
            return End.BUSY
        # The last beat comes so early that the turn ends with its whole time, also for a worker that is stuck in it.
        with Heartbeat(grant, most=whole - SILENT_AFTER) if whole > SILENT_AFTER else nullcontext():
            return _turn(conversation, replace(grant, seconds=whole), writer)


def _turn(pk: int, grant: Grant, writer: Responder) -> End:
    timer = ReplyTimer.objects.filter(pk=pk, due_at__lte=ClockTimestamp()).first()
    if timer is None:
        return End.NOT_DUE  # whoever had the lease before us has answered
    _close_lost(timer, grant)
    conversation = prompts.load(pk)
    if not (conversation.is_agents and conversation.unanswered > 0 and conversation.account.active):
        timers.arm([pk])
        return End.NOT_DUE
    match sending.make_way(conversation):
        case Way.TAKEN:
            timers.arm([pk], not_before=MOMENT)
            return End.WAITS
        case Way.CLEARED:
            timer, conversation = ReplyTimer.objects.get(pk=pk), prompts.load(pk)
    room = limits.of_model(writer.name, by=REPLY)
    if not room:
        timers.arm([pk], not_before=max(room.retry_after, 1.0))
        return End.WAITS
    turn = Turn.objects.create(
        conversation=conversation,
        counter=conversation.inbound_count,
        answered=conversation.answered_count,
        epoch=conversation.owner_epoch,
        fence=grant.claim.fence,
        final=timer.drops >= MOST_DROPS,
        responder=writer.name,
    )
    live.nudge(Ref("crm.conversation", pk), aspect="turn")
    _show(pk)
    if timer.failures >= MOST_FAILURES:
        answer = Answer(hand_over="failed")
    elif contacting.why_not(conversation, conversation.contact, now=turn.started_at):
        answer = Answer(hand_over="forbidden")
    else:
        try:
            answer = _written(writer.answer(prompts.prompt_of(conversation, now=turn.started_at)))
        except Exception as error:  # whatever it was: the turn is tried again, or a person gets the conversation
            logger.warning("Turn %s failed.", turn, exc_info=True)
            return _failed(turn, timer, grant, error)
    if grant.must_stop:
        # Two thirds of the time are over: another may be about to take the conversation. Nothing is begun any more.
        return _failed(turn, timer, grant, TimeoutError("the model took too long"))
    turn.text, turn.facts, turn.calls = answer.text, dict(answer.facts), answer.calls
    return _commit(turn, grant, answer, read=conversation)


def _close_lost(timer: ReplyTimer, grant: Grant) -> None:
    """Turns whose worker went silent: with the lease in our hands they are over. They count as failed ones, or a text
    that kills every worker would go round for ever."""
    before_us = Turn.objects.filter(conversation=timer.pk, state=TurnState.RUNNING, fence__lt=grant.claim.fence)
    lost = before_us.update(state=TurnState.FAILED, reason=Sentence("turn.lost").as_json(), ended_at=ClockTimestamp())
    if lost:
        timer.failures += lost
        ReplyTimer.objects.filter(pk=timer.pk).update(failures=timer.failures)


def _written(answer: Answer) -> Answer:
    """Raises ValueError for an answer without words: it has answered nothing, and moves no watermark."""
    if not answer.hand_over and not answer.text.strip():
        raise ValueError("the answer is empty")
    return answer


def _commit(turn: Turn, grant: Grant, answer: Answer, *, read: Conversation) -> End:
    ends: list[End] = []

    def settle(pairs: Sequence[tuple[Proposal, Outcome]]) -> None:
        [(_, outcome)] = pairs
        ends.append(_settle(turn, outcome, handed_over=bool(answer.hand_over)))

    params: dict[str, Any] = {"counter": turn.counter, "epoch": turn.epoch}
    if answer.hand_over:
        action, params = "conversation.hand_over", {**params, "reason": answer.hand_over, "final": turn.final}
    else:
        action = "conversation.reply"
        params |= {"text": answer.text, "final": turn.final, "answered": turn.answered}
    unit = unit_of(turn.conversation_id, epoch=turn.epoch, answered=turn.answered, counter=turn.counter)
    gate.commit(
        Proposal(
            action=action,
            by=REPLY,
            basis=(Read.of(read),),
            params=params,
            # Of the unit of work: these messages, under this owner. A repetition gets the first answer.
            key=f"{action.partition('.')[2]}:{unit}",
            lease=grant.claim,
            source=f"turn:{turn.pk}",
        ),
        settle=settle,
    )
    return ends[-1]


def _settle(turn: Turn, outcome: Outcome, *, handed_over: bool) -> End:
    """How the turn ended, with the timer, in the gate's transaction."""
    settled = outcome.settled
    if settled.done:
        state = TurnState.HANDED_OVER if handed_over else TurnState.QUEUED
        timers.arm([turn.conversation_id], drops=0, failures=0)
    elif settled.result is Result.SUPERSEDED:
        state = TurnState.SUPERSEDED
        drops: int | None
        match settled.sentence and settled.sentence.code:
            case "reply.customer_wrote_again":
                drops = ReplyTimer.objects.values_list("drops", flat=True).get(pk=turn.conversation_id) + 1
            case "reply.taken_back_meanwhile":
                drops = None  # counted where it was taken back
            case _:
                drops = 0
        timers.arm([turn.conversation_id], drops=drops)
    elif settled.state == "lease_expired":
        # Somebody else has the conversation, or will: this one has nothing more to say, not even about the timer.
        state = TurnState.SUPERSEDED
    else:
        state = TurnState.FAILED
        failures = ReplyTimer.objects.values_list("failures", flat=True).get(pk=turn.conversation_id) + 1
        timers.arm([turn.conversation_id], failures=failures, not_before=PAUSE)
    _end(turn, state, settled.sentence, record=outcome.record)
    return End(state.value)


def _failed(turn: Turn, timer: ReplyTimer, grant: Grant, error: Exception) -> End:
    """The watermark stays where it is. Tried again after a pause; after several times in a row a person answers."""
    failures = timer.failures + 1
    pause = PAUSE * 2 ** (failures - 1) if failures < MOST_FAILURES else 0.0
    with transaction.atomic():
        if leases.in_force([grant.claim]) == {grant.claim}:
            timers.arm([turn.conversation_id], failures=failures, not_before=pause)
        # else somebody else has the conversation: we have nothing to say about its timer any more
        _end(turn, TurnState.FAILED, Sentence("turn.failed", {"error": type(error).__name__}))
    return End.FAILED


def _end(turn: Turn, state: TurnState, why: Sentence | None, *, record: int | None = None) -> None:
    mine = Turn.objects.filter(pk=turn.pk)
    draft = {"text": turn.text, "facts": turn.facts, "calls": turn.calls}
    ended = mine.filter(state=TurnState.RUNNING).update(
        **draft, state=state, reason=why.as_json() if why else {}, record=record, ended_at=ClockTimestamp()
    )
    if not ended:
        # A person took over while it was written (agents/takeover.py) and said why; the draft is kept as evidence.
        mine.update(**draft)
    ref = Ref("crm.conversation", turn.conversation_id)
    transaction.on_commit(lambda: live.nudge(ref, aspect="turn"), robust=True)
