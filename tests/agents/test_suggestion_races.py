"""Real threads on PostgreSQL: two who press at once, two sweeps at once, a yes and a person's edit at once."""

import datetime as dt
from typing import Any

import pytest

from agents import execution, recommendations, sweeps
from agents.models import Recommendation
from agents.states import State
from conflicts import actors
from conflicts.models import Conflict
from crm.models import Opportunity, Task, User
from tests import cast
from tests.agents.suggested import NOW, idle_deal, said_yes, shown, suggestion
from tests.races.threads import Meeting, together

pytestmark = pytest.mark.django_db(transaction=True)


def pressing(one: Recommendation, user: User) -> Any:
    """A yes to the suggestion as this person's page showed it."""
    mine = Recommendation.objects.select_related("opportunity").get(pk=one.pk)
    seen = shown(mine, to=user)
    return lambda: recommendations.approve(mine, by=actors.person(user), now=NOW, shown=seen)


def test_two_approvers_at_once_have_one_effect_and_the_second_is_told_by_whom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = suggestion()
    both = Meeting()
    # Both have passed the check before either moves the state.
    monkeypatch.setattr(recommendations, "move", both.at(recommendations.move))

    told = together(pressing(one, cast.alice()), pressing(one, cast.bob()))

    assert sorted(t.done for t in told) == [False, True]
    first = next(t for t in told if t.done).recommendation.decider.name.split()[0]
    second = next(t for t in told if not t.done)
    assert second.sentence.code in ("no.approved", "no.applied")
    assert second.sentence.facts["who"] == first
    assert Task.objects.count() == 1
    assert Opportunity.objects.get().version == 2


def test_a_yes_and_a_no_at_once_end_in_one_of_them() -> None:
    one = suggestion()
    other = Recommendation.objects.select_related("opportunity").get(pk=one.pk)
    by = actors.person(cast.bob())

    told = together(
        pressing(one, cast.alice()),
        lambda: recommendations.decline(other, by=by, now=NOW, reason="done"),
    )

    assert sorted(t.done for t in told) == [False, True]
    one.refresh_from_db()
    assert (one.state == State.APPLIED) == (Task.objects.count() == 1)
    assert one.state in (State.APPLIED, State.DECLINED)


def test_two_sweeps_at_once_leave_one_suggestion_per_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        cast.deal(f"Deal {number}")
    both = Meeting()
    # Both have decided about all deals before either writes.
    monkeypatch.setattr(sweeps, "record", both.at(sweeps.record))

    runs = together(lambda: sweeps.sweep(now=NOW), lambda: sweeps.sweep(now=NOW))

    assert Recommendation.objects.count() == 40
    assert Recommendation.objects.values("opportunity").distinct().count() == 40
    assert [run.looked_at for run in runs] == [40, 40]
    assert sum(run.proposed for run in runs) == 40, "each suggestion is counted by the sweep that made it"


def test_two_sweeps_that_act_at_once_do_each_thing_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.models import AutonomyPolicy, Mode

    AutonomyPolicy.objects.create(action="opportunity.follow_up", mode=Mode.ACT)
    for number in range(10):
        cast.deal(f"Deal {number}")
    both = Meeting()
    monkeypatch.setattr(sweeps, "record", both.at(sweeps.record))

    together(lambda: sweeps.sweep(now=NOW), lambda: sweeps.sweep(now=NOW))

    assert Task.objects.count() == 10
    assert set(Recommendation.objects.values_list("state", flat=True)) == {State.APPLIED}


def test_a_yes_and_the_edit_of_a_person_at_once_never_both_land(monkeypatch: pytest.MonkeyPatch) -> None:
    deal = idle_deal()
    one = suggestion(deal)
    both = Meeting()
    monkeypatch.setattr(execution.gate, "commit", both.at(execution.gate.commit))
    bob = cast.bob()

    told, edited = together(
        pressing(one, cast.alice()),
        lambda: cast.propose("opportunity.plan_task", deal, by=bob, title="Visit", due_on=cast.MONDAY),
    )

    # Whoever had the lock first: Bob's task is always there (adding a task rests on nothing), the agent's only if the
    # deal still had none.
    assert edited.written
    one.refresh_from_db()
    titles = sorted(Task.objects.values_list("title", flat=True))
    if told.done:
        assert titles == ["Call Rui Amaro", "Visit"]
        assert one.state == State.APPLIED
        assert edited.result == "rebased"
    else:
        assert titles == ["Visit"]
        assert (one.state, one.overtaker) == (State.SUPERSEDED, actors.person(bob))
        assert one.conflict is not None


def test_the_sweep_that_would_close_a_suggestion_and_a_yes_at_once_end_in_one_state() -> None:
    deal = idle_deal()
    one = suggestion(deal)
    deal.refresh_from_db()
    cast.propose("opportunity.plan_task", deal, by=cast.bob(), title="Visit", due_on=cast.MONDAY)

    told, closed = together(pressing(one, cast.alice()), lambda: sweeps.close_overtaken(now=NOW))

    one.refresh_from_db()
    assert not told.done
    assert one.state == State.SUPERSEDED
    assert one.overtaker == actors.person(cast.bob())
    assert Task.objects.count() == 1
    assert closed in (0, 1)
    assert Conflict.objects.filter(result="superseded").count() == 1


def test_a_yes_left_behind_is_carried_out_once_by_two_sweeps_at_once() -> None:
    one = suggestion()
    said_yes(one, by=cast.alice(), now=NOW - dt.timedelta(hours=1))

    together(lambda: sweeps.resume(now=NOW), lambda: sweeps.resume(now=NOW))

    one.refresh_from_db()
    assert one.state == State.APPLIED
    assert Task.objects.count() == 1
