"""Conversations: several lines in a row, one that lands in the middle, and a person who is faster than the agent."""

import datetime as dt
import threading
from collections.abc import Generator

from config.lab import naive
from config.lab.crew import WAIT
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios import talks
from config.lab.scenarios.parts import lines
from config.lab.scenarios.talks import Says
from config.lab.world import World
from conflicts import leases
from conflicts.actors import SYSTEM
from conflicts.clock import database_now
from conflicts.models.lease import Lease
from conflicts.refs import Ref
from crm import accepting, timers
from crm.channels.events import Echo, Incoming
from crm.models import Contact, Conversation, Message
from crm.models.conversation import Direction, Owner


def _sent(one: Round, *wrong: str) -> Judgement:
    verdict = talks.look(one)
    return Judgement(effects=verdict.counts["replies"], wrong=[*verdict.reasons, *wrong])


# --- a burst, with no window ------------------------------------------------------------------------------------------

LINES = 3


def _burst_naively(one: Round) -> None:
    def customer() -> Generator[str]:
        for line in range(1, LINES + 1):
            talks.hear_naively(one, line)
            yield "said"

    def worker() -> Generator[str]:
        for _ in range(LINES):
            yield "rung"
            yield from talks.answer_naively(one)

    one.race(customer, worker, worker)
    talks.to_the_end(talks.answer_naively(one))


def _burst(one: Round) -> None:
    models = one.facts["models"] = [Says(), Says(), Says()]

    def customer() -> Generator[str]:
        for line in range(1, LINES + 1):
            talks.hear(one, line)
            yield "said"

    def worker(model: Says) -> Generator[str]:
        for _ in range(LINES):
            yield "rung"
            talks.turn(one, model)

    one.race(customer, lambda: worker(models[0]), lambda: worker(models[1]))
    talks.finish(one, models[2])


def _one_answer_per_line(one: Round) -> Judgement:
    return _sent(one, *talks.asked_twice(one.facts.get("models", ())), *talks.stale_drafts(one))


register(
    Scenario(
        slug="burst_without_a_window",
        title="a customer types on, the window is zero, and each line wakes a worker",
        prepare=talks.talks,
        naive=_burst_naively,
        guarded=_burst,
        judge=_one_answer_per_line,
    )
)

# --- two workers at one timer -----------------------------------------------------------------------------------------


def _one_timer_naively(one: Round) -> None:
    talks.hear_naively(one, 1)
    one.race(lambda: talks.answer_naively(one), lambda: talks.answer_naively(one))


def _one_timer(one: Round) -> None:
    talks.hear(one, 1)
    first, second = Says(during=lambda: talks.turn(one, second)), Says()
    one.facts["models"] = [first, second]
    talks.turn(one, first)
    talks.finish(one)


register(
    Scenario(
        slug="timer_rings_twice",
        title="a second worker is woken for a conversation while the first one's model writes",
        prepare=talks.talks,
        naive=_one_timer_naively,
        guarded=_one_timer,
        judge=_one_answer_per_line,
    )
)

# --- a message as the timer fires -------------------------------------------------------------------------------------


def _lands_naively(one: Round) -> None:
    """Every other time in the middle of the draft, else at the very moment of the sending."""
    talks.hear_naively(one, 1)
    if one.number % 2 == 0:
        talks.in_the_middle(talks.answer_naively(one), lambda: talks.hear_naively(one, 2))
    else:

        def customer() -> Generator[str]:
            yield "the model writes"
            talks.hear_naively(one, 2)

        one.race(lambda: talks.answer_naively(one), customer, at_once=True)
    talks.to_the_end(talks.answer_naively(one))  # what the second line's own timer sets off


def _lands(one: Round) -> None:
    talks.hear(one, 1)
    if one.number % 2 == 0:
        talks.turn(one, Says(during=lambda: talks.hear(one, 2)))
    else:

        def customer() -> Generator[str]:
            yield "due"
            talks.hear(one, 2)

        def worker() -> Generator[str]:
            yield "due"
            talks.turn(one, Says())

        one.race(worker, customer, at_once=True)
    talks.finish(one)


register(
    Scenario(
        slug="message_as_the_timer_fires",
        title="a line lands while the answer to the one before is written, or as it is sent",
        prepare=talks.talks,
        naive=_lands_naively,
        guarded=_lands,
        judge=_one_answer_per_line,
    )
)

# --- somebody who never stops typing ----------------------------------------------------------------------------------

DRAFTS = 4
MOST_LINES = 4
"""The one that began it, and one in the middle of each of three drafts: then the third has gone out."""


def _types_on_naively(one: Round) -> None:
    """Whatever has come meanwhile begins the answer anew, however often."""
    talks.hear_naively(one, 1)
    for line in range(2, DRAFTS + 2):
        counter = talks.now(one).inbound_count
        talks.hear_naively(one, line)  # while the model writes
        if talks.now(one).inbound_count == counter:
            talks.to_the_end(talks.answer_naively(one))
            break
    talks.to_the_end(talks.answer_naively(one))


def _types_on(one: Round) -> None:
    talks.hear(one, 1)
    for line in range(2, DRAFTS + 2):
        talks.turn(one, Says(during=lambda line=line: talks.hear(one, line)))  # type: ignore[misc]
        talks.deliver()
    talks.finish(one)


def _not_starved(one: Round) -> Judgement:
    waited = talks.lines_before_first_answer(one)
    return _sent(one, *lines((waited > MOST_LINES, f"no word from us after {waited} lines")))


register(
    Scenario(
        slug="typist_never_stops",
        title="a customer's next line lands in the middle of every draft",
        prepare=talks.talks,
        naive=_types_on_naively,
        guarded=_types_on,
        judge=_not_starved,
    )
)

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
    return _sent(one, *wrong)


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

# --- a person takes over in the middle of a draft ---------------------------------------------------------------------


def _take_over_naively(one: Round) -> None:
    """By a word, by the button, by the button and back, and at the very moment of the sending."""
    talks.hear_naively(one, 1)
    draft = talks.answer_naively(one, "Draft")
    match one.number % 4:
        case 0:
            talks.in_the_middle(draft, lambda: talks.owned_naively(one, Owner.PERSON, says="I have it."))
        case 1:
            talks.in_the_middle(draft, lambda: talks.owned_naively(one, Owner.PERSON))
            talks.owned_naively(one, Owner.PERSON, says="I have it.")
        case 2:

            def there_and_back() -> None:
                talks.owned_naively(one, Owner.PERSON)
                talks.owned_naively(one, Owner.AGENT)

            talks.in_the_middle(draft, there_and_back)
        case 3:

            def person() -> Generator[str]:
                yield "the model writes"
                talks.owned_naively(one, Owner.PERSON, says="I have it.")

            one.race(lambda: draft, person)
    talks.to_the_end(talks.answer_naively(one))


def _take_over(one: Round) -> None:
    alice = one.world.alice
    talks.hear(one, 1)

    def by_the_button() -> None:
        talks.ask(one, "conversation.take_over", alice, epoch=talks.now(one).owner_epoch)

    def there_and_back() -> None:
        by_the_button()
        talks.ask(one, "conversation.give_back", alice, epoch=talks.now(one).owner_epoch)

    match one.number % 4:
        case 0:
            talks.turn(one, Says("Draft", during=lambda: talks.say(one, alice)))
        case 1:
            talks.turn(one, Says("Draft", during=by_the_button))
            talks.say(one, alice)
        case 2:
            talks.turn(one, Says("Draft", during=there_and_back))
        case 3:
            _at_once(one, lambda: talks.say(one, alice))
    talks.finish(one)


def _at_once(one: Round, act: object) -> None:
    def worker() -> Generator[str]:
        yield "due"
        talks.turn(one, Says("Fast"))

    def person() -> Generator[str]:
        yield "due"
        act()  # type: ignore[operator]

    one.race(worker, person, at_once=True)


def _nobody_is_spoken_over(one: Round) -> Judgement:
    drafts = [text for text in talks.texts(one) if text.startswith("Draft")]
    return _sent(one, *(f"{text!r} was begun before a person had the conversation" for text in drafts))


register(
    Scenario(
        slug="person_takes_over_mid_draft",
        title="a person takes the conversation over while the agent's draft is written",
        prepare=talks.talks,
        naive=_take_over_naively,
        guarded=_take_over,
        judge=_nobody_is_spoken_over,
    )
)


def _phone_naively(one: Round) -> None:
    """The echo of what was said on the phone is a message like any other; whose conversation it is nobody notes."""
    talks.hear_naively(one, 1)

    def echo() -> None:
        talks.write(talks.now(one), Direction.OUT, "On the phone: I have it.", by="phone")

    talks.in_the_middle(talks.answer_naively(one, "Draft"), echo)


def _hear_the_phone(one: Round) -> None:
    peer = f"R{one.number}"
    accepting.take(talks.account(), [Echo(provider_id=f"{peer}:echo", peer=peer, text="On the phone: I have it.")])


def _on_the_phone(one: Round) -> None:
    talks.hear(one, 1)
    if one.number % 2 == 0:
        talks.turn(one, Says("Draft", during=lambda: _hear_the_phone(one)))
    else:
        _at_once(one, lambda: _hear_the_phone(one))
    talks.finish(one)


register(
    Scenario(
        slug="phone_takes_over_mid_draft",
        title="a person answers on the phone while the agent's draft is written",
        prepare=talks.talks,
        naive=_phone_naively,
        guarded=_on_the_phone,
        judge=_nobody_is_spoken_over,
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

# --- a queued answer is overtaken -------------------------------------------------------------------------------------


def _overtaken_naively(one: Round) -> None:
    """What was queued is sent."""
    talks.hear_naively(one, 1)
    conversation = naive.load(one.deal)
    text = f"Queued about {', '.join(talks.pending(conversation))}."
    if one.number % 2 == 0:
        talks.hear_naively(one, 2)
    else:
        talks.owned_naively(one, Owner.PERSON, says="I have it.")
    talks.write(conversation, Direction.OUT, text, by="agent", automatic=True)
    later = talks.now(one)
    later.answered_count = 1
    naive.save_only(later, "answered_count")
    talks.to_the_end(talks.answer_naively(one))


def _overtaken(one: Round) -> None:
    talks.hear(one, 1)
    talks.turn(one, Says("Queued"))
    if one.number % 2 == 0:
        talks.hear(one, 2)
    else:
        talks.say(one, one.world.alice, anyway=True)
        talks.deliver()
        talks.ask(one, "conversation.give_back", one.world.alice, epoch=talks.now(one).owner_epoch)
    talks.finish(one)


def _stopped_on_the_way(one: Round) -> Judgement:
    found = talks.heard(one)
    left = [(place, line) for place, line in enumerate(found) if line.who == "agent" and line.sent_at]
    overtaken = [
        f"the answer to {sorted(line.lines)} left though {other.who} had spoken since"
        for place, line in left
        for other in found[place + 1 :]
        if other.who != "agent" and line.sent_at and other.at < line.sent_at
    ]
    return _sent(one, *overtaken)


register(
    Scenario(
        slug="queued_answer_overtaken",
        title="the customer writes on, or a person takes over, between the queue and the line",
        prepare=talks.talks,
        naive=_overtaken_naively,
        guarded=_overtaken,
        judge=_stopped_on_the_way,
    )
)

# --- a turn outlives its lease ----------------------------------------------------------------------------------------


def _outlived_naively(one: Round) -> None:
    """The lock has a time; who has it looks at it before the work and not again."""
    talks.hear_naively(one, 1)
    one.race(lambda: talks.answer_naively(one, "Late"), lambda: talks.answer_naively(one))


def _outlived(one: Round) -> None:
    """The first one's lease ends while its model writes; it is done in the middle of the second one's turn."""
    talks.hear(one, 1)
    ended, begun, done = (threading.Event() for _ in range(3))

    def lose_it() -> None:
        leases.break_(timers.turn_key(one.deal.pk), by=SYSTEM, why="the lab lets it run out")
        ended.set()
        begun.wait(WAIT)

    def wait_for_the_first() -> None:
        begun.set()
        done.wait(WAIT)

    def first() -> Generator[str]:
        yield "due"
        talks.turn(one, Says("Late", during=lose_it))
        done.set()

    def second() -> Generator[str]:
        yield "due"
        ended.wait(WAIT)
        talks.turn(one, Says(during=wait_for_the_first))

    one.race(first, second, at_once=True)
    talks.finish(one)


def _late_one_is_dropped(one: Round) -> Judgement:
    late = [text for text in talks.texts(one) if text.startswith("Late")]
    held = Lease.objects.filter(key=timers.turn_key(one.deal.pk)).exclude(holder="").count()
    wrong = [f"{text!r} was queued under a lease that had ended" for text in late]
    return _sent(one, *wrong, *lines((held > 0, "the lease was not given back")))


register(
    Scenario(
        slug="turn_outlives_its_lease",
        title="the lease of a turn ends while its model writes, and another worker is at it",
        prepare=talks.talks,
        naive=_outlived_naively,
        guarded=_outlived,
        judge=_late_one_is_dropped,
    )
)
