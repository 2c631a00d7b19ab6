"""Take-overs: a person who is faster than the agent, on the screen or on the phone."""

from collections.abc import Generator

from config.lab import naive
from config.lab.rounds import Round
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios import talks
from config.lab.scenarios.talks import Says
from crm import accepting
from crm.channels.events import Echo
from crm.models.conversation import Direction, Owner

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
    return talks.sent(one, *(f"{text!r} was begun before a person had the conversation" for text in drafts))


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
    return talks.sent(one, *overtaken)


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
