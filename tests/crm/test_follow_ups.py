"""What a follow-up stands on is asked once: the card says before the click what the gate would say after it."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from agents import cards, recommendations, sweeps
from agents.models import Recommendation
from conflicts import actors
from conflicts.exceptions import GoalMet, RuleBroken
from crm import follow_ups
from crm.follow_ups import Answered, Ground
from crm.models import Opportunity, Task
from tests import cast
from tests.agents.suggested import shown
from tests.chatting import writes

TODAY = dt.date(2031, 6, 9)
GOOD = Ground(
    kind="call",
    today=TODAY,
    status="open",
    status_words="open",
    stage="New",
    contact_allowed=True,
    next_step="",
    next_step_on=None,
    planned_by="",
    owner="Alice Amaral",
    owner_moved=False,
    contact="Rui Amaro",
)

NOES: list[tuple[str, dict[str, Any], str, type[Exception]]] = [
    ("still_open", {"status": "won"}, "deal_closed", RuleBroken),
    ("nothing_planned", {"next_step": "Visit", "next_step_on": TODAY}, "next_step_exists", GoalMet),
    ("stage_allows", {"contact_allowed": False}, "stage_forbids_contact", RuleBroken),
    ("same_owner", {"owner_moved": True}, "owner_changed", RuleBroken),
    ("customer_is_silent", {"answered": Answered(on=TODAY, by="person:1:Bob")}, "customer_answered", GoalMet),
    ("customer_is_silent", {"answered": Answered(on=TODAY)}, "customer_waits", GoalMet),
    ("may_be_reached", {"blocked": True}, "contact_blocked", RuleBroken),
    ("may_be_reached", {"stated": "refused"}, "consent_refused", RuleBroken),
]


def test_what_is_in_order_is_answered_with_no_no() -> None:
    assert follow_ups.first_no(GOOD) is None
    assert follow_ups.first_no(replace(GOOD, next_step="Visit", next_step_on=TODAY - dt.timedelta(days=1))) is None


@pytest.mark.parametrize(("name", "change", "code", "kind"), NOES)
def test_each_question_is_asked_by_itself_and_among_the_others(
    name: str, change: dict[str, Any], code: str, kind: type[Exception]
) -> None:
    ground = replace(GOOD, **change)
    no = getattr(follow_ups, name)(ground)
    assert isinstance(no, kind)
    assert no.code == code
    assert follow_ups.first_no(ground).code == code  # type: ignore[union-attr]
    assert [check.__name__ for check in follow_ups.CHECKS if check(ground)] == [name]


@pytest.mark.parametrize("change", [{"contact_allowed": False}, {"blocked": True}, {"stated": "refused"}])
def test_a_task_among_ourselves_reaches_nobody_and_needs_nobodys_consent(change: dict[str, Any]) -> None:
    assert follow_ups.first_no(replace(GOOD, kind="todo", **change)) is None


# --- the card and the gate, in the same situation ---------------------------------------------------------------------


def won(deal: Opportunity) -> None:
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Won").pk)


def planned(deal: Opportunity) -> None:
    day = timezone.localdate() + dt.timedelta(days=1)
    cast.propose("opportunity.plan_task", deal, by=cast.bob(), title="Visit", due_on=day)


def moved(deal: Opportunity) -> None:
    cast.propose("opportunity.move", deal, by=cast.bob(), stage=cast.stage("Negotiation").pk)


def given_away(deal: Opportunity) -> None:
    cast.propose("opportunity.edit", deal, by=cast.bob(), owner=cast.bob().pk)


def called(deal: Opportunity) -> None:
    cast.propose("opportunity.log", deal, by=cast.bob(), kind="call", text="They want 14")


def written(deal: Opportunity) -> None:
    writes("Rui here: is the offer still good?", email="rui@example.org", peer="rui@example.org")


def blocked(deal: Opportunity) -> None:
    cast.propose("contact.edit", deal.contact, by=cast.bob(), blocked=True)


def refused(deal: Opportunity) -> None:
    cast.propose("contact.state_consent", deal.contact, by=cast.bob(), channel="phone", status="refused", source="x")


@pytest.mark.django_db
@pytest.mark.parametrize("happens", [won, planned, moved, given_away, called, written, blocked, refused])
def test_what_the_gate_would_refuse_cannot_be_pressed_and_says_why(happens: Callable[[Opportunity], None]) -> None:
    rui = cast.contact("Rui Amaro", addresses=[{"kind": "email", "value": "rui@example.org"}])
    deal = cast.deal(contact=rui.pk)
    sweeps.sweep()
    one = Recommendation.objects.select_related("opportunity__owner").get(opportunity=deal)
    assert one.params["kind"] == "call"
    seen = shown(one, to=cast.alice())
    [card] = cards.build([one], viewer=cast.alice(), now=timezone.now())
    assert card.can_approve
    happens(deal)

    one = Recommendation.objects.select_related("opportunity__owner").get(opportunity=deal)
    [card] = cards.build([one], viewer=cast.alice(), now=timezone.now())
    told = recommendations.approve(one, by=actors.person(cast.alice()), now=timezone.now(), shown=seen)

    assert not card.can_approve
    assert str(card.freshness.sentence)
    assert not told.done
    assert not Task.objects.filter(made_by=str(cast.AGENT)).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("happens", [blocked, refused])
def test_another_kind_of_task_meets_the_question_that_this_kind_is_asked(
    happens: Callable[[Opportunity], None],
) -> None:
    """A task among ourselves reaches nobody; changed to a call it does, and the read set knows nothing of it."""
    rui = cast.contact("Rui Amaro")
    deal = cast.deal(contact=rui.pk)
    sweeps.sweep()
    one = Recommendation.objects.select_related("opportunity__owner").get(opportunity=deal)
    by, day = actors.person(cast.alice()), timezone.localdate() + dt.timedelta(days=2)
    changed = {"kind": "todo", "title": "Read the file", "due_on": day.isoformat()}
    Recommendation.objects.filter(pk=one.pk).update(params=changed, basis=one.basis[:1])
    happens(deal)
    one = Recommendation.objects.select_related("opportunity__owner").get(pk=one.pk)
    [card] = cards.build([one], viewer=cast.alice(), now=timezone.now())
    assert card.can_approve

    assert recommendations.edit(one, by=by, now=timezone.now(), params={"kind": "call"}, reason="else").done
    one = Recommendation.objects.select_related("opportunity__owner").get(pk=one.pk)
    [card] = cards.build([one], viewer=cast.alice(), now=timezone.now())
    told = recommendations.approve(one, by=by, now=timezone.now(), shown=shown(one, to=cast.alice()))

    assert not card.can_approve
    assert "Rui Amaro" in str(card.freshness.sentence)
    assert not told.done


@pytest.mark.django_db
def test_given_away_and_back_voids_the_yes_by_policy_and_nobody_says_it_has_another_owner() -> None:
    deal = cast.deal(contact=cast.contact("Rui Amaro").pk)
    sweeps.sweep()
    for owner in (cast.bob(), cast.alice()):
        deal.refresh_from_db()
        assert cast.propose("opportunity.edit", deal, by=cast.bob(), owner=owner.pk).written
    one = Recommendation.objects.select_related("opportunity__owner").get(opportunity=deal)
    [card] = cards.build([one], viewer=cast.alice(), now=timezone.now())
    told = recommendations.approve(
        one, by=actors.person(cast.alice()), now=timezone.now(), shown=shown(one, to=cast.alice())
    )

    assert not card.can_approve
    assert not told.done
    assert "owner" in str(card.freshness.sentence)
    assert "another owner" not in str(told.sentence)
    assert str(told.sentence).startswith("Bob Borges changed owner"), told.sentence
