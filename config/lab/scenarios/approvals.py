"""Approvals: a yes and what has become of that to which it was said."""

import datetime as dt
from collections.abc import Callable, Generator

from agents import content, recommendations
from agents.approving import give
from agents.execution import carry_out
from agents.models import Approval, ApprovalState
from agents.states import State
from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import lines, records
from config.lab.scenarios.suggestions import do_naively, naive_state, of_the_agent, suggested, suggestion
from config.lab.world import World, load, person
from conflicts import gate
from conflicts.clock import database_now
from conflicts.proposals import Proposal, Read
from crm.models import Activity, Contact


def says_yes(one: Round, *, at: dt.datetime | None = None) -> None:
    """Bob's yes, kept and not carried out yet."""
    found, bob = suggestion(one), person(one.world.bob)
    give(found, by=bob, now=at or database_now(), content=content.of(found, reader=bob))


def do_it(one: Round) -> None:
    carry_out(suggestion(one), now=database_now())


def yes_of(one: Round) -> Approval | None:
    return Approval.objects.filter(recommendation=one.suggestion).first()


# --- approved at version 7, record at 9 -------------------------------------------------------------------------------

HARMLESS, GROUND = "writes twice", "says who the contact is"


def _at_version_seven(world: World, count: int) -> list[Round]:
    """Suggestions for deals at version 7 of which nobody has said whom to speak with; Inês is there.

    No suggestion rests on the contact then: that naming one makes a yes void is the policy's word alone.
    """
    alice = person(world.alice)
    gate.commit(Proposal(action="contact.create", by=alice, params={"name": "Inês"}))
    made = world.deals(count)
    for number in range(6):
        notes = [
            wish("opportunity.log", Read.of(load(deal)), by=alice, kind="note", text=f"note {number}") for deal in made
        ]
        gate.commit_many(notes)
    return suggested(world, count, made)


def _two_changes(one: Round, story: str) -> list[Callable[[], None]]:
    alice = person(one.world.alice)

    def note() -> None:
        read = Read.of(load(one.deal))
        one.commit("", wish("opportunity.log", read, by=alice, kind="note", text=one.mark("Alice")))

    def contact() -> None:
        other = Contact.objects.get(name="Inês").pk
        one.commit("", wish("opportunity.edit", Read.of(load(one.deal)), by=alice, contact=other))

    found = [note, contact if story == GROUND else note]
    one.rng.shuffle(found)
    return found


def _two_changes_naively(one: Round, story: str) -> list[Callable[[], None]]:
    def note() -> None:
        Activity.objects.create(
            opportunity_id=one.deal.pk, kind="note", at=database_now(), by=str(person(one.world.alice)), text="note"
        )

    def contact() -> None:
        deal = naive.load(one.deal)
        deal.contact = Contact.objects.get(name="Inês")
        naive.save_only(deal, "contact")

    return [note, contact if story == GROUND else note]


def _in_this_order(
    one: Round, yes: Callable[[], None], changes: list[Callable[[], None]], do: Callable[[], None]
) -> None:
    def worker() -> Generator[str]:
        yes()
        yield "the yes is kept, at version 7"
        yield "the record is at version 9"
        do()

    def salesperson() -> Generator[str]:
        yield "the yes is kept, at version 7"
        for change in changes:
            change()

    one.race(worker, salesperson)


def _seven_nine_naively(one: Round) -> None:
    story = one.facts["story"] = one.rng.choice((HARMLESS, GROUND))
    changes = _two_changes_naively(one, story)
    _in_this_order(one, lambda: naive_state(one, State.APPROVED), changes, lambda: do_naively(suggestion(one)))


def _seven_nine_guarded(one: Round) -> None:
    story = one.facts["story"] = one.rng.choice((HARMLESS, GROUND))
    _in_this_order(one, lambda: says_yes(one), _two_changes(one, story), lambda: do_it(one))


def _as_the_policy_says(one: Round) -> Judgement:
    story, tasks, yes = one.facts["story"], of_the_agent(one), yes_of(one)
    told = records(one.deal, source=f"recommendation:{one.suggestion}")
    if story == GROUND:
        wrong = [f"{task.title!r} was done although somebody {story}" for task in tasks]
        wrong += lines(
            (one.guarded and (yes is None or yes.state != ApprovalState.VOID), "the yes is not void"),
            (not tasks and not any(record.changes for record in told), "nothing shows the difference"),
        )
    else:
        wrong = lines(
            (len(tasks) != 1, f"done {len(tasks)} times, though nothing it rests on has moved"),
            (one.guarded and (yes is None or yes.state != ApprovalState.USED), "the yes is not marked as used"),
        )
    return Judgement(effects=len(tasks), wrong=wrong)


register(
    Scenario(
        slug="approved_at_seven_record_at_nine",
        title="approved at version 7, and the record is at 9 when it is carried out",
        prepare=_at_version_seven,
        naive=_seven_nine_naively,
        guarded=_seven_nine_guarded,
        judge=_as_the_policy_says,
    )
)

# --- a yes that has run out -------------------------------------------------------------------------------------------


def _late_naively(one: Round) -> None:
    naive_state(one, State.APPROVED)  # the day before; `approved = yes` knows no day

    def worker() -> Generator[str]:
        found = suggestion(one)
        yield "the day after"
        do_naively(found)

    one.race(worker)


def _late_guarded(one: Round) -> None:
    says_yes(one, at=database_now() - dt.timedelta(hours=25))

    def worker() -> Generator[str]:
        yield "the day after"
        do_it(one)

    one.race(worker, worker)


def _asked_again(one: Round) -> Judgement:
    tasks, found, yes = of_the_agent(one), suggestion(one), yes_of(one)
    wrong = [f"{task.title!r} was done by a yes of yesterday" for task in tasks]
    wrong += lines(
        (one.guarded and found.state != State.PROPOSED, f"the suggestion is {found.state}, and nobody is asked again"),
        (one.guarded and (yes is None or yes.state != ApprovalState.VOID), "the yes is not void"),
    )
    return Judgement(effects=len(tasks), wrong=wrong)


register(
    Scenario(
        slug="a_yes_that_has_run_out",
        title="a yes is carried out the day after it ran out",
        prepare=suggested,
        naive=_late_naively,
        guarded=_late_guarded,
        judge=_asked_again,
    )
)

# --- two superseded cards still open on a screen ----------------------------------------------------------------------


def _old_cards(one: Round, press: Callable[[str], Callable[[], None]], replace: Callable[[], None]) -> None:
    """Two people have the first card open; a third replaces its content; then both press what they still see."""

    def reviewer(who: str) -> Callable[[], Generator[str]]:
        def run() -> Generator[str]:
            pressing = press(who)
            yield "the card is open on two screens"
            yield "it was replaced"
            pressing()

        return run

    def editor() -> Generator[str]:
        yield "the card is open on two screens"
        replace()

    one.race(reviewer("alice"), reviewer("bob"), editor)


def _cards_naively(one: Round) -> None:
    def press(who: str) -> Callable[[], None]:
        shown = suggestion(one)  # the card as the screen has it
        return lambda: do_naively(shown)

    def replace() -> None:
        found = suggestion(one)
        found.params = {**found.params, "title": one.mark("other content")}
        found.save(update_fields=["params"])

    _old_cards(one, press, replace)


def _cards_guarded(one: Round) -> None:
    manuela = person(one.world.manager)

    def press(who: str) -> Callable[[], None]:
        actor = person(getattr(one.world, who))
        seen = content.of(suggestion(one), reader=actor).hash

        def pressing() -> None:
            told = recommendations.approve(suggestion(one), by=actor, now=database_now(), shown=seen)
            one.facts.setdefault("said", []).append(told.sentence.code)

        return pressing

    def replace() -> None:
        found = suggestion(one)
        params = {"title": one.mark("other content")}
        told = recommendations.edit(found, by=manuela, now=database_now(), params=params, reason="known_better")
        assert told.done

    _old_cards(one, press, replace)


def _nothing_of_the_old_card(one: Round) -> Judgement:
    tasks, said = of_the_agent(one), one.facts.get("said", [])
    wrong = [f"{task.title!r} was done, which nobody who pressed had before them" for task in tasks]
    wrong += lines(
        (one.guarded and suggestion(one).state != State.PROPOSED, "the new content is not there to be decided"),
        (one.guarded and sorted(said) != ["no.edited"] * 2, f"they were told: {said}"),
    )
    return Judgement(effects=len(tasks), wrong=wrong)


register(
    Scenario(
        slug="two_superseded_cards_open",
        title="two cards that were replaced are still open, and both are pressed",
        prepare=suggested,
        naive=_cards_naively,
        guarded=_cards_guarded,
        judge=_nothing_of_the_old_card,
    )
)
