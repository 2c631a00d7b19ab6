"""The judge of a replay: what became of it, by the rows that the database holds afterwards, the same for both ways.

A conversation is read as the order of its messages, which is the order of their commits (each was numbered with the
conversation's row locked). An answer says which lines it had seen (config/lab/chat/model.py); it counts when it was
sent, not when it was only written or was taken back.

    duplicate     answers a line that an earlier answer of the agent had answered
    stale         queued though a newer line of the customer, which it does not know, had been accepted before
    final         the same, but as the documented third answer after two dropped drafts, "for what it saw"
    over_human    follows a person's line with none of the customer's between, or answers what a person had answered
    unanswered    a line of the customer that at the end neither an answer nor a later line of a person covers

A wait lasts from the first line unanswered to the moment when the answer was sent, in seconds of life. `overhead` is
that part of it in which neither the window, nor the cap, nor the model was waited for: what the machine took for being
asked to live so fast, and for finding what a killed worker had left.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from agents.models import Turn, TurnState
from config.lab.chat.model import lines_in
from config.lab.chat.pace import Pace
from conflicts.models import OutboxMessage
from conflicts.models.outbox import Delivery
from crm.models import Message
from crm.models.conversation import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One line of a conversation, in the order of the commits."""

    who: str
    """customer, person or agent."""
    lines: frozenset[int]
    """The customer's line that this is, or the lines that an answer is about."""
    at: dt.datetime
    sent_at: dt.datetime | None = None
    """Of an answer: when it left; empty: it never did."""
    final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One turn."""

    began: dt.datetime
    ended: dt.datetime
    model: float
    """Real seconds in which the model was waited for; 0 where nobody lived to tell."""


@dataclass(kw_only=True)
class Verdict:
    counts: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    overheads: list[float] = field(default_factory=list)
    """As long as `waits`."""
    reasons: list[str] = field(default_factory=list)


def judge(name: str, heard: Sequence[Heard], turns: Sequence[Tried], pace: Pace, verdict: Verdict) -> None:
    """One conversation, added to the verdict."""
    waiting: dict[int, dt.datetime] = {}
    seen: set[int] = set()
    by_agent: set[int] = set()
    by_person: set[int] = set()
    last = ""
    for one in heard:
        match one.who:
            case "customer":
                waiting |= dict.fromkeys(one.lines, one.at)
                seen |= one.lines
            case "person":
                by_person |= set(waiting)
                waiting.clear()
            case _ if one.sent_at is not None:
                wrong = {
                    "duplicates": bool(one.lines & by_agent),
                    "over_human": last == "person" or bool(one.lines & by_person),
                    "final" if one.final else "stale_replies": any(line > max(one.lines) for line in seen),
                }
                verdict.counts.update(what for what, so in wrong.items() if so)
                verdict.counts["replies"] += 1
                bad = [what for what, so in wrong.items() if so and what != "final"]
                verdict.reasons += [f"{name}: {what}: {sorted(one.lines)}" for what in bad]
                if since := [waiting.pop(line) for line in sorted(one.lines) if line in waiting]:
                    _wait(name, heard, turns, min(since), one.sent_at, pace, verdict)
                by_agent |= one.lines
        if one.who != "agent":
            last = one.who
    verdict.counts["unanswered"] += len(waiting)
    verdict.reasons += [f"{name}: unanswered: {line}" for line in waiting]


def _wait(
    name: str,
    heard: Sequence[Heard],
    turns: Sequence[Tried],
    since: dt.datetime,
    until: dt.datetime,
    pace: Pace,
    verdict: Verdict,
) -> None:
    verdict.waits.append((until - since).total_seconds() * pace.speed)
    window, cap = (dt.timedelta(seconds=pace.real(seconds)) for seconds in (pace.window, pace.cap))
    inbound = [one.at for one in heard if one.who == "customer"]
    here, spent = since, dt.timedelta()
    for turn in (turn for turn in turns if since <= turn.began <= until):
        came = [at for at in inbound if since <= at <= turn.began]
        due = min(max(came, default=since) + window, since + cap)
        if len(came) >= FLUSH_AT:
            due = min(due, came[FLUSH_AT - 1])
        late = max(dt.timedelta(), turn.began - max(here, due))
        spent += late + max(dt.timedelta(), turn.ended - turn.began - dt.timedelta(seconds=turn.model))
        here = turn.ended
    spent += max(dt.timedelta(), until - here)
    verdict.overheads.append(spent.total_seconds() * pace.speed)
    own = verdict.waits[-1] - verdict.overheads[-1]
    if own > pace.bound:
        verdict.counts["over_bound"] += 1
        verdict.reasons.append(f"{name}: over the bound: {own:.1f} s beside {verdict.overheads[-1]:.1f} s of overhead")


FLUSH_AT = 10
"""As the lab's account says (crm/models/channel_account.py's default)."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    mode: str
    conversations: int
    messages: int
    turns: int
    replies: int
    superseded: int
    """Drafts dropped, and answers taken back before they left."""
    duplicates: int
    stale_replies: int
    over_human: int
    unanswered: int
    wait_p50: float
    wait_p95: float
    wait_max: float
    model_calls: int
    final: int
    taken_back: int
    """Of the superseded: queued already, stopped by the last look."""
    lost_turns: int
    """Their workers went silent."""
    bound: float
    """The cap and three generations."""
    over_bound: int
    """Waits that were longer, the machine's overhead taken off."""
    overhead_p50: float
    overhead_p95: float
    overhead_max: float
    killed: int
    stopped: int
    speed: float
    seed: int
    seconds: float
    reasons: tuple[str, ...] = field(default=(), compare=False)

    @property
    def good(self) -> bool:
        wrong = self.duplicates, self.stale_replies, self.over_human, self.unanswered, self.over_bound
        return not any(wrong)


def tally(pace: Pace, *, mode: str, seconds: float, killed: int, stopped: int) -> Tally:
    """From the database at hand."""
    verdict = Verdict()
    outbox = {message.key: message for message in OutboxMessage.objects.all()}
    tried: dict[int, list[Tried]] = {}
    turns = list(Turn.objects.order_by("started_at"))
    for turn in turns:
        model = pace.real(float(turn.facts.get("seconds", 0)))
        ended = turn.ended_at or turn.started_at
        tried.setdefault(turn.conversation_id, []).append(Tried(began=turn.started_at, ended=ended, model=model))
    messages = Message.objects.exclude(direction=Direction.NOTE).select_related("conversation")
    by_conversation = groupby(messages.order_by("conversation_id", "pk"), key=lambda m: m.conversation_id)
    conversations = taken_back = said = 0
    for pk, found in by_conversation:
        rows = list(found)
        conversations, said = conversations + 1, said + sum(not row.automatic for row in rows)
        taken_back += sum(row.withdrawn for row in rows)
        judge(
            rows[0].conversation.peer,
            [heard_of(row, outbox.get(row.outbox_key)) for row in rows],
            tried.get(pk, []),
            pace,
            verdict,
        )
    waits, overheads = sorted(verdict.waits), sorted(verdict.overheads)
    lost = [turn for turn in turns if turn.state == TurnState.RUNNING or turn.reason.get("code") == "turn.lost"]
    return Tally(
        mode=mode,
        conversations=conversations,
        messages=said,
        turns=len(turns),
        replies=verdict.counts["replies"],
        superseded=sum(turn.state == TurnState.SUPERSEDED for turn in turns) + taken_back,
        duplicates=verdict.counts["duplicates"],
        stale_replies=verdict.counts["stale_replies"],
        over_human=verdict.counts["over_human"],
        unanswered=verdict.counts["unanswered"],
        wait_p50=_share(waits, 0.5),
        wait_p95=_share(waits, 0.95),
        wait_max=_share(waits, 1.0),
        # Whoever died had asked, and did not live to count it.
        model_calls=sum(turn.calls for turn in turns) + sum(not turn.calls for turn in lost),
        final=verdict.counts["final"],
        taken_back=taken_back,
        lost_turns=len(lost),
        bound=pace.bound,
        over_bound=verdict.counts["over_bound"],
        overhead_p50=_share(overheads, 0.5),
        overhead_p95=_share(overheads, 0.95),
        overhead_max=_share(overheads, 1.0),
        killed=killed,
        stopped=stopped,
        speed=pace.speed,
        seed=pace.seed,
        seconds=round(seconds, 1),
        reasons=tuple(verdict.reasons),
    )


def heard_of(row: Message, message: OutboxMessage | None) -> Heard:
    """A message with its delivery; an answer without one was sent when it was written: the naive way has no outbox."""
    lines = frozenset(lines_in(row.text))
    if row.direction == Direction.IN:
        return Heard(who="customer", lines=lines, at=row.at)
    if not row.automatic:
        return Heard(who="person", lines=lines, at=row.at)
    if message is None:
        return Heard(who="agent", lines=lines, at=row.at, sent_at=row.at)
    left = message.ended_at if message.state == Delivery.SENT and not row.withdrawn else None
    return Heard(who="agent", lines=lines, at=row.at, sent_at=left, final=bool(message.payload["final"]))


def _share(ordered: Iterable[float], share: float) -> float:
    values = list(ordered)
    return round(values[min(len(values) - 1, int(share * len(values)))], 2) if values else 0.0
