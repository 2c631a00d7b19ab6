"""Messages that come late, come twice, or come under a key that was used for something else."""

from collections.abc import Generator

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import activities, deals, lines, now, records, updates
from config.lab.world import SOON, SYNC, load
from conflicts.models import LedgerEntry
from conflicts.proposals import Read
from crm.models import Activity

# --- an old event after a newer one -----------------------------------------------------------------------------------


def _late_naively(one: Round) -> None:
    def handler(text: str, late: bool) -> Generator[str]:
        deal = naive.load(one.deal)
        yield "both are in the queue"
        if late:
            yield "the newer one was faster"
        deal.decision = text
        naive.save_only(deal, "decision")
        one.done(text)

    one.race(lambda: handler(one.mark("newer"), False), lambda: handler(one.mark("older"), True))


def _late_guarded(one: Round) -> None:
    """Each event says which version of the record its sender knew; the older one was sent before the newer."""
    known = Read.of(load(one.deal))

    def handler(text: str, late: bool) -> Generator[str]:
        yield "both are in the queue"
        if late:
            yield "the newer one was faster"
        one.commit(text, wish("opportunity.edit", known, by=SYNC, key=f"lab:event:{text}", decision=text))

    one.race(lambda: handler(one.mark("newer"), False), lambda: handler(one.mark("older"), True))


def _newest_stands(one: Round) -> Judgement:
    newest = now(one).decision == one.mark("newer")
    wrong = lines(
        (not newest, "an event of the past replaced a newer one"),
        (newest and not records(one.deal), "the late event left no record"),
    )
    return Judgement(effects=updates(one), wrong=wrong)


register(
    Scenario(
        slug="old_event_after_new",
        title="a late event arrives after a newer one",
        prepare=deals,
        naive=_late_naively,
        guarded=_late_guarded,
        judge=_newest_stands,
    )
)

# --- redelivered while the first copy runs ----------------------------------------------------------------------------


def _log_naively(one: Round, key: str, text: str) -> Generator[str]:
    """Look whether it was done, then do it."""
    known = LedgerEntry.objects.filter(key=key).exists()
    yield "after looking"
    if not known:
        deal = naive.load(one.deal)
        Activity.objects.create(opportunity=deal, kind="mail", at=f"{SOON}T12:00Z", by=str(SYNC), text=text)
        LedgerEntry.objects.bulk_create(
            [LedgerEntry(key=key, fingerprint="", actor=str(SYNC), answer={})], ignore_conflicts=True
        )
    one.done(text)


def _redelivered_naively(one: Round) -> None:
    key, text = f"lab:message:{one.number}", one.mark("mail")
    one.race(*[lambda: _log_naively(one, key, text)] * 3)


def _redelivered_guarded(one: Round) -> None:
    key, text = f"lab:message:{one.number}", one.mark("mail")

    def copy() -> Generator[str]:
        read = Read.of(load(one.deal))
        yield "after looking"
        one.commit(text, wish("opportunity.log", read, by=SYNC, key=key, kind="mail", text=text))

    one.race(copy, copy, copy)


def _done_once(one: Round) -> Judgement:
    made, answered = activities(one), len(one.told_done())
    wrong = ["the mail was logged once more" for _ in made[1:]]
    wrong += lines(
        (not made, "the mail was not logged"),
        (answered != 3, f"{3 - answered} copies did not get the first answer"),
    )
    return Judgement(effects=len(made), wrong=wrong)


register(
    Scenario(
        slug="message_redelivered",
        title="a message is delivered again while its first copy runs",
        prepare=deals,
        naive=_redelivered_naively,
        guarded=_redelivered_guarded,
        judge=_done_once,
    )
)

# --- the same key with other content ----------------------------------------------------------------------------------


def _key_naively(one: Round) -> None:
    key = f"lab:key:{one.number}"
    one.race(lambda: _log_naively(one, key, one.mark("first")), lambda: _log_naively(one, key, one.mark("second")))


def _key_guarded(one: Round) -> None:
    key = f"lab:key:{one.number}"

    def sender(text: str) -> Generator[str]:
        read = Read.of(load(one.deal))
        yield "after looking"
        one.commit(text, wish("opportunity.log", read, by=SYNC, key=key, kind="mail", text=text))

    one.race(lambda: sender(one.mark("first")), lambda: sender(one.mark("second")))


def _one_content_per_key(one: Round) -> Judgement:
    texts = [line.text for line in activities(one)]
    wrong = [f"{text!r} was done under the same key" for text in texts[1:]]
    wrong += [f"{mark!r} was acknowledged and never done" for mark in one.told_done() if mark not in texts]
    wrong += lines((len(texts) == 1 and one.guarded and not records(one.deal), "the refusal left no record"))
    return Judgement(effects=len(texts), wrong=wrong)


register(
    Scenario(
        slug="same_key_other_content",
        title="two wishes under one idempotency key",
        prepare=deals,
        naive=_key_naively,
        guarded=_key_guarded,
        judge=_one_content_per_key,
    )
)
