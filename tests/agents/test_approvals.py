"""A yes is bound to what was read, under the rules of its time; it is used once, or void with the reason."""

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import translation

from agents import approving, content, recommendations, sweeps
from agents.execution import carry_out
from agents.models import Approval, ApprovalState, Recommendation
from agents.models.approval import TRANSITIONS
from agents.states import State
from conflicts import actors
from conflicts.clock import database_now
from conflicts.models import Conflict
from crm.models import Opportunity, Task, User
from crm.models.user import Role
from tests import cast
from tests.agents.suggested import NOW, idle_deal, said_yes, shown, suggestion

pytestmark = pytest.mark.django_db


def alice() -> actors.Actor:
    return actors.person(cast.alice())


def yes(one: Recommendation, *, by: User | None = None) -> Any:
    by = by or cast.alice()
    return recommendations.approve(one, by=actors.person(by), now=NOW, shown=shown(one, to=by))


def bob_changes(deal: Opportunity, **params: Any) -> None:
    assert cast.propose("opportunity.edit", deal, by=cast.bob(), **params).written


def test_a_yes_keeps_what_was_read_and_is_used_with_its_effect() -> None:
    one = suggestion()

    assert yes(one).done

    given = Approval.objects.get()
    assert given.state == ApprovalState.USED
    assert given.settled_at is not None
    assert given.giver == alice()
    assert (given.action, given.params, given.basis, given.revision) == (one.action, one.params, one.basis, 1)
    assert given.policies == {
        "crm.opportunity": Opportunity.policy.mark,
        "crm.contact": type(one.opportunity.contact).policy.mark,
    }
    assert given.shown["language"] == "en"
    assert str(one.headline) in given.shown["lines"]
    assert any(line.startswith(("Last contact: ", "Stage: ")) for line in given.shown["lines"])
    assert "Adds a task for you. Nothing is sent to the customer." in given.shown["lines"]
    assert given.expires_at - given.given_at == approving.ALONE


def test_the_same_card_in_another_language_or_to_another_reader_is_other_content() -> None:
    one = suggestion()
    english = shown(one, to=cast.alice())
    assert shown(one, to=cast.bob()) != english, "it adds a task for Alice, not for him"
    with translation.override("pt-br"):
        assert shown(one, to=cast.alice()) != english


def test_other_rules_are_other_content(monkeypatch: pytest.MonkeyPatch) -> None:
    one = suggestion()
    before = shown(one, to=cast.alice())
    from dataclasses import replace

    monkeypatch.setattr(Opportunity, "policy", replace(Opportunity.policy, version=Opportunity.policy.version + 1))
    assert shown(one, to=cast.alice()) != before


def test_a_forged_hash_is_told_and_nothing_is_kept() -> None:
    one = suggestion()

    told = recommendations.approve(one, by=alice(), now=NOW, shown="0" * 64)

    assert told.sentence.code == "no.other_content"
    assert not Approval.objects.exists()
    assert not Task.objects.exists()


def test_an_agent_says_yes_to_nothing() -> None:
    one = suggestion()
    told = recommendations.approve(one, by=cast.AGENT, now=NOW, shown=content.of(one, reader=cast.AGENT).hash)
    assert told.sentence.code == "no.people_only"


def test_of_two_who_press_at_once_the_second_is_told_who_was_first_and_one_yes_is_kept() -> None:
    one = suggestion()
    mine, bobs = shown(one, to=cast.alice()), shown(one, to=cast.bob())
    stale = Recommendation.objects.select_related("opportunity").get(pk=one.pk)
    recommendations.approve(one, by=alice(), now=NOW, shown=mine)

    told = recommendations.approve(stale, by=actors.person(cast.bob()), now=NOW, shown=bobs)

    assert str(told.sentence) == "Alice has approved this already, and it is done."
    assert Approval.objects.count() == 1


def test_two_yeses_to_one_revision_are_refused_by_the_database() -> None:
    one = suggestion()
    given = said_yes(one, by=cast.alice())
    given.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        given.save(force_insert=True)


def test_what_it_rests_on_moved_so_the_yes_is_void_with_the_difference() -> None:
    one = suggestion()
    said_yes(one, by=cast.alice())
    bob_changes(Opportunity.objects.get(), owner=cast.bob().pk)

    told = carry_out(one, now=NOW)

    assert not told.done
    given = Approval.objects.get()
    assert given.state == ApprovalState.VOID
    assert given.void_because == told.sentence
    record = told.recommendation.conflict
    assert record.state == "changed_during_approval"
    assert "owner" in {change["aspect"] for change in record.moved}
    assert not Task.objects.exists()


def test_the_record_of_a_void_yes_is_called_by_its_name() -> None:
    one = suggestion()
    said_yes(one, by=cast.alice())
    deal = Opportunity.objects.get()
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk)

    told = carry_out(one, now=NOW)

    assert told.recommendation.conflict.state == "changed_during_approval"
    assert "Bob Borges" in str(Approval.objects.get().void_because)


def test_only_unrelated_fields_moved_so_the_yes_is_used_and_it_is_said_afterwards() -> None:
    one = suggestion()
    said_yes(one, by=cast.alice())
    bob_changes(Opportunity.objects.get(), decision="Rui decides")

    told = carry_out(one, now=NOW)

    assert told.done
    assert str(told.sentence).startswith(f"Done: {one.headline}. Meanwhile Bob Borges had changed decision")
    assert Approval.objects.get().state == ApprovalState.USED
    assert Task.objects.count() == 1


def test_a_yes_that_has_run_out_does_nothing_and_is_asked_for_again() -> None:
    one = suggestion()
    yesterday = database_now() - dt.timedelta(hours=25)
    said_yes(one, by=cast.alice(), now=yesterday)

    told = carry_out(one, now=NOW)

    assert not told.done
    assert told.sentence.code == "approval_expired"
    assert (told.recommendation.state, told.recommendation.decided_by) == (State.PROPOSED, "")
    assert Approval.objects.get().state == ApprovalState.VOID
    assert Conflict.objects.get().resolution == "asked_again"
    assert not Task.objects.exists()
    assert yes(told.recommendation).done, "and a new yes is as good as the first"


def test_rules_that_changed_after_the_yes_make_it_void(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    one = suggestion()
    said_yes(one, by=cast.alice())
    monkeypatch.setattr(Opportunity, "policy", replace(Opportunity.policy, version=99))

    told = carry_out(one, now=NOW)

    assert told.sentence.code == "approval_of_other_rules"
    assert told.recommendation.state == State.PROPOSED


def test_whoever_lost_the_right_meanwhile_has_said_nothing() -> None:
    one = suggestion()
    said_yes(one, by=cast.bob())
    User.objects.filter(username="bob").update(is_active=False)

    told = carry_out(one, now=NOW)

    assert told.sentence.code == "approval_without_right"
    assert told.recommendation.state == State.PROPOSED
    assert not Task.objects.exists()


def test_approved_without_anybodys_yes_on_record_is_asked_again() -> None:
    one = suggestion()
    Recommendation.objects.filter(pk=one.pk).update(state=State.APPROVED, decided_by=str(alice()), decided_at=NOW)
    one.refresh_from_db()

    told = carry_out(one, now=NOW)

    assert told.sentence.code == "no.without_a_yes"
    one.refresh_from_db()
    assert one.state == State.PROPOSED
    assert not Task.objects.exists()


def test_a_used_yes_is_no_yes_to_anything_more() -> None:
    one = suggestion()
    yes(one)
    Recommendation.objects.filter(pk=one.pk).update(state=State.APPROVED)
    one.refresh_from_db()

    carry_out(one, now=NOW)

    assert Task.objects.count() == 1
    assert not approving.in_force([one])


def test_a_policy_can_name_what_voids_a_yes_beyond_the_read_set(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setattr(Opportunity, "policy", replace(Opportunity.policy, voids_approval=frozenset({"amount"})))
    one = suggestion()
    said_yes(one, by=cast.alice())
    bob_changes(Opportunity.objects.get(), amount="52000")

    told = carry_out(one, now=NOW)

    assert told.sentence.code == "approval_void"
    assert told.recommendation.state == State.SUPERSEDED
    assert not Task.objects.exists()


def test_every_state_of_a_yes_stands_in_its_table() -> None:
    assert set(TRANSITIONS) == set(ApprovalState)


class TestOnesOwn:
    """Nobody says yes alone to what they changed themselves, above their level."""

    def test_what_somebody_changed_in_a_deal_above_their_level_needs_another_person(self) -> None:
        one = suggestion(idle_deal(amount="500000"))
        recommendations.edit(one, by=alice(), now=NOW, params={"due_on": "2031-06-12"})
        one.refresh_from_db()

        told = yes(one)

        assert told.sentence.code == "no.own_beyond"
        assert "500,000" in str(told.sentence)
        assert yes(one, by=cast.manager()).done

    def test_saving_the_same_again_is_no_edit(self) -> None:
        one = suggestion(idle_deal(amount="500000"))
        recommendations.edit(one, by=alice(), now=NOW, params={"due_on": "2031-06-12"})

        told = recommendations.edit(one, by=actors.person(cast.bob()), now=NOW, params={"due_on": "2031-06-12"})

        one.refresh_from_db()
        assert (told.done, told.sentence.code) == (False, "no.edit_same")
        assert (one.revision, one.editors, one.edited_by) == (2, [str(alice())], str(alice()))
        assert yes(one).sentence.code == "no.own_beyond"

    def test_a_second_editor_takes_nothing_from_the_first(self) -> None:
        one = suggestion(idle_deal(amount="500000"))
        recommendations.edit(one, by=alice(), now=NOW, params={"due_on": "2031-06-12"})
        assert recommendations.edit(one, by=actors.person(cast.bob()), now=NOW, params={"title": "Visit Rui"}).done
        one.refresh_from_db()

        assert yes(one).sentence.code == "no.own_beyond"
        assert yes(one, by=cast.bob()).sentence.code == "no.own_beyond"
        assert yes(one, by=cast.manager()).done

    def test_below_the_level_it_is_theirs_to_decide(self) -> None:
        one = suggestion(idle_deal(amount="500"))
        recommendations.edit(one, by=alice(), now=NOW, params={"due_on": "2031-06-12"})
        one.refresh_from_db()
        assert yes(one).done

    def test_what_the_agent_proposed_is_nobodys_own(self) -> None:
        assert yes(suggestion(idle_deal(amount="500000"))).done

    def test_the_manager_has_a_level_too(self) -> None:
        cast.manager()
        one = suggestion(idle_deal(amount="5000000"))
        recommendations.edit(one, by=actors.person(cast.manager()), now=NOW, params={"due_on": "2031-06-12"})
        one.refresh_from_db()
        assert cast.manager().role == Role.MANAGER
        assert yes(one, by=cast.manager()).sentence.code == "no.own_beyond"
        assert yes(one, by=cast.administrator()).done


class TestManyAtOnce:
    def test_what_moved_is_set_aside_with_its_reason_and_the_rest_goes_ahead(self) -> None:
        deals = [idle_deal(name=f"Deal {n}") for n in range(3)]
        sweeps.sweep(now=NOW)
        ones = list(Recommendation.objects.select_related("opportunity__owner").order_by("pk"))
        pairs = [(one, shown(one, to=cast.alice())) for one in ones]
        bob_changes(deals[1], owner=cast.bob().pk)

        told = recommendations.approve_many(pairs, by=alice(), now=NOW)

        assert [answer.recommendation.opportunity_id for answer in told.done] == [deals[0].pk, deals[2].pk]
        [aside] = told.aside
        assert aside.recommendation.opportunity_id == deals[1].pk
        assert "Bob" in str(aside.sentence)
        assert Task.objects.count() == 2
        used = Approval.objects.filter(state=ApprovalState.USED)
        assert used.count() == 2
        assert all(row.together and row.expires_at - row.given_at == approving.TOGETHER for row in used)

    def test_a_forged_or_settled_one_stops_none(self) -> None:
        for n in range(3):
            idle_deal(name=f"Deal {n}")
        sweeps.sweep(now=NOW)
        first, second, third = Recommendation.objects.select_related("opportunity__owner").order_by("pk")
        pairs = [(first, shown(first, to=cast.alice())), (second, "f" * 64), (third, shown(third, to=cast.alice()))]
        recommendations.decline(third, by=actors.person(cast.bob()), now=NOW, reason="done")
        third = Recommendation.objects.select_related("opportunity__owner").get(pk=third.pk)

        told = recommendations.approve_many([*pairs[:2], (third, pairs[2][1])], by=alice(), now=NOW)

        assert len(told.done) == 1
        assert [str(answer.sentence) for answer in told.aside] == [
            "The suggestion is not the one that was on your screen. Look at it again before you decide.",
            "Bob has declined this already.",
        ]
        assert Task.objects.count() == 1


def test_a_worker_that_comes_after_the_yes_was_found_void_does_nothing_of_its_own() -> None:
    """Of two workers the first gives it back to a person; the second must not take "proposed" for a yes."""
    one = suggestion()
    said_yes(one, by=cast.alice(), now=database_now() - dt.timedelta(hours=25))
    carry_out(one, now=NOW)
    one.refresh_from_db()
    assert one.state == State.PROPOSED

    told = carry_out(one, now=NOW)

    assert told.sentence.code == "no.without_a_yes"
    assert not Task.objects.exists()
