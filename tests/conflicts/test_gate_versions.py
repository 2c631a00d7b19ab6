"""Question 4: is the world as I saw it? What moved since, who moved it, and whether it matters."""

import pytest

from conflicts import gate, judging
from conflicts.history import changes_since
from conflicts.models import Conflict
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db


def test_a_change_on_the_version_that_was_read_is_applied_and_leaves_no_record() -> None:
    deal = cast.deal(amount="100")
    outcome = gate.commit(wish("opportunity.edit", deal, "amount", by=cast.alice(), amount="120"))

    assert (outcome.result, outcome.version, outcome.moved) == (Result.APPLIED, deal.version + 1, ())
    assert outcome.sentence is None
    assert outcome.record is None
    assert str(now(deal).amount) == "120.00"
    assert not Conflict.objects.exists()


def test_an_independent_change_is_rebased_and_says_so() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), decision="Rui decides in June")

    outcome = gate.commit(wish("opportunity.edit", deal, "amount", by=cast.bob(), amount="120"))

    found = now(deal)
    assert outcome.result is Result.REBASED
    assert (str(found.amount), found.decision) == ("120.00", "Rui decides in June")
    assert found.version == outcome.version == deal.version + 2
    assert [(c.aspect, c.new, c.by) for c in outcome.moved] == [
        ("decision", "Rui decides in June", f"person:{cast.alice().pk}:Alice Amaral")
    ]
    assert outcome.sentence is not None
    assert "Alice Amaral" in str(outcome.sentence)
    assert Conflict.objects.get().result == "rebased"


def test_the_same_field_changed_by_two_is_a_conflict_that_shows_base_current_and_proposed() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120"))

    assert outcome.result is Result.CONFLICT
    [difference] = outcome.differences
    assert (difference.field, difference.base, difference.current, difference.proposed) == (
        "amount",
        "100.00",
        "110.00",
        "120.00",
    )
    assert str(now(deal).amount) == "110.00"
    assert now(deal).version == deal.version + 1


def test_the_base_comes_from_history_even_when_the_author_sent_no_values() -> None:
    deal = cast.deal(amount="100")
    for amount in ("110", "115", "118"):
        cast.propose("opportunity.edit", now(deal), by=cast.alice(), amount=amount)

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120"))

    assert outcome.differences[0].base == "100.00"
    assert [c.new for c in outcome.moved] == ["110.00", "115.00", "118.00"]


def test_two_who_say_the_same_agree() -> None:
    """Normalised before it is compared: 120, "120.0" and 120.00 are one amount."""
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="120")

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120.0"))

    assert outcome.result is Result.APPLIED
    assert outcome.unchanged
    assert outcome.done
    assert now(deal).version == deal.version + 1


def test_a_field_that_the_form_carries_unchanged_does_not_undo_a_neighbours_edit() -> None:
    """Autosave of a whole form: what its author did not touch is not written."""
    deal = cast.deal(amount="100", decision="open")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")

    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="100", decision="Rui, in June"))

    found = now(deal)
    assert outcome.result is Result.REBASED
    assert (str(found.amount), found.decision) == ("110.00", "Rui, in June")


def test_an_edit_that_changes_nothing_raises_no_version() -> None:
    deal = cast.deal(amount="100")
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.alice(), amount="100.00", name=deal.name))
    assert outcome.unchanged
    assert not outcome.written
    assert now(deal).version == deal.version


def test_an_edit_that_says_nothing_raises_no_version() -> None:
    deal = cast.deal()
    outcome = gate.commit(wish("opportunity.edit", deal, by=cast.alice()))
    assert outcome.unchanged
    assert now(deal).version == deal.version


def test_of_two_clashing_fields_and_one_free_one_nothing_is_written_until_someone_chooses() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110", name="Sensors for 15 rooms")

    outcome = gate.commit(
        wish("opportunity.edit", deal, by=cast.bob(), amount="120", name="Sensors, 16 rooms", decision="Rui")
    )

    assert outcome.result is Result.CONFLICT
    assert {d.field for d in outcome.differences} == {"amount", "name"}
    assert now(deal).decision == ""


def test_a_person_who_has_seen_the_difference_may_decide_on_the_new_version() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    clash = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120"))

    settled = gate.commit(wish("opportunity.edit", now(deal), by=cast.bob(), settles=clash.record, amount="120"))

    assert settled.result is Result.APPLIED
    record = Conflict.objects.get(pk=clash.record)
    assert record.closed_at is not None
    assert record.closed_by.endswith("Bob Borges")


def test_settling_on_a_version_that_moved_again_leaves_the_conflict_open() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    clash = gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120"))
    seen = now(deal)
    cast.propose("opportunity.edit", seen, by=cast.alice(), amount="115")

    second = gate.commit(wish("opportunity.edit", seen, by=cast.bob(), settles=clash.record, amount="120"))

    assert second.result is Result.CONFLICT
    assert Conflict.objects.get(pk=clash.record).closed_at is None


def test_a_version_that_never_was_is_a_conflict_and_not_an_error() -> None:
    """A made-up number, or a version that a restored backup has taken back."""
    deal = cast.deal(amount="100")
    read = Read(subject=Ref.of(deal), version=deal.version + 100)
    outcome = gate.commit(Proposal(action="opportunity.edit", by=cast.AGENT, basis=(read,), params={"amount": "120"}))
    assert outcome.result is Result.CONFLICT
    assert outcome.record is not None
    assert str(now(deal).amount) == "100.00"


def test_changes_are_told_with_who_when_and_at_which_version() -> None:
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    cast.propose("opportunity.plan_task", now(deal), by=cast.bob(), title="Call Rui", due_on=cast.MONDAY)

    moved = changes_since(Ref.of(deal), deal.version)

    assert [(c.aspect, c.version) for c in moved] == [
        ("amount", deal.version + 1),
        ("next_step", deal.version + 2),
        ("next_step_on", deal.version + 2),
        ("tasks", deal.version + 2),
    ]
    assert all(c.at.endswith("+00:00") for c in moved)
    assert moved[-1].by.endswith("Bob Borges")
    assert moved[-1].new["title"] == "Call Rui"


def test_without_the_version_comparison_the_neighbours_edit_would_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: question 4 removed. The write then goes through, on a state its author never saw."""
    monkeypatch.setattr(judging, "look", lambda work: set())
    monkeypatch.setattr(judging, "merge_writes", lambda work, action: work.writes.update(action.writes(work.params)))
    deal = cast.deal(amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")

    gate.commit(wish("opportunity.edit", deal, by=cast.bob(), amount="120"))

    assert str(now(deal).amount) == "120.00"
