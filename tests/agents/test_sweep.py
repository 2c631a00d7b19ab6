"""The sweep: finds what lacks a step, leaves the rest in peace, picks up what a crash left, and acts where it may."""

import datetime as dt

import pytest

from agents import execution, recommendations, sweeps
from agents.models import AutonomyPolicy, Mode, Recommendation, SweepRun, Verdict
from agents.states import State
from conflicts import actors
from conflicts.models import Conflict
from crm.models import Opportunity, Task
from tests import cast
from tests.agents.suggested import NOW, idle_deal, said_yes, shown, suggestion

pytestmark = pytest.mark.django_db


def acting(limit: str | None = None) -> None:
    AutonomyPolicy.objects.create(action="opportunity.follow_up", mode=Mode.ACT, amount_limit=limit)


def test_a_deal_with_a_step_is_not_even_looked_at() -> None:
    deal = idle_deal()
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.TUESDAY)

    assert sweeps.sweep(now=NOW).looked_at == 0


def test_a_step_further_away_than_twice_the_limit_of_the_stage_is_no_step() -> None:
    deal = idle_deal(stage=cast.stage("Proposal").pk)
    cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=dt.date(2031, 6, 21))

    run = sweeps.sweep(now=NOW)

    assert run.passed == {"G6": 1}
    assert str(Verdict.objects.get().told).startswith("Parked: Call is planned for Sat, 21 Jun 2031")


def test_a_reason_holds_until_its_day_or_until_the_deal_changes() -> None:
    deal = idle_deal()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="call", at=NOW - dt.timedelta(hours=1))
    assert sweeps.sweep(now=NOW).passed == {"R11": 1}

    assert sweeps.sweep(now=NOW + dt.timedelta(days=1)).looked_at == 0
    deal.refresh_from_db()
    cast.propose("opportunity.log", deal, by=cast.alice(), kind="note", text="Nothing yet")
    assert sweeps.sweep(now=NOW + dt.timedelta(days=1)).looked_at == 1
    assert sweeps.sweep(now=NOW + dt.timedelta(days=9)).proposed == 1


def test_an_open_suggestion_is_left_in_peace_by_changes_that_do_not_matter() -> None:
    one = suggestion()
    cast.propose("opportunity.edit", Opportunity.objects.get(), by=cast.bob(), amount="52000")

    run = sweeps.sweep(now=NOW)

    one.refresh_from_db()
    assert (run.looked_at, one.state) == (0, State.PROPOSED)
    assert not Conflict.objects.exists()


def test_a_suggestion_whose_stage_now_forbids_contact_is_closed_with_its_evidence() -> None:
    deal = idle_deal()
    cast.propose("opportunity.edit", deal, by=cast.alice(), expected_close=dt.date(2031, 6, 1))
    one = suggestion(deal)
    assert (one.rule, one.params["kind"]) == ("R7", "call")
    deal.refresh_from_db()
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Negotiation").pk)

    sweeps.sweep(now=NOW)

    one.refresh_from_db()
    assert one.state == State.SUPERSEDED
    assert one.overtaker == actors.person(cast.bob())
    assert one.conflict.told.code == "stage_forbids_contact"
    assert Recommendation.objects.open().get().params["kind"] == "todo"


def test_a_consent_of_the_contact_overtakes_though_the_deal_has_not_moved() -> None:
    one = suggestion()
    rui = Opportunity.objects.get().contact
    cast.propose("contact.state_consent", rui, by=cast.bob(), channel="phone", status="refused", source="said so")

    sweeps.sweep(now=NOW)

    one.refresh_from_db()
    assert one.state == State.SUPERSEDED
    assert one.overtaker == actors.person(cast.bob())


def test_many_overtaken_at_once_are_each_closed_with_a_record_of_their_own() -> None:
    deals = [cast.deal(f"Deal {number}") for number in range(7)]
    sweeps.sweep(now=NOW)
    for deal in deals:
        cast.propose("opportunity.plan_task", deal, by=cast.alice(), title="Call", due_on=cast.TUESDAY)

    sweeps.sweep(now=NOW)

    closed = Recommendation.objects.filter(state=State.SUPERSEDED)
    assert len(closed) == len({one.conflict_id for one in closed}) == 7
    assert {one.overtaken_by for one in closed} == {str(actors.person(cast.alice()))}


def test_a_yes_that_a_crash_left_behind_is_carried_out_once() -> None:
    one = suggestion()
    # The worker died between the yes and the gate.
    said_yes(one, by=cast.alice())

    assert sweeps.resume(now=NOW + dt.timedelta(seconds=30)) == 0, "it may still be in somebody's hands"
    assert sweeps.resume(now=NOW + dt.timedelta(minutes=2)) == 1
    assert sweeps.resume(now=NOW + dt.timedelta(minutes=4)) == 0

    one.refresh_from_db()
    assert one.state == State.APPLIED
    assert Task.objects.count() == 1


def test_a_crash_after_the_effect_repeats_nothing() -> None:
    one = suggestion()
    recommendations.approve(one, by=actors.person(cast.alice()), now=NOW, shown=shown(one, to=cast.alice()))
    # As if the answer had been lost: the same wish is sent again.
    one.refresh_from_db()
    told = execution.carry_out(one, now=NOW)

    assert told.outcome is not None
    assert told.outcome.first is not None
    assert Task.objects.count() == 1
    one.refresh_from_db()
    assert one.state == State.APPLIED


def test_where_the_policy_says_act_it_is_done_at_once_through_the_gate() -> None:
    acting()
    deal = idle_deal()

    run = sweeps.sweep(now=NOW)

    assert (run.proposed, run.acted) == (1, 1)
    one = Recommendation.objects.get()
    assert (one.state, one.mode, one.decider) == (State.APPLIED, Mode.ACT, None)
    assert Task.objects.get().maker == cast.AGENT
    deal.refresh_from_db()
    assert deal.next_step_on == cast.TUESDAY


@pytest.mark.parametrize(("amount", "mode"), [("500", Mode.ACT), ("500.01", Mode.ASK), (None, Mode.ASK)])
def test_above_the_limit_it_asks(amount: str | None, mode: Mode) -> None:
    acting(limit="500")
    idle_deal(**({"amount": amount} if amount else {}))

    run = sweeps.sweep(now=NOW)

    assert Recommendation.objects.get().mode == mode
    assert run.acted == (1 if mode == Mode.ACT else 0)


def test_what_was_to_be_done_by_itself_and_was_left_by_a_crash_is_done_by_the_next_sweep() -> None:
    one = suggestion()
    Recommendation.objects.filter(pk=one.pk).update(mode=Mode.ACT, created_at=NOW - dt.timedelta(minutes=5))

    sweeps.sweep(now=NOW)

    one.refresh_from_db()
    assert one.state == State.APPLIED


def test_an_act_that_is_overtaken_is_decided_anew_three_times_and_then_waits_for_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acting()
    deal = idle_deal()
    real = execution.gate.commit_many

    def somebody_is_always_faster(proposals, **more):  # type: ignore[no-untyped-def]
        deal.refresh_from_db()
        stage = cast.stage("Proposal" if deal.stage.name == "New" else "New")
        real([cast_move(deal, stage)])
        return real(proposals, **more)

    monkeypatch.setattr(execution.gate, "commit_many", somebody_is_always_faster)
    sweeps.sweep(now=NOW)

    states = list(Recommendation.objects.order_by("pk").values_list("state", flat=True))
    assert states == [State.SUPERSEDED, State.SUPERSEDED, State.FAILED]
    [waiting] = Conflict.objects.waiting()
    assert waiting.responsible == cast.alice()
    assert Recommendation.objects.get(state=State.FAILED).conflict == waiting
    assert not Task.objects.exists()

    monkeypatch.undo()
    assert sweeps.sweep(now=NOW).passed == {"G7": 1}, "the agent keeps silent until a person has decided"


def cast_move(deal, stage):  # type: ignore[no-untyped-def]
    from conflicts.proposals import Proposal, Read

    return Proposal(
        action="opportunity.move",
        by=actors.person(cast.bob()),
        params={"stage": stage.pk},
        basis=(Read.of(deal),),
    )


def test_a_sweep_that_runs_out_of_time_is_gone_on_with_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        cast.deal(f"Deal {number}")
    monkeypatch.setattr(sweeps, "PAGE", 2)

    first = sweeps.sweep(now=NOW, seconds=0)
    second = sweeps.sweep(now=NOW)

    assert (first.looked_at, second.looked_at) == (2, 3)
    assert Recommendation.objects.count() == 5


def test_sweeps_that_made_nothing_are_forgotten_after_a_week_and_the_others_are_kept() -> None:
    suggestion()
    SweepRun.objects.create()
    SweepRun.objects.update(started_at=NOW - dt.timedelta(days=8))

    sweeps.sweep(now=NOW)

    assert SweepRun.objects.filter(started_at__lt=NOW - dt.timedelta(days=7)).count() == 1


def test_the_queries_of_a_sweep_do_not_grow_with_the_deals(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(12):
        cast.deal(f"Deal {number}")

    with django_assert_max_num_queries(30):
        sweeps.sweep(now=NOW)
