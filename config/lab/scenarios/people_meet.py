"""People at one form, at two forms, and one person at the same form twice: nothing typed is lost, no false alarm."""

from collections.abc import Generator
from decimal import Decimal
from typing import Any

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import activities, deals, lines, now, updates
from config.lab.world import SOON, SYNC, load, person
from conflicts.proposals import Read
from conflicts.values import plain
from crm.models import Activity, User

AMOUNT = Decimal("250.00")


def _editor(one: Round, user: User, mark: str, **values: Any) -> Generator[str]:
    """A person opens the form, thinks, and saves what was changed, on the version that the form was shown with."""
    deal = load(one.deal)
    yield "after reading"
    one.commit(mark, wish("opportunity.edit", Read.of(deal), by=person(user), **values))


def _naive_editor(one: Round, mark: str, **values: Any) -> Generator[str]:
    """The same, with the whole record written back."""
    deal = naive.load(one.deal)
    yield "after reading"
    for name, value in values.items():
        setattr(deal, name, value)
    naive.save(deal)
    one.done(mark)


# --- two edits of independent fields ----------------------------------------------------------------------------------


def _compatible_naively(one: Round) -> None:
    mark = one.mark("Bob")
    one.race(lambda: _naive_editor(one, "", amount=AMOUNT), lambda: _naive_editor(one, mark, decision=mark))


def _compatible_guarded(one: Round) -> None:
    mark = one.mark("Bob")
    one.race(
        lambda: _editor(one, one.world.alice, "", amount=str(AMOUNT)),
        lambda: _editor(one, one.world.bob, mark, decision=mark),
    )


def _both_kept(one: Round) -> Judgement:
    deal = now(one)
    wrong = lines(
        (deal.amount != AMOUNT, "Alice's amount is gone"),
        (deal.decision != one.mark("Bob"), "Bob's decision is gone"),
    )
    return Judgement(effects=updates(one), wrong=wrong)


register(
    Scenario(
        slug="compatible_edits",
        title="two edits of independent fields",
        prepare=deals,
        naive=_compatible_naively,
        guarded=_compatible_guarded,
        judge=_both_kept,
    )
)

# --- two savers of one field ------------------------------------------------------------------------------------------


def _one_field_naively(one: Round) -> None:
    alice, bob = one.mark("Alice"), one.mark("Bob")
    one.race(lambda: _naive_editor(one, alice, decision=alice), lambda: _naive_editor(one, bob, decision=bob))


def _one_field_guarded(one: Round) -> None:
    alice, bob = one.mark("Alice"), one.mark("Bob")
    one.race(
        lambda: _editor(one, one.world.alice, alice, decision=alice),
        lambda: _editor(one, one.world.bob, bob, decision=bob),
    )


def _what_was_acknowledged_stands(one: Round) -> Judgement:
    decision = now(one).decision
    gone = [mark for mark in one.told_done() if mark != decision]
    wrong = [f"{mark!r} was acknowledged, and replaced by somebody who had not seen it" for mark in gone]
    return Judgement(effects=updates(one), wrong=[*wrong, *lines((not decision, "neither was saved"))])


register(
    Scenario(
        slug="two_savers_of_one_field",
        title="two people save the same field",
        prepare=deals,
        naive=_one_field_naively,
        guarded=_one_field_guarded,
        judge=_what_was_acknowledged_stands,
    )
)

# --- won and lost at the same moment ----------------------------------------------------------------------------------


def _closer_naively(one: Round, stage: str, user: User) -> Generator[str]:
    deal = naive.load(one.deal)
    is_open = deal.is_open
    yield "after reading"
    if is_open:
        target = one.world.stages[stage]
        Activity.objects.create(
            opportunity=deal, kind="stage", at=f"{SOON}T12:00Z", by=str(person(user)), facts={"to": stage}
        )
        deal.stage, deal.status, deal.closed_on = target, target.kind, SOON
        naive.save(deal)
        one.done("")


def _exclusive_naively(one: Round) -> None:
    world = one.world
    one.race(lambda: _closer_naively(one, "Won", world.alice), lambda: _closer_naively(one, "Lost", world.bob))


def _closer(one: Round, stage: str, user: User) -> Generator[str]:
    deal = load(one.deal)
    yield "after reading"
    mark = one.mark(stage)
    target = one.world.stages[stage].pk
    one.commit(mark, wish("opportunity.move", Read.of(deal), by=person(user), stage=target, reason=mark))


def _exclusive_guarded(one: Round) -> None:
    world = one.world
    one.race(lambda: _closer(one, "Won", world.alice), lambda: _closer(one, "Lost", world.bob))


def _closed_once(one: Round) -> Judgement:
    closings = [line.facts["to"] for line in activities(one) if line.kind == "stage"]
    deal = now(one)
    wrong = [f"closed once more, as {name}" for name in closings[1:]]
    wrong += lines(
        (not closings, "nobody closed it"),
        (len(closings) == 1 and deal.stage.name != closings[0], "stage and timeline disagree"),
    )
    return Judgement(effects=len(closings), wrong=wrong)


register(
    Scenario(
        slug="exclusive_transitions",
        title="won and lost at the same moment",
        prepare=deals,
        naive=_exclusive_naively,
        guarded=_exclusive_guarded,
        judge=_closed_once,
    )
)

# --- a form that saves itself, whole ----------------------------------------------------------------------------------


def _autosave_naively(one: Round) -> None:
    mark = one.mark("Bob")
    one.race(lambda: _naive_editor(one, "", amount=AMOUNT), lambda: _naive_editor(one, mark, decision=mark))


def _autosave_guarded(one: Round) -> None:
    """Bob's page sends every field it has, as they were when it was opened; only one of them did he touch."""
    mark = one.mark("Bob")

    def whole_form() -> Generator[str]:
        deal = load(one.deal)
        shown: dict[str, Any] = {
            "name": deal.name,
            "amount": plain(deal.amount),
            "owner": deal.owner_id,
            "tags": deal.tags,
        }
        yield "after reading"
        one.commit(mark, wish("opportunity.edit", Read.of(deal), by=person(one.world.bob), **shown, decision=mark))

    one.race(lambda: _editor(one, one.world.alice, "", amount=str(AMOUNT)), whole_form)


register(
    Scenario(
        slug="autosave_of_a_whole_form",
        title="a form that saves itself sends a neighbour's old value along",
        prepare=deals,
        naive=_autosave_naively,
        guarded=_autosave_guarded,
        judge=_both_kept,
    )
)

# --- saving twice in a row --------------------------------------------------------------------------------------------


def _twice_naively(one: Round) -> None:
    """The usual optimistic lock, with the version that the page was opened with in a hidden field."""
    last = one.facts["last"] = one.mark("second")

    def page() -> Generator[str]:
        deal = naive.load(one.deal)
        shown = deal.version
        for text in (one.mark("first"), last):
            deal.decision = text
            if naive.save_at_version(deal, shown, "decision"):
                one.done(text)
            yield "after saving"

    one.race(page)


def _twice_guarded(one: Round) -> None:
    """Saved, typed on, saved again; a double click; or a second form of the same page, opened before the first save."""
    first, second = one.mark("first"), one.mark("second")
    story = one.rng.choice(["typed on", "double click", "second form"])
    one.facts["last"] = first if story == "double click" else second
    alice = person(one.world.alice)
    read = Read.of(load(one.deal))

    def save(text: str, read: Read, key: str, **more: Any) -> int:
        outcome = one.commit(text, wish("opportunity.edit", read, by=alice, key=key, decision=text, **more))
        return outcome.settled.version or 0

    def click() -> Generator[str]:
        yield "the form is shown"
        save(first, read, f"lab:form:{one.number}")

    def typed_on() -> Generator[str]:
        version = save(first, read, f"lab:first:{one.number}")
        yield "the page shows what was saved"
        save(second, Read(subject=one.deal, version=version), f"lab:second:{one.number}")

    def two_forms() -> Generator[str]:
        one.commit("", wish("opportunity.edit", read, by=alice, amount=str(AMOUNT)))
        yield "the other form still shows what it was opened with"
        save(second, read, f"lab:second:{one.number}")

    match story:
        case "double click":
            one.race(click, click, at_once=True)
        case "typed on":
            one.race(typed_on)
        case _:
            one.race(two_forms)


def _no_clash_with_oneself(one: Round) -> Judgement:
    stands = now(one).decision == one.facts["last"]
    return Judgement(effects=updates(one), wrong=lines((not stands, "the person clashed with herself")))


register(
    Scenario(
        slug="saving_twice_in_a_row",
        title="one person saves twice from one page",
        prepare=deals,
        naive=_twice_naively,
        guarded=_twice_guarded,
        judge=_no_clash_with_oneself,
    )
)

# --- noise that moves the version -------------------------------------------------------------------------------------


def _noise_naively(one: Round) -> None:
    """The usual optimistic lock: whatever moved, the form is refused."""

    def form() -> Generator[str]:
        deal = naive.load(one.deal)
        shown = deal.version
        yield "the form is open"
        yield "a mail has come in"
        deal.decision = one.mark("Alice")
        if naive.save_at_version(deal, shown, "decision"):
            one.done(deal.decision)

    def mail() -> Generator[str]:
        yield "the form is open"
        deal = naive.load(one.deal)
        Activity.objects.create(opportunity=deal, kind="mail", at=f"{SOON}T12:00Z", by=str(SYNC), text="Hello")
        deal.last_contact_at = f"{SOON}T12:00Z"
        naive.save_at_version(deal, deal.version, "last_contact_at")

    one.race(form, mail)


def _noise_guarded(one: Round) -> None:
    mark = one.mark("Alice")

    def form() -> Generator[str]:
        deal = load(one.deal)
        yield "the form is open"
        yield "a mail has come in"
        one.commit(mark, wish("opportunity.edit", Read.of(deal), by=person(one.world.alice), decision=mark))

    def mail() -> Generator[str]:
        yield "the form is open"
        text = one.mark("mail")
        one.commit(text, wish("opportunity.log", Read.of(load(one.deal)), by=SYNC, kind="mail", text=text))

    one.race(form, mail)


def _noise_did_not_matter(one: Round) -> Judgement:
    deal = now(one)
    wrong = lines(
        (deal.decision != one.mark("Alice"), "what the person typed was refused because a mail came in"),
        (deal.last_contact_at is None or len(activities(one)) != 1, "the mail is not on the timeline"),
    )
    return Judgement(effects=updates(one), wrong=wrong)


register(
    Scenario(
        slug="noise_while_a_form_is_open",
        title="an incoming mail moves the version while a form is open",
        prepare=deals,
        naive=_noise_naively,
        guarded=_noise_guarded,
        judge=_noise_did_not_matter,
    )
)
