"""Suggestions of an agent: what people say yes and no to, and what is then really done."""

import datetime as dt
from collections.abc import Callable, Generator, Sequence

from agents import content, recommendations, sweeps
from agents.approving import give
from agents.execution import carry_out
from agents.models import AutonomyPolicy, Mode, Recommendation
from agents.states import State, move
from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.agents_meet import STORIES, person_acts, person_acts_naively, persons_change_stands
from config.lab.scenarios.parts import deals, lines, open_tasks, plan_naively, records
from config.lab.world import AGENT, World, load, person
from conflicts import gate
from conflicts.clock import database_now
from conflicts.outcomes import Result
from conflicts.proposals import Approval, Read
from conflicts.refs import Ref
from crm.models import Opportunity, Task


def suggested(world: World, count: int, made: Sequence[Ref] = ()) -> list[Round]:
    """Deals without a next step (those `made`, if any), each with the suggestion that a sweep made for it."""
    rounds = [Round(number, world, deal) for number, deal in enumerate(made)] or deals(world, count)
    sweeps.sweep(per_person=0)  # every round needs its own, and one person owns them all
    found = dict(Recommendation.objects.open().values_list("opportunity", "pk"))
    for one in rounds:
        one.suggestion = found[one.deal.pk]
    return rounds


def suggestion(one: Round) -> Recommendation:
    return Recommendation.objects.select_related("opportunity__owner").get(pk=one.suggestion)


def do_naively(found: Recommendation) -> None:
    """The executor: what the row says now is done now."""
    Task.objects.create(
        opportunity_id=found.opportunity_id,
        title=found.params["title"],
        due_on=found.params["due_on"],
        made_by=found.agent,
    )
    Recommendation.objects.filter(pk=found.pk).update(state=State.APPLIED)


def of_the_agent(one: Round) -> list[Task]:
    return [task for task in open_tasks(one) if task.made_by == str(AGENT)]


# --- approved, then changed -------------------------------------------------------------------------------------------


def _approved_then_changed(
    one: Round, approve: Callable[[], None], act: Callable[[], None], do: Callable[[], None]
) -> None:
    """In this order, whatever the dice say: the yes is kept, the deal changes, the yes is carried out."""

    def worker() -> Generator[str]:
        approve()
        yield "approved"
        yield "the deal has changed"
        do()

    def salesperson() -> Generator[str]:
        yield "approved"
        act()

    one.race(worker, salesperson)


def _approval_naively(one: Round) -> None:
    story = one.facts["story"] = one.rng.choice(STORIES)
    _approved_then_changed(
        one,
        lambda: naive_state(one, State.APPROVED),
        lambda: person_acts_naively(one, story),
        lambda: do_naively(suggestion(one)),
    )


def naive_state(one: Round, state: State) -> None:
    Recommendation.objects.filter(pk=one.suggestion).update(state=state)


def _approval_guarded(one: Round) -> None:
    story = one.facts["story"] = one.rng.choice(STORIES)

    def approve() -> None:
        found, bob = suggestion(one), person(one.world.bob)
        give(found, by=bob, now=database_now(), content=content.of(found, reader=bob))

    _approved_then_changed(one, approve, lambda: person_acts(one, story), lambda: _carry_out(one))


def _carry_out(one: Round) -> None:
    carry_out(suggestion(one), now=database_now())


def _the_yes_is_void(one: Round) -> Judgement:
    story, tasks = one.facts["story"], of_the_agent(one)
    found = suggestion(one)
    told = records(one.deal, source=f"recommendation:{one.suggestion}")
    wrong = [f"carried out although the person {story}" for _ in tasks]
    wrong += lines(
        (not persons_change_stands(one, story), f"the person's change ({story}) was undone"),
        (not tasks and found.state != State.SUPERSEDED, f"the suggestion is {found.state}"),
        (not tasks and not any(record.changes for record in told), "nothing shows the difference"),
    )
    return Judgement(effects=len(tasks), wrong=wrong)


register(
    Scenario(
        slug="approval_then_change",
        title="approved, then the deal changes before the write",
        prepare=suggested,
        naive=_approval_naively,
        guarded=_approval_guarded,
        judge=_the_yes_is_void,
    )
)

# --- approved X, executed Y -------------------------------------------------------------------------------------------


def _content_naively(one: Round) -> None:
    one.facts["approved"] = suggestion(one).params["title"]

    def reviewer() -> Generator[str]:
        yield "the card is shown"
        naive_state(one, State.APPROVED)
        yield "approved"
        do_naively(suggestion(one))

    def editor() -> Generator[str]:
        found = suggestion(one)
        yield "the card is shown"
        params = {**found.params, "title": one.mark("other content")}
        Recommendation.objects.filter(pk=found.pk).update(params=params)

    one.race(reviewer, editor)


def _content_guarded(one: Round) -> None:
    """The product's way, by a card that was overtaken; or a kept yes, and other content brought to the gate."""
    shown = suggestion(one)
    kept_before = one.rng.random() < 0.5
    alice, bob = person(one.world.alice), person(one.world.bob)
    one.facts["approved"], fingerprint = shown.params["title"], shown.proposal().fingerprint
    seen = content.of(shown, reader=alice).hash

    def editor() -> Generator[str]:
        found = suggestion(one)
        yield "the card is shown"
        recommendations.edit(found, by=bob, now=database_now(), params={"title": one.mark("other content")})

    def reviewer() -> Generator[str]:
        yield "the card is shown"
        recommendations.approve(suggestion(one), by=alice, now=database_now(), shown=seen)

    def executor() -> Generator[str]:
        yield "the card is shown"
        yield "the content was edited"
        gate.commit(suggestion(one).proposal(approval=Approval(by=alice, fingerprint=fingerprint)))

    one.race(executor if kept_before else reviewer, editor)


def _only_what_was_approved(one: Round) -> Judgement:
    titles = [task.title for task in of_the_agent(one)]
    wrong = [f"{title!r} was done, which nobody approved" for title in titles if title != one.facts["approved"]]
    return Judgement(effects=len(titles), wrong=wrong)


register(
    Scenario(
        slug="approved_x_executed_y",
        title="the content is edited between the card and the yes",
        prepare=suggested,
        naive=_content_naively,
        guarded=_content_guarded,
        judge=_only_what_was_approved,
    )
)

# --- two reviewers press at once --------------------------------------------------------------------------------------


def _reviewers_naively(one: Round) -> None:
    def reviewer(state: State) -> Generator[str]:
        found = suggestion(one)
        yield "both have the card"
        if found.state == State.PROPOSED:
            if state == State.APPROVED:
                do_naively(found)
            else:
                naive_state(one, state)
            one.done(state)

    one.race(lambda: reviewer(State.APPROVED), lambda: reviewer(State.DECLINED))


def _reviewers_guarded(one: Round) -> None:
    alice, bob = person(one.world.alice), person(one.world.bob)
    seen = content.of(suggestion(one), reader=alice).hash

    def approves() -> Generator[str]:
        found = suggestion(one)
        yield "both have the card"
        told = recommendations.approve(found, by=alice, now=database_now(), shown=seen)
        if told.done:
            one.facts.setdefault("said", []).append(State.APPROVED)

    def declines() -> Generator[str]:
        found = suggestion(one)
        yield "both have the card"
        told = recommendations.decline(found, by=bob, now=database_now(), reason="known_better")
        if told.done:
            one.facts.setdefault("said", []).append(State.DECLINED)

    one.race(approves, declines)


def _one_decision(one: Round) -> Judgement:
    tasks, found = of_the_agent(one), suggestion(one)
    said = one.facts.get("said") or one.told_done()
    wrong = lines(
        (len(said) != 1, f"{len(said)} people were told that they had decided"),
        (found.state == State.DECLINED and bool(tasks), "declined, and done all the same"),
        (found.state == State.APPLIED and len(tasks) != 1, f"approved, and done {len(tasks)} times"),
        (found.state not in (State.DECLINED, State.APPLIED), f"the suggestion is {found.state}"),
    )
    return Judgement(effects=len(tasks), wrong=wrong)


register(
    Scenario(
        slug="two_reviewers_at_once",
        title="one reviewer approves while another declines",
        prepare=suggested,
        naive=_reviewers_naively,
        guarded=_reviewers_guarded,
        judge=_one_decision,
    )
)

# --- a late duplicate marks the live run as failed --------------------------------------------------------------------


def _approved(world: World, count: int) -> list[Round]:
    rounds = suggested(world, count)
    bob = person(world.bob)
    for one in rounds:
        found = suggestion(one)
        give(found, by=bob, now=database_now(), content=content.of(found, reader=bob))
    return rounds


def _duplicate_naively(one: Round) -> None:
    def first_copy() -> Generator[str]:
        found = suggestion(one)
        yield "both copies run"
        do_naively(found)

    def late_copy() -> Generator[str]:
        found = suggestion(one)
        yield "both copies run"
        yield "the first is done"
        found.state = State.FAILED  # its own attempt came to nothing
        found.save(update_fields=["state"])

    one.race(first_copy, late_copy)


def _duplicate_guarded(one: Round) -> None:
    """The late copy gives up, or does the work again: its state is moved from the one it knew, or not at all."""
    gives_up = one.rng.random() < 0.5

    def first_copy() -> Generator[str]:
        found = suggestion(one)
        yield "both copies run"
        carry_out(found, now=database_now())

    def late_copy() -> Generator[str]:
        found = suggestion(one)
        yield "both copies run"
        yield "the first is done"
        if gives_up:
            move(found, of=[State.APPROVED], to=State.FAILED)
        else:
            told = carry_out(found, now=database_now())
            if told.outcome and told.outcome.result is Result.DUPLICATE:
                one.outcomes.append(told.outcome)

    one.race(first_copy, late_copy)


def _stays_done(one: Round) -> Judgement:
    tasks, found = of_the_agent(one), suggestion(one)
    wrong = lines(
        (found.state != State.APPLIED, f"done, and marked as {found.state}"),
        (len(tasks) != 1, f"done {len(tasks)} times"),
    )
    return Judgement(effects=len(tasks), wrong=wrong)


register(
    Scenario(
        slug="late_duplicate_marks_as_failed",
        title="a late copy of a message marks as failed what its first copy has done",
        prepare=_approved,
        naive=_duplicate_naively,
        guarded=_duplicate_guarded,
        judge=_stays_done,
    )
)

# --- two sweeps at once -----------------------------------------------------------------------------------------------


LIMIT = 100
"""Up to this amount the agent acts by itself; above it, it asks."""


def _closed_deals(world: World, count: int) -> list[Round]:
    """Each round opens its own again: a sweep looks at every open deal."""
    AutonomyPolicy.objects.create(action="opportunity.follow_up", mode=Mode.ACT, amount_limit=LIMIT)
    closed = {"stage": world.stages["Lost"].pk, "closed_on": dt.date(2020, 1, 6)}
    half = count // 2
    made = [(deal, True) for deal in world.deals(count - half, amount=str(LIMIT), **closed)]
    made += [(deal, False) for deal in world.deals(half, amount=str(LIMIT + 1), **closed)]
    return [Round(n, world, deal, facts={"acts": acts}) for n, (deal, acts) in enumerate(made)]


def _open(one: Round) -> None:
    first, alice = one.world.stages["New"].pk, person(one.world.alice)
    gate.commit(wish("opportunity.move", Read.of(load(one.deal)), by=alice, stage=first))


def _sweeps_naively(one: Round) -> None:
    _open(one)

    def scheduler() -> Generator[str]:
        without = list(Opportunity.objects.open().filter(next_step_on=None))
        yield "after reading"
        for deal in without:
            plan_naively(naive.load(one.deal), f"Follow up {deal.name}")

    one.race(scheduler, scheduler)


def _sweeps_guarded(one: Round) -> None:
    _open(one)

    def scheduler() -> Generator[str]:
        yield "both are due"
        sweeps.sweep(per_person=0)

    one.race(scheduler, scheduler, at_once=True)


def _swept_once(one: Round) -> Judgement:
    tasks = of_the_agent(one)
    waiting = Recommendation.objects.open().filter(opportunity=one.deal.pk).count()
    effects = len(tasks) + waiting
    wrong = lines(
        (effects == 0, "neither sweep did anything"),
        (effects > 1, f"{len(tasks)} tasks and {waiting} suggestions for one deal"),
        (one.guarded and len(tasks) != one.facts["acts"], "acted where it had to ask, or asked where it may act"),
    )
    return Judgement(effects=effects, wrong=wrong)


register(
    Scenario(
        slug="two_sweeps_at_once",
        title="two schedulers ring at once",
        prepare=_closed_deals,
        naive=_sweeps_naively,
        guarded=_sweeps_guarded,
        judge=_swept_once,
    )
)
