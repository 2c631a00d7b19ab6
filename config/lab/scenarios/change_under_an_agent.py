"""The record changes hands, is closed or is deleted while an agent holds the older copy."""

from collections.abc import Generator

from config.lab import naive
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import deals, groups, lines, now, records, updates
from config.lab.world import AGENT, SOON, load, person
from conflicts import history
from conflicts.proposals import Read
from crm.models import Opportunity

# --- a bulk change of owners ------------------------------------------------------------------------------------------


def _bulk_naively(one: Round) -> None:
    chosen = one.facts["chosen"] = one.rng.choice(one.refs)

    def agent() -> Generator[str]:
        deal = naive.load(chosen)
        yield "after reading"
        deal.expected_close = SOON
        naive.save(deal)
        one.done("")

    def manager() -> Generator[str]:
        yield "after reading"
        Opportunity.objects.filter(pk__in=[ref.pk for ref in one.refs]).update(owner=one.world.bob)

    one.race(agent, manager)


def _bulk_guarded(one: Round) -> None:
    chosen = one.facts["chosen"] = one.rng.choice(one.refs)

    def agent() -> Generator[str]:
        deal = load(chosen)
        yield "after reading"
        read = Read.of(deal, "owner", "status")
        one.commit("", wish("opportunity.edit", read, by=AGENT, expected_close=SOON))

    def manager() -> Generator[str]:
        reads = [Read.of(load(ref)) for ref in one.refs]
        yield "after reading"
        by = person(one.world.manager)
        one.commit_many(
            [""] * len(reads), [wish("opportunity.edit", read, by=by, owner=one.world.bob.pk) for read in reads]
        )

    one.race(agent, manager)


def _all_with_bob(one: Round) -> Judgement:
    owners = Opportunity.objects.filter(pk__in=[ref.pk for ref in one.refs]).values_list("owner", flat=True)
    wrong = ["a deal went back to its former owner" for owner in owners if owner != one.world.bob.pk]
    kept = history.events_of(Opportunity)._default_manager.filter(pgh_obj_id=one.facts["chosen"].pk)
    written = kept.filter(expected_close=SOON).order_by("pgh_id").values_list("owner", flat=True).first()
    blind = written == one.world.bob.pk
    return Judgement(
        effects=updates(one),
        wrong=[*wrong, *lines((blind, "the agent wrote after the change of owner that its decision did not know"))],
    )


register(
    Scenario(
        slug="bulk_owner_change",
        title="owners are changed in bulk while an agent holds the older copy",
        prepare=groups(3),
        naive=_bulk_naively,
        guarded=_bulk_guarded,
        judge=_all_with_bob,
    )
)

# --- closed while an agent is about to save ---------------------------------------------------------------------------


def _closed_naively(one: Round) -> None:
    def agent() -> Generator[str]:
        deal = naive.load(one.deal)
        yield "the agent has read"
        yield "the person has closed it"
        deal.expected_close = SOON
        naive.save(deal)
        one.done("")

    def salesperson() -> Generator[str]:
        yield "the agent has read"
        deal = naive.load(one.deal)
        deal.stage, deal.status, deal.closed_on = one.world.stages["Lost"], "lost", SOON
        naive.save_only(deal, "stage", "status", "closed_on")

    one.race(agent, salesperson)


def _close(one: Round) -> None:
    mark, lost, alice = one.mark("Alice"), one.world.stages["Lost"].pk, person(one.world.alice)
    one.commit(mark, wish("opportunity.move", Read.of(load(one.deal)), by=alice, stage=lost, reason=mark))


def _closed_guarded(one: Round) -> None:
    def agent() -> Generator[str]:
        deal = load(one.deal)
        yield "the agent has read"
        yield "the person has closed it"
        # Without a read set: that the deal must be open is the action's own rule.
        one.commit("", wish("opportunity.edit", Read.of(deal), by=AGENT, expected_close=SOON))

    def salesperson() -> Generator[str]:
        yield "the agent has read"
        _close(one)

    one.race(agent, salesperson)


def _stays_closed(one: Round) -> Judgement:
    deal = Opportunity.objects.filter(pk=one.deal.pk).first()
    wrong = lines(
        (deal is not None and deal.is_open, "what a person had ended came back, written by an agent"),
        (deal is not None and deal.expected_close is not None, "an agent wrote to a deal that was closed"),
    )
    return Judgement(effects=updates(one), wrong=wrong)


register(
    Scenario(
        slug="closed_while_an_agent_saves",
        title="a deal is closed while an agent is about to save it",
        prepare=deals,
        naive=_closed_naively,
        guarded=_closed_guarded,
        judge=_stays_closed,
    )
)

# --- deleted while an agent is about to save --------------------------------------------------------------------------


def _deleted_naively(one: Round) -> None:
    """Django's save() sends an UPDATE, finds no row, and inserts the stale copy again."""

    def agent() -> Generator[str]:
        deal = naive.load(one.deal)
        yield "the agent has read"
        yield "the person has deleted it"
        deal.expected_close = SOON
        if not Opportunity.objects.filter(pk=deal.pk).exists():
            Opportunity.objects.bulk_create([deal])

    def salesperson() -> Generator[str]:
        yield "the agent has read"
        Opportunity.objects.filter(pk=one.deal.pk).delete()

    one.race(agent, salesperson)


def _deleted_guarded(one: Round) -> None:
    """Deleting is a change of state here: the database refuses a DELETE, whoever sends it."""
    _closed_guarded(one)


def _does_not_come_back(one: Round) -> Judgement:
    judgement = _stays_closed(one)
    unexplained = one.guarded and not records(one.deal)
    return Judgement(
        effects=judgement.effects,
        wrong=[*judgement.wrong, *lines((unexplained, "the agent was not told why")), *_gone(one)],
    )


def _gone(one: Round) -> list[str]:
    return lines((one.guarded and not now(one).lost_reason, "the person's reason is gone"))


register(
    Scenario(
        slug="deleted_record_comes_back",
        title="a record is deleted while an agent is about to save it",
        prepare=deals,
        naive=_deleted_naively,
        guarded=_deleted_guarded,
        judge=_does_not_come_back,
    )
)
