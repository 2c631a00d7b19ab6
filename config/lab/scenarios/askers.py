"""Who asks in the wrong moment: a person who takes back what is being sent; a yes to something else, first."""

from collections.abc import Generator

from config.lab.mirror import MIRROR, Place
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.lease_holders import mail_naively, mailed_once
from config.lab.scenarios.parts import deals, lines
from config.lab.world import AGENT, load, person
from conflicts import outbox, partitions, running
from conflicts.models import LedgerEntry, OutboxMessage
from conflicts.models.outbox import Delivery
from conflicts.outbox import Dropped
from conflicts.proposals import Approval, Proposal, Read

# --- a message is taken back at the moment it is sent -----------------------------------------------------------------


def _posted(one: Round) -> OutboxMessage:
    MIRROR.places[str(one.deal)] = Place()
    return outbox.post(MIRROR.name, f"{one.deal}@2", {"amount": "110"}, subject=one.deal)


def _taken_back_naively(one: Round) -> None:
    message = _posted(one)

    def worker() -> Generator[str]:
        queued = OutboxMessage.objects.filter(pk=message.pk, state=Delivery.QUEUED).exists()
        yield "it has looked"
        if queued:
            MIRROR.send(message.key, message.payload)

    def alice() -> Generator[str]:
        yield "it has looked"
        OutboxMessage.objects.filter(pk=message.pk).update(state=Delivery.FAILED)
        one.facts["told"] = Dropped.BEFORE

    one.race(worker, alice)


def _taken_back_guarded(one: Round) -> None:
    message = _posted(one)
    slot = partitions.slot_of(str(one.deal))

    def worker() -> Generator[str]:
        yield "the message is due"
        while running.run_next(partitions.partition_of(slot)):
            pass

    def alice() -> Generator[str]:
        yield "the message is due"
        one.facts["told"] = outbox.drop(message.key, by=person(one.world.alice), why="Rui called")

    one.race(worker, alice)


def _told_the_truth(one: Round) -> Judgement:
    arrived, told = len(MIRROR.places[str(one.deal)].arrived), one.facts.get("told")
    wrong = lines(
        (told == Dropped.BEFORE and arrived > 0, "taken back, and sent all the same"),
        (told is not None and told != Dropped.BEFORE and arrived == 0, "too late to take back, and nothing was sent"),
        (arrived > 1, f"sent {arrived} times"),
    )
    if one.guarded:
        state = OutboxMessage.objects.get(subject=str(one.deal)).state
        held = Delivery.FAILED if told == Dropped.BEFORE else Delivery.SENT
        wrong += lines((state != held, f"the person was told {told} and the message is {state}"))
    return Judgement(effects=arrived, wrong=wrong)


register(
    Scenario(
        slug="taken_back_yet_sent",
        title="a message is taken back at the moment it is sent",
        prepare=deals,
        naive=_taken_back_naively,
        guarded=_taken_back_guarded,
        judge=_told_the_truth,
    )
)

# --- a yes to something else asks first -------------------------------------------------------------------------------


def _yes_naively(one: Round) -> None:
    """Marked as taken, and then it turns out that the yes is to something else."""
    key = f"lab:offer:{one.number}"

    def worker(yes_to: str, is_asked: str) -> None:
        seen = LedgerEntry.objects.filter(key=key).exists()
        mark = LedgerEntry(key=key, fingerprint="", actor=str(AGENT), answer={})
        LedgerEntry.objects.bulk_create([mark], ignore_conflicts=True)
        if not seen and yes_to == is_asked:
            mail_naively(one, "offer")

    def wrong() -> Generator[str]:
        yield "both have a yes"
        worker("the offer of 90", "the offer of 100")

    def right() -> Generator[str]:
        yield "both have a yes"
        yield "the wrong one has asked"
        worker("the offer of 100", "the offer of 100")

    one.race(wrong, right)


def _yes_guarded(one: Round) -> None:
    """Both ask under the unit's own key; what the wrong one is told must not be the answer that the right one gets."""
    key, text, manager = f"lab:offer:{one.number}", one.mark("offer"), person(one.world.manager)
    read = Read.of(load(one.deal))

    def offer(yes_to: str) -> Proposal:
        def content(words: str) -> Proposal:
            return wish("opportunity.log", read, by=AGENT, key=key, kind="mail", text=words)

        asked = content(text)
        return Proposal(
            action=asked.action,
            by=AGENT,
            params=asked.params,
            basis=asked.basis,
            key=key,
            approval=Approval(by=manager, fingerprint=content(yes_to).fingerprint),
        )

    def wrong() -> Generator[str]:
        yield "both have a yes"
        one.commit("", offer("another offer"))

    def right() -> Generator[str]:
        yield "both have a yes"
        yield "the wrong one has asked"
        one.commit(text, offer(text))

    one.race(wrong, right)


register(
    Scenario(
        slug="wrong_yes_asks_first",
        title="a yes to something else asks under the unit's key before the right one does",
        prepare=deals,
        naive=_yes_naively,
        guarded=_yes_guarded,
        judge=mailed_once,
    )
)
