"""Arrivals: an album of somebody unknown, what a provider tells again, and what is old."""

import datetime as dt
from collections.abc import Generator

from config.lab.rounds import Round
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios import talks
from config.lab.scenarios.parts import lines
from config.lab.world import World
from conflicts.clock import database_now
from conflicts.refs import Ref
from crm import accepting
from crm.channels.events import Incoming
from crm.models import Contact, Conversation, Message
from crm.models.conversation import Direction

# --- an album ---------------------------------------------------------------------------------------------------------


def _strangers(world: World, count: int) -> list[Round]:
    chat = Ref.of(talks.account())
    return [Round(number, world, chat) for number in range(count)]


def _phone(one: Round) -> str:
    return f"+55119{80000000 + one.number}"


def _album_naively(one: Round) -> None:
    """Look for the conversation, else make it, with a contact."""

    def webhook(line: int) -> Generator[str]:
        peer, chat = f"R{one.number}", talks.account()
        found = Conversation.objects.filter(account=chat, peer=peer).first()
        yield "after looking"
        if found is None:
            contact = Contact.objects.create(name=_phone(one))
            values = {"account": chat, "peer": peer, "reply_to": peer, "medium": "webchat", "contact": contact}
            found = Conversation.objects.create(**values, title=peer)
        talks.write(found, Direction.IN, f"{peer}/{line}", by="channel", number=line)

    one.race(lambda: webhook(1), lambda: webhook(2), lambda: webhook(3))


def _album(one: Round) -> None:
    peer = f"R{one.number}"

    def webhook(line: int) -> Generator[str]:
        event = Incoming(
            provider_id=f"{peer}:{line}", peer=peer, phone=_phone(one), name=_phone(one), text=f"{peer}/{line}"
        )
        yield "after looking"
        accepting.take(talks.account(), [event])

    one.race(lambda: webhook(1), lambda: webhook(2), lambda: webhook(3), at_once=True)
    for pk in Conversation.objects.filter(peer=peer).values_list("pk", flat=True):
        one.deal = Ref(talks.LABEL, pk)
        talks.finish(one)


def _one_conversation(one: Round) -> Judgement:
    found = list(Conversation.objects.filter(peer=f"R{one.number}"))
    contacts = Contact.objects.filter(name=_phone(one)).count()
    stored = Message.objects.filter(conversation__in=found, direction=Direction.IN).count()
    answers = Message.objects.filter(conversation__in=found, direction=Direction.OUT).count()
    wrong = lines(
        (len(found) != 1, f"{len(found)} conversations"),
        (contacts != 1, f"{contacts} contacts"),
        (stored != 3, f"{3 - stored} of three pictures are lost"),
        (one.guarded and answers != 1, f"{answers} answers"),
    )
    return Judgement(effects=stored, wrong=wrong)


register(
    Scenario(
        slug="album_of_a_stranger",
        title="three webhooks of one album arrive at once from somebody whom nobody knows",
        prepare=_strangers,
        naive=_album_naively,
        guarded=_album,
        judge=_one_conversation,
    )
)

# --- the provider tells it again --------------------------------------------------------------------------------------

DOORS, TIMES = 4, 5


def _again_naively(one: Round) -> None:
    """Look whether it is there, else store it."""

    def webhook() -> Generator[str]:
        for _ in range(TIMES):
            known = Message.objects.filter(conversation=one.deal.pk).exists()
            if not known:
                yield "after looking"
                talks.hear_naively(one, 1)

    one.race(*[webhook] * DOORS)
    talks.to_the_end(talks.answer_naively(one))


def _again(one: Round) -> None:
    """A hundred times, in parallel."""
    stored: list[accepting.Took] = []

    def webhook() -> Generator[str]:
        yield "all at once"
        stored.extend(talks.hear(one, 1).how for _ in range(TIMES))

    one.race(*[webhook] * DOORS, at_once=True)
    one.facts["told stored"] = stored.count(accepting.Took.STORED)
    talks.finish(one)


def _stored_once(one: Round) -> Judgement:
    stored = Message.objects.filter(conversation=one.deal.pk, direction=Direction.IN).count()
    counted = talks.now(one).inbound_count
    told = one.facts.get("told stored", 1)
    wrong = lines(
        (stored != 1, f"it is there {stored} times"),
        (counted != 1, f"it was counted {counted} times"),
        (told != 1, f"{told} webhooks say that they have stored it"),
    )
    return talks.sent(one, *wrong)


register(
    Scenario(
        slug="provider_repeats_an_event",
        title="one event is told twenty times, four at once",
        prepare=talks.talks,
        naive=_again_naively,
        guarded=_again,
        judge=_stored_once,
    )
)

# --- what is old ------------------------------------------------------------------------------------------------------

OLD = 90
"""Numbers of the lines that come from the past."""


def _old_naively(one: Round) -> None:
    """A message is a message."""
    talks.hear_naively(one, 1)
    talks.hear_naively(one, OLD)
    talks.to_the_end(talks.answer_naively(one))


def _old(one: Round) -> None:
    """Out of an archive, or held up for an hour, as a new one is to be answered."""
    then = database_now() - dt.timedelta(hours=1)
    more = {"imported": True, "sent_at": then} if one.number % 2 == 0 else {"sent_at": then}

    def customer() -> Generator[str]:
        yield "in the queue"
        talks.hear(one, 1)

    def past() -> Generator[str]:
        yield "in the queue"
        talks.hear(one, OLD, **more)

    one.race(customer, past)
    talks.finish(one)
    talks.hear(one, OLD + 1, **more)
    talks.finish(one)


def _only_the_new_one(one: Round) -> Judgement:
    answers = talks.texts(one)
    about = [line for line in talks.heard(one) if line.who == "agent" and OLD in line.lines]
    late = Message.objects.filter(conversation=one.deal.pk, direction=Direction.IN, late=True)
    # Held up on its way, and nothing newer is in hand: somebody has to see it, and a person has the conversation.
    before_a_person = talks.now(one).handed_over == "late"
    in_place = all(message.number is None and message.at == message.sent_at for message in late)
    return Judgement(
        effects=len(answers),
        wrong=lines(
            (bool(about), "a line from the past was answered"),
            (len(answers) != (0 if before_a_person else 1), f"{len(answers)} answers to one new line"),
            (before_a_person and one.number % 2 == 0, "an archive was put before a person"),
            (one.guarded and late.count() != 2, "a line from the past was not stored"),
            (one.guarded and not in_place, "a line from the past does not stand in its place"),
        ),
    )


register(
    Scenario(
        slug="line_from_the_past",
        title="old lines arrive, imported or held up, beside one that is to be answered",
        prepare=talks.talks,
        naive=_old_naively,
        guarded=_old,
        judge=_only_the_new_one,
    )
)
