"""The states of a suggestion: complete, moved by compare-and-swap alone, and the second is told who was first."""

import datetime as dt
from typing import Any

import pytest

from agents import cards, content, recommendations, rights, sweeps
from agents.exceptions import NotPossible
from agents.execution import ending
from agents.models import AutonomyPolicy, Mode, Recommendation
from agents.models.recommendation import OPEN_STATES, TRANSITIONS
from agents.states import State, move, why_not
from conflicts import actors, sentences
from conflicts.exceptions import BadParams
from conflicts.outcomes import Change, Outcome, Result
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from crm.models import Opportunity, Task
from tests import cast
from tests.agents.suggested import NOW, idle_deal, suggestion

pytestmark = pytest.mark.django_db

LATER = dt.date(2031, 6, 16)


def alice() -> actors.Actor:
    return actors.person(cast.alice())


def bob() -> actors.Actor:
    return actors.person(cast.bob())


def yes(one: Recommendation, *, by: actors.Actor | None = None, now: dt.datetime = NOW) -> Any:
    by = by or alice()
    return recommendations.approve(one, by=by, now=now, shown=content.of(one, reader=by).hash)


def test_every_state_stands_in_the_table_and_what_is_closed_stays_closed() -> None:
    assert set(TRANSITIONS) == set(State)
    assert {state for state, after in TRANSITIONS.items() if after} == OPEN_STATES
    reachable = {State.PROPOSED} | {after for afters in TRANSITIONS.values() for after in afters}
    assert reachable == set(State)


@pytest.mark.parametrize("of", list(State))
@pytest.mark.parametrize("to", list(State))
def test_a_move_that_the_table_does_not_know_is_a_mistake_and_never_made(of: State, to: State) -> None:
    one = suggestion()
    Recommendation.objects.filter(pk=one.pk).update(state=of)
    one.refresh_from_db()

    if to in TRANSITIONS[of]:
        assert move(one, of=[of], to=to)
    else:
        with pytest.raises(ValueError, match="does not go"):
            move(one, of=[of], to=to)


@pytest.mark.parametrize("state", [state for state in State if state is not State.PROPOSED])
def test_whoever_comes_second_is_told_why_in_words(state: State) -> None:
    one = suggestion()
    Recommendation.objects.filter(pk=one.pk).update(
        state=state, decided_by=str(bob()), overtaken_by=str(bob()), snoozed_until=LATER
    )
    one.refresh_from_db()

    told = yes(one)

    assert not told.done
    assert told.sentence == why_not(one)
    assert sentences.known(told.sentence.code)
    one.refresh_from_db()
    assert one.state == state
    assert not Task.objects.exists()


def test_two_revisions_are_two_contents_and_a_yes_to_the_first_is_no_yes_to_the_second() -> None:
    one = suggestion()
    shown = content.of(one, reader=alice()).hash
    recommendations.edit(one, by=bob(), now=NOW, params={"due_on": "2031-06-12"})

    told = recommendations.approve(one, by=alice(), now=NOW, shown=shown)

    assert told.sentence == Sentence("no.edited", {"who": "Bob"})
    one.refresh_from_db()
    assert (one.state, one.revision) == (State.PROPOSED, 2)
    assert not Task.objects.exists()


def test_an_old_revision_in_hand_moves_nothing() -> None:
    one = suggestion()
    old = Recommendation.objects.get(pk=one.pk)
    recommendations.edit(one, by=bob(), now=NOW, params={"due_on": "2031-06-12"})

    assert not move(old, of=[State.PROPOSED], to=State.APPROVED)


def test_an_edited_suggestion_is_carried_out_as_it_was_edited() -> None:
    one = suggestion()
    told = recommendations.edit(
        one, by=alice(), now=NOW, params={"title": "Visit Rui", "kind": "meeting", "due_on": "2031-06-12"}
    )
    assert told.done
    assert str(told.sentence) == "Changed. It now reads: Visit Rui, Thu, 12 Jun 2031."

    assert yes(told.recommendation).done

    [task] = Task.objects.all()
    assert (task.title, task.kind, task.due_on) == ("Visit Rui", "meeting", dt.date(2031, 6, 12))


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"due_on": "2031-06-05"}, "due_on"),
        ({"due_on": "2041-06-05"}, "due_on"),
        ({"due_on": "not a day"}, "due_on"),
        ({"title": ""}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"kind": "spell"}, "kind"),
        ({"owner": 1}, "owner"),
    ],
)
def test_an_edit_that_does_not_fit_says_which_field_and_changes_nothing(params: dict[str, Any], field: str) -> None:
    one = suggestion()

    with pytest.raises(BadParams) as error:
        recommendations.edit(one, by=alice(), now=NOW, params=params)

    assert list(error.value.errors) == [field]
    one.refresh_from_db()
    assert one.revision == 1


def test_a_task_among_ourselves_that_becomes_a_call_then_rests_on_the_consent() -> None:
    deal = idle_deal(stage=cast.stage("Negotiation").pk)
    one = suggestion(deal)
    assert one.params["kind"] == "todo"
    assert len(one.reads) == 1

    recommendations.edit(one, by=alice(), now=NOW, params={"kind": "call"})

    one.refresh_from_db()
    assert one.reads[1].values == {"blocked": False}
    told = yes(one)
    assert told.sentence.code == "stage_forbids_contact"
    assert told.recommendation.state == State.FAILED


def test_a_declined_suggestion_does_not_come_back_until_the_deal_changes() -> None:
    one = suggestion()
    told = recommendations.decline(one, by=alice(), now=NOW, reason="wrong_time")
    assert told.done

    from agents import sweeps

    sweeps.sweep(now=NOW + dt.timedelta(days=1))
    assert Recommendation.objects.count() == 1

    sweeps.sweep(now=NOW + dt.timedelta(days=31))
    assert Recommendation.objects.count() == 2


def test_a_snoozed_suggestion_keeps_its_place_and_comes_back_on_its_day() -> None:
    from agents import sweeps

    one = suggestion()
    monday = dt.date(2031, 6, 9)
    assert recommendations.snooze(one, by=alice(), now=NOW, until=monday).done

    sweeps.sweep(now=NOW + dt.timedelta(days=1))
    one.refresh_from_db()
    assert one.state == State.SNOOZED
    assert Recommendation.objects.count() == 1

    sweeps.sweep(now=NOW + dt.timedelta(days=3))
    one.refresh_from_db()
    assert one.state == State.PROPOSED


def test_a_suggestion_that_slept_past_its_day_expires_and_the_agent_decides_anew() -> None:
    from agents import sweeps

    one = suggestion()
    recommendations.snooze(one, by=alice(), now=NOW, until=dt.date(2031, 6, 20))

    sweeps.sweep(now=dt.datetime(2031, 6, 20, 12, tzinfo=dt.UTC))

    one.refresh_from_db()
    assert one.state == State.EXPIRED
    fresh = Recommendation.objects.exclude(pk=one.pk).get()
    assert fresh.state == State.PROPOSED
    assert dt.date.fromisoformat(fresh.params["due_on"]) > dt.date(2031, 6, 20)


@pytest.mark.parametrize("day", [dt.date(2031, 6, 6), dt.date(2031, 6, 1), dt.date(2032, 6, 1)])
def test_a_suggestion_is_put_off_to_a_day_ahead_within_half_a_year(day: dt.date) -> None:
    told = recommendations.snooze(suggestion(), by=alice(), now=NOW, until=day)

    assert told.sentence == Sentence("no.past_day")
    assert told.recommendation.state == State.PROPOSED


def test_a_yes_after_the_day_has_passed_is_no_yes() -> None:
    one = suggestion()

    told = yes(one, now=one.expires_at)

    assert told.sentence == Sentence("no.expired")


def test_somebody_of_another_team_decides_nothing() -> None:
    one = suggestion()
    charlie = actors.person(cast.charlie())

    for told in (
        yes(one, by=charlie),
        recommendations.decline(one, by=charlie, now=NOW, reason="done"),
        recommendations.snooze(one, by=charlie, now=NOW, until=LATER),
        recommendations.edit(one, by=charlie, now=NOW, params={}),
        recommendations.ask_again(one, by=charlie, now=NOW),
    ):
        assert told.sentence.code == "other_team"
    one.refresh_from_db()
    assert one.state == State.PROPOSED


def test_where_the_policy_says_ask_only_the_owner_or_a_manager_says_yes() -> None:
    AutonomyPolicy.objects.create(action="opportunity.follow_up", mode=Mode.ASK)
    one = suggestion()

    assert yes(one, by=bob()).sentence == Sentence("no.owner_only", {"who": "Alice Amaral"})
    assert not rights.can_approve(one, by=bob(), now=NOW)
    assert rights.can_approve(one, by=actors.person(cast.manager()), now=NOW)
    assert yes(one, by=alice()).done


def test_button_and_write_ask_the_same_check() -> None:
    one = suggestion()
    assert rights.can_approve(one, by=alice(), now=NOW)
    assert rights.can_decline(one, by=alice())
    assert rights.can_snooze(one, by=alice())
    assert rights.can_edit(one, by=alice())
    assert rights.can_ask_again(one, by=alice())
    yes(one)
    one.refresh_from_db()
    for can, check in (
        (rights.can_decline, rights.check_decline),
        (rights.can_snooze, rights.check_snooze),
        (rights.can_edit, rights.check_edit),
        (rights.can_ask_again, rights.check_ask_again),
    ):
        assert not can(one, by=bob())
        with pytest.raises(NotPossible) as no:
            check(one, by=bob())
        assert no.value.sentence == Sentence("no.applied", {"who": "Alice"})


MOVED = (
    Change(
        subject=Ref("crm.opportunity", 1), aspect="status", old="open", new="won", by="person:1:Alice", at="", version=2
    ),
)


@pytest.mark.parametrize(
    ("outcome", "final", "state"),
    [
        (Outcome(result=Result.APPLIED), False, State.APPLIED),
        (Outcome(result=Result.REBASED), False, State.APPLIED),
        (Outcome(result=Result.MERGED), False, State.APPLIED),
        (Outcome(result=Result.APPLIED, unchanged=True), False, State.APPLIED),
        (Outcome(result=Result.SUPERSEDED), False, State.SUPERSEDED),
        (Outcome(result=Result.REFUSED, moved=MOVED), False, State.SUPERSEDED),
        (Outcome(result=Result.REFUSED), False, State.FAILED),
        (Outcome(result=Result.CONFLICT, sentence=Sentence("rested_on")), False, State.SUPERSEDED),
        (Outcome(result=Result.CONFLICT, sentence=Sentence("rested_on")), True, State.FAILED),
        (Outcome(result=Result.CONFLICT, sentence=Sentence("not_mergeable")), False, State.FAILED),
        (Outcome(result=Result.CONFLICT, sentence=Sentence("taken")), False, State.FAILED),
        (Outcome(result=Result.SUPERSEDED).again(), False, State.SUPERSEDED),
        (Outcome(result=Result.APPLIED).again(), False, State.APPLIED),
    ],
)
def test_each_outcome_of_the_gate_means_one_state(outcome: Outcome, final: bool, state: State) -> None:
    assert ending(outcome, final=final) is state


def test_a_deal_won_meanwhile_overtakes_the_suggestion_and_says_by_whom() -> None:
    one = suggestion()
    deal = Opportunity.objects.get()
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Won").pk)

    told = yes(one)

    assert told.recommendation.state == State.SUPERSEDED
    assert told.recommendation.overtaker == bob()
    assert told.sentence.code == "deal_closed"
    assert told.recommendation.conflict.state == "terminal_state_found"


def test_what_it_rested_on_moved_so_the_yes_is_void_and_the_agent_has_looked_again() -> None:
    one = suggestion()
    deal = Opportunity.objects.get()
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk)

    told = yes(one)

    assert not told.done
    assert told.recommendation.state == State.SUPERSEDED
    assert told.recommendation.conflict.resolution == "looked_again"
    assert told.recommendation.conflict.closed_at is not None
    assert told.fresh is not None
    assert told.fresh.state == State.PROPOSED
    assert told.fresh.version_read == 2
    assert not Task.objects.exists(), "the new suggestion needs a yes of its own"


def test_what_moved_does_not_matter_so_the_yes_stands_and_the_record_says_so() -> None:
    one = suggestion()
    deal = Opportunity.objects.get()
    cast.propose("opportunity.edit", deal, by=cast.bob(), amount="52000")

    told = yes(one)

    assert told.done
    assert told.outcome.result is Result.REBASED
    assert told.recommendation.conflict.result == "rebased"
    assert Task.objects.count() == 1


def test_asking_again_about_what_is_still_so_changes_nothing() -> None:
    one = suggestion()

    told = recommendations.ask_again(one, by=alice(), now=NOW)

    assert told.sentence == Sentence("told.asked_same")
    one.refresh_from_db()
    assert one.state == State.PROPOSED
    assert not Task.objects.exists(), "asking is no yes"
    assert Opportunity.objects.get().version == 1


def test_asking_again_after_a_change_closes_the_old_one_and_makes_a_new_one() -> None:
    one = suggestion()
    deal = Opportunity.objects.get()
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Proposal").pk)

    told = recommendations.ask_again(one, by=alice(), now=NOW)

    assert told.done
    one.refresh_from_db()
    assert (one.state, one.overtaker, one.overtaken_version) == (State.SUPERSEDED, bob(), 2)
    assert told.fresh is not None
    assert told.fresh.version_read == 2


@pytest.mark.parametrize(("channel", "status"), [("email", "granted"), ("email", "refused"), ("phone", "granted")])
def test_what_is_said_of_another_channel_or_agreed_to_leaves_a_call_good(channel: str, status: str) -> None:
    one = suggestion()
    assert one.params["kind"] == "call"
    rui = Opportunity.objects.get().contact
    cast.propose("contact.state_consent", rui, by=cast.bob(), channel=channel, status=status, source="said so")

    [card] = cards.build([one], viewer=cast.alice(), now=NOW)
    assert (card.freshness.good, card.can_approve) == (True, True)
    assert all(fact.same for fact in card.freshness.facts)
    sweeps.sweep(now=NOW)
    told = yes(one)

    assert told.done
    assert told.recommendation.state == State.APPLIED
    assert Task.objects.get().kind == "call"


def test_the_card_of_a_call_says_that_calls_were_refused_and_by_whom_it_was_recorded() -> None:
    one = suggestion()
    rui = Opportunity.objects.get().contact
    cast.propose("contact.state_consent", rui, by=cast.bob(), channel="phone", status="refused", source="said so")

    [card] = cards.build([one], viewer=cast.alice(), now=NOW)

    assert (card.freshness.sentence.code, card.can_approve) == ("stale.refused.call", False)
    [changed] = [fact for fact in card.freshness.facts if not fact.same]
    assert (changed.label.code, changed.now.code, changed.by) == ("fact.calls", "value.refused", "Bob")


def test_a_refused_consent_overtakes_a_call() -> None:
    one = suggestion()
    rui = Opportunity.objects.get().contact
    cast.propose("contact.state_consent", rui, by=cast.bob(), channel="phone", status="refused", source="said so")

    told = yes(one)

    assert told.sentence.code == "consent_refused"
    assert told.recommendation.state == State.SUPERSEDED
    assert told.recommendation.overtaker == bob()
    assert told.fresh is not None
    assert told.fresh.params["kind"] == "mail"
