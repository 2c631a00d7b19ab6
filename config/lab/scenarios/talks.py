"""What the races of conversations share: a chat without a window, a customer, both ways to answer, and the judge.

Lines carry their number and answers name the lines that they have seen, so what became of a conversation is told from
its messages alone, by the judge of the replay (config/lab/chat/tally.py).
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import Any

from agents import replies
from agents.identity import REPLY
from agents.responders.port import Answer, Prompt
from config.lab import naive
from config.lab.chat.pace import Pace
from config.lab.chat.plan import text_of
from config.lab.chat.tally import Heard, Verdict, heard_of, judge
from config.lab.rounds import Round
from config.lab.scenario import Judgement
from config.lab.world import World
from conflicts import actors, gate, partitions, running
from conflicts.clock import ClockTimestamp, database_now
from conflicts.models import OutboxMessage
from conflicts.models.job import Job, JobState
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm import accepting
from crm.channels.events import Incoming
from crm.models import ChannelAccount, Conversation, Message, ReplyTimer
from crm.models.conversation import Direction, Owner

LABEL = "crm.conversation"


def account() -> ChannelAccount:
    """Due at once: whatever a window would hide is seen here."""
    if found := ChannelAccount.objects.first():
        return found
    values = {"name": "Chat", "provider": "webchat", "medium": "webchat", "address": "lab"}
    pace = {"quiet_seconds": 0, "cap_seconds": 0}
    gate.commit(Proposal(action="channel.create", by=actors.SYSTEM, params=values | pace))
    return ChannelAccount.objects.get()


def talks(world: World, count: int) -> list[Round]:
    """A conversation for each round, in which nobody has said anything."""
    chat = account()
    rounds = []
    for number in range(count):
        pk = accepting.conversation_of(chat, Incoming(provider_id="", peer=f"R{number}", name=f"Customer {number}"))
        rounds.append(Round(number, world, Ref(LABEL, pk)))
    return rounds


def now(one: Round) -> Conversation:
    return Conversation.objects.get(pk=one.deal.pk)


# ---- through the product


def hear(one: Round, line: int, **more: Any) -> accepting.Taken:
    """The customer's line arrives."""
    peer = f"R{one.number}"
    event = Incoming(provider_id=f"{peer}:{line}", peer=peer, name=peer, text=text_of(peer, line), **more)
    [taken] = accepting.take(account(), [event])
    return taken


class Says:
    """A model that names what it has seen; `during` happens while it writes."""

    name = "lab"

    def __init__(self, word: str = "Answer", *, during: Callable[[], object] = lambda: None) -> None:
        self.word, self.during = word, during
        self.asked: list[tuple[str, ...]] = []

    def answer(self, prompt: Prompt) -> Answer:
        about = tuple(line.text for line in prompt.pending)
        self.asked.append(about)
        self.during()
        return Answer(text=f"{self.word} about {', '.join(about)}.", calls=1)


def turn(one: Round, model: Says) -> replies.End:
    return replies.take_turn(one.deal.pk, responder=model)


def ask(one: Round, action: str, user: Any, **params: Any) -> Any:
    """A person, on the page as it is now."""
    by = actors.person(user)
    return gate.commit(Proposal(action=action, by=by, basis=(Read.of(now(one)),), params=params))


def say(one: Round, user: Any, *, anyway: bool = False) -> None:
    """A person answers; told that somebody was faster, they say it all the same."""
    seen = now(one)
    ours = Message.objects.filter(conversation=seen, direction=Direction.OUT, withdrawn=False).order_by("-pk")
    said = ours.values_list("pk", flat=True).first() or 0
    params = {"text": "I have it.", "seen": seen.inbound_count, "said": said, "anyway": anyway}
    if not ask(one, "conversation.send", user, **params).done and not anyway:
        say(one, user, anyway=True)


def deliver() -> None:
    """What can be done now, until nothing can; only the partitions that have something are asked."""
    due = Job.objects.filter(state=JobState.QUEUED, due_at__lte=ClockTimestamp())
    while slots := due.values_list("slot", flat=True).distinct():
        if not any(running.run_next(partitions.partition_of(slot)) for slot in slots):
            return


MOST_TURNS = 12


def finish(one: Round, model: Says | None = None) -> None:
    """What the workers would do until nothing is due and nothing is on its way."""
    for _ in range(MOST_TURNS):
        deliver()
        if not ReplyTimer.objects.filter(pk=one.deal.pk, due_at__isnull=False).exists():
            return
        turn(one, model or Says())


# ---- the usual way


def hear_naively(one: Round, line: int) -> None:
    conversation, at = naive.load(one.deal), database_now()
    conversation.inbound_count += 1
    conversation.last_inbound_at = at
    naive.save(conversation)
    text = text_of(f"R{one.number}", line)
    write(conversation, Direction.IN, text, at=at, by="channel", number=conversation.inbound_count)


def answer_naively(one: Round, word: str = "Answer") -> Generator[str]:
    """Read, think, send, and save the row as it was read."""
    conversation = naive.load(one.deal)
    if not conversation.is_agents or conversation.unanswered <= 0:
        return
    about = pending(conversation)
    yield "the model writes"
    write(conversation, Direction.OUT, f"{word} about {', '.join(about)}.", by=str(REPLY), automatic=True)
    conversation.answered_count = conversation.inbound_count
    naive.save(conversation)


def pending(conversation: Conversation) -> list[str]:
    found = Message.objects.filter(
        conversation=conversation, number__gt=conversation.answered_count, number__lte=conversation.inbound_count
    )
    return list(found.order_by("number").values_list("text", flat=True))


def in_the_middle(going: Generator[str], act: Callable[[], object]) -> None:
    """`act` at the first named point, then on to the end."""
    for _ in going:
        act()


def to_the_end(going: Generator[str]) -> None:
    for _ in going:
        pass


def owned_naively(one: Round, owner: Owner, *, says: str = "") -> None:
    conversation = naive.load(one.deal)
    conversation.owner_kind = owner
    if says:
        conversation.answered_count = conversation.inbound_count
        write(conversation, Direction.OUT, says, by="person")
    naive.save(conversation)


def write(conversation: Conversation, direction: Direction, text: str, *, by: str, **more: Any) -> None:
    values = {"at": more.pop("at", None) or database_now(), "made_by": by, "text": text, **more}
    Message.objects.create(conversation=conversation, account_id=conversation.account_id, direction=direction, **values)


# ---- what the database holds


def heard(one: Round, *, written: bool = False) -> list[Heard]:
    """The conversation, in the order of the commits. `written`: an answer counts though it never left."""
    rows = list(Message.objects.filter(conversation=one.deal.pk).order_by("pk"))
    keys = [row.outbox_key for row in rows if row.outbox_key]
    outbox = {message.key: message for message in OutboxMessage.objects.filter(key__in=keys)}
    found = [heard_of(row, outbox.get(row.outbox_key)) for row in rows if not row.late]
    return [replace(line, sent_at=line.at) if written and line.who == "agent" else line for line in found]


def look(one: Round, *, written: bool = False) -> Verdict:
    verdict = Verdict()
    judge(f"R{one.number}", heard(one, written=written), (), Pace(), verdict)
    return verdict


def sent(one: Round, *wrong: str) -> Judgement:
    """By what the customer has got."""
    verdict = look(one)
    return Judgement(effects=verdict.counts["replies"], wrong=[*verdict.reasons, *wrong])


def stale_drafts(one: Round) -> list[str]:
    """Answers that were queued when a newer line was there, though the last look may have stopped them."""
    return [reason for reason in look(one, written=True).reasons if "stale" in reason]


def texts(one: Round) -> list[str]:
    """All that was written to this customer by the agent, sent or not."""
    ours = Message.objects.filter(conversation=one.deal.pk, direction=Direction.OUT, automatic=True)
    return list(ours.order_by("pk").values_list("text", flat=True))


def lines_before_first_answer(one: Round) -> int:
    count = 0
    for line in heard(one):
        if line.who == "agent" and line.sent_at:
            break
        count += line.who == "customer"
    return count


def asked_twice(models: Iterable[Says]) -> list[str]:
    asked = [about for model in models for about in model.asked]
    return [f"the model was asked twice about {', '.join(about)}" for about in {a for a in asked if asked.count(a) > 1}]
