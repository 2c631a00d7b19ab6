"""compatible_edits, exclusive_transitions, and many savers of one field: real threads, one row."""

import pytest

from conflicts import gate
from conflicts.history import values_at
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.refs import Ref
from crm.models import Opportunity, User
from tests import cast
from tests.conflicts.wishes import now, wish
from tests.races.threads import Meeting, results, together

pytestmark = pytest.mark.django_db(transaction=True)


def edit(deal: Opportunity, by: User, **params: object) -> Outcome:
    return gate.commit(wish("opportunity.edit", deal, by=by, **params))


def test_compatible_edits_are_both_kept_with_one_new_version_each() -> None:
    deal, alice, bob = cast.deal(amount="100"), cast.alice(), cast.bob()

    outcomes = together(lambda: edit(deal, alice, amount="120"), lambda: edit(deal, bob, decision="Rui"))

    found = now(deal)
    assert results(outcomes) == ["applied", "rebased"]
    assert (str(found.amount), found.decision, found.version) == ("120.00", "Rui", deal.version + 2)
    assert {outcome.version for outcome in outcomes} == {deal.version + 1, deal.version + 2}
    assert Conflict.objects.get().result == "rebased"


def test_compatible_edits_of_one_list_are_merged() -> None:
    deal, alice, bob = cast.deal(tags=["cold"]), cast.alice(), cast.bob()

    outcomes = together(
        lambda: edit(deal, alice, tags=["cold", "pharma"]), lambda: edit(deal, bob, tags=["cold", "urgent"])
    )

    assert results(outcomes) == ["applied", "merged"]
    assert set(now(deal).tags) == {"cold", "pharma", "urgent"}


def test_won_and_lost_at_the_same_moment_has_one_end_and_one_question() -> None:
    deal, alice, bob = cast.deal(), cast.alice(), cast.bob()
    won, lost = cast.stage("Won").pk, cast.stage("Lost").pk

    outcomes = together(
        lambda: gate.commit(wish("opportunity.move", deal, by=alice, stage=won)),
        lambda: gate.commit(wish("opportunity.move", deal, by=bob, stage=lost, reason="price")),
    )

    assert results(outcomes) == ["applied", "conflict"]
    asked = next(outcome for outcome in outcomes if outcome.result is Result.CONFLICT)
    winner = next(outcome for outcome in outcomes if outcome.written)
    found = now(deal)
    assert found.version == winner.version == deal.version + 1
    assert found.status in ("won", "lost")
    assert asked.state == "terminal_state_found"
    record = Conflict.objects.waiting().get()
    assert record.pk == asked.record
    assert "a person decides" in str(record.told)
    assert found.activities.filter(kind="stage").count() == 1


@pytest.mark.parametrize("result", ["Won", "Lost"])
def test_two_who_close_it_the_same_way_agree(result: str) -> None:
    deal, alice, bob, stage = cast.deal(), cast.alice(), cast.bob(), cast.stage(result).pk
    outcomes = together(
        *[
            lambda by=by: gate.commit(wish("opportunity.move", deal, by=by, stage=stage, reason="price"))
            for by in (alice, bob)
        ]
    )
    assert all(outcome.done for outcome in outcomes)
    assert now(deal).version == deal.version + 1
    assert now(deal).activities.count() == 1


def test_ten_parallel_edits_of_one_field_leave_one_value_and_nine_questions() -> None:
    deal, alice = cast.deal(amount="100"), cast.alice()

    outcomes = together(*[lambda n=n: edit(deal, alice, amount=str(200 + n)) for n in range(10)])

    assert results(outcomes) == ["applied"] + ["conflict"] * 9
    winner = next(outcome for outcome in outcomes if outcome.written)
    found = now(deal)
    assert found.version == deal.version + 1
    current = f"{found.amount}"
    for outcome in outcomes:
        if outcome is not winner:
            [difference] = outcome.differences
            assert (difference.base, difference.current) == ("100.00", current)
    assert Conflict.objects.waiting().count() == 9


def test_ten_who_log_at_once_all_stand_in_the_timeline_in_ten_versions() -> None:
    deal, alice = cast.deal(), cast.alice()

    outcomes = together(
        *[
            lambda n=n: gate.commit(wish("opportunity.log", deal, by=alice, kind="note", text=f"note {n}"))
            for n in range(10)
        ]
    )

    assert all(outcome.written for outcome in outcomes)
    assert sorted(outcome.version or 0 for outcome in outcomes) == list(range(deal.version + 1, deal.version + 11))
    assert sorted(now(deal).activities.values_list("text", flat=True)) == [f"note {n}" for n in range(10)]
    assert all(values_at(Ref.of(deal), version) for version in range(1, deal.version + 11))


def test_two_batches_in_opposite_order_never_wait_for_each_other_in_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are locked in ascending order, whatever the order of the proposals."""
    deals, alice, bob = [cast.deal(f"Deal {n}") for n in range(8)], cast.alice(), cast.bob()
    monkeypatch.setattr(gate, "_open", Meeting(2).at(gate._open))

    there, back = together(
        lambda: gate.commit_many([wish("opportunity.edit", d, by=alice, decision="a") for d in deals]),
        lambda: gate.commit_many([wish("opportunity.edit", d, by=bob, amount="7") for d in reversed(deals)]),
    )

    assert all(outcome.written for outcome in [*there, *back])
    assert {(now(d).decision, str(now(d).amount)) for d in deals} == {("a", "7.00")}


def test_two_subjects_in_opposite_order_of_basis_do_not_deadlock_either(monkeypatch: pytest.MonkeyPatch) -> None:
    from conflicts.proposals import Read

    deal, other, rui = cast.deal("One"), cast.deal("Other"), cast.contact()
    monkeypatch.setattr(gate, "_open", Meeting(2).at(gate._open))
    reads = (Read.of(rui, "blocked"), Read.of(other), Read.of(deal))

    outcomes = together(
        lambda: gate.commit(wish("opportunity.plan_task", deal, by=cast.AGENT, also=reads[:2], title="Call")),
        lambda: gate.commit(
            wish("opportunity.plan_task", other, by=cast.AGENT, also=(reads[2], reads[0]), title="Call")
        ),
    )

    assert all(outcome.written for outcome in outcomes)


def test_saving_twice_in_a_row_does_not_clash_with_oneself() -> None:
    deal, alice = cast.deal(amount="100"), cast.alice()
    first = edit(deal, alice, amount="120")
    deal.refresh_from_db()
    second = edit(deal, alice, amount="130")
    assert (first.result, second.result) == (Result.APPLIED, Result.APPLIED)
