"""The story, literally: read at version 31, overtaken at 32, refused, closed as overtaken, linked, and nothing added.

An agent reads a deal at version 31 and suggests a task for next Tuesday. The salesperson logs a call and plans Monday:
version 32. The commit is refused, version 32 is read, its next step found, the suggestion closed with its evidence.
"""

import datetime as dt
import json

import pytest
from django.core.management import call_command
from django.test import RequestFactory

from agents import loading, recommendations, sweeps
from agents.models import Recommendation, RecommendationState
from conflicts import actors
from conflicts.models import Conflict
from conflicts.sentences import Sentence
from crm import timeline
from crm.models import Opportunity, Task
from crm.models.activity import ActivityKind
from tests import cast
from tests.agents.suggested import shown

FRIDAY = dt.datetime(2031, 6, 6, 12, tzinfo=dt.UTC)
"""Two working days before cast.TUESDAY."""


@pytest.fixture
def deal(db: None) -> Opportunity:
    rui = cast.contact("Rui Amaro")
    return cast.at_version(cast.deal(owner=cast.alice(), contact=rui.pk), 31)


def suggested(deal: Opportunity) -> Recommendation:
    sweeps.sweep(now=FRIDAY)
    return Recommendation.objects.get(opportunity=deal)


def alice_is_faster(deal: Opportunity) -> None:
    deal.refresh_from_db()
    outcome = cast.propose(
        "opportunity.log",
        deal,
        by=cast.alice(),
        kind="call",
        text="Wants service for 14 rooms.",
        next_title="Call Rui back",
        next_on=cast.MONDAY,
    )
    assert outcome.written


def test_the_agent_reads_version_31_and_suggests_a_task_for_next_tuesday(deal: Opportunity) -> None:
    suggestion = suggested(deal)

    assert deal.version == 31
    assert suggestion.state == RecommendationState.PROPOSED
    assert suggestion.version_read == 31
    assert suggestion.action == "opportunity.follow_up"
    assert suggestion.params["due_on"] == cast.TUESDAY.isoformat()
    assert str(suggestion.headline) == "Call Rui Amaro on Tue, 10 Jun 2031"
    assert [read.version for read in suggestion.reads] == [31, deal.contact.version]
    assert suggestion.reads[0].values["next_step_on"] is None


def test_the_yes_is_refused_and_the_suggestion_ends_as_overtaken_by_the_salesperson(deal: Opportunity) -> None:
    suggestion = suggested(deal)
    seen = shown(suggestion, to=cast.bob())
    alice_is_faster(deal)

    told = recommendations.approve(suggestion, by=actors.person(cast.bob()), now=FRIDAY, shown=seen)

    assert not told.done
    assert str(told.sentence) == (
        "Alice Amaral set the next step first: Call Rui back, Mon, 9 Jun 2031."
        " The automatic task was not added; nobody was contacted."
    )
    suggestion.refresh_from_db()
    assert suggestion.state == RecommendationState.SUPERSEDED
    assert suggestion.overtaker == actors.person(cast.alice())
    assert suggestion.overtaken_version == 32
    # Nothing was written: no task of the agent, and version 32 stands.
    assert [task.title for task in Task.objects.filter(opportunity=deal)] == ["Call Rui back"]
    deal.refresh_from_db()
    assert (deal.version, deal.next_step, deal.next_step_on) == (32, "Call Rui back", cast.MONDAY)
    # Nor is another suggestion made: version 32 was read, and it has a next step.
    assert Recommendation.objects.filter(opportunity=deal).count() == 1
    assert told.fresh is None


def test_the_record_says_what_was_read_what_was_found_who_was_faster_and_what_did_not_happen(
    deal: Opportunity,
) -> None:
    suggestion = suggested(deal)
    alice_is_faster(deal)
    recommendations.approve(
        suggestion, by=actors.person(cast.bob()), now=FRIDAY, shown=shown(suggestion, to=cast.bob())
    )

    record = Conflict.objects.get()
    suggestion.refresh_from_db()
    assert suggestion.conflict == record
    assert (record.version_read, record.version_found) == (31, 32)
    assert record.state == "manual_action_detected"
    assert record.overtaken_by == actors.person(cast.alice())
    assert record.intended_by == cast.AGENT
    assert record.source == f"recommendation:{suggestion.pk}"
    assert {change["aspect"] for change in record.moved} >= {"next_step_on", "activities", "tasks", "last_contact_at"}
    assert str(record.not_done) == "The task was not added; nobody was contacted."
    assert record.closed_at is not None, "nobody has to decide anything"


def test_nobody_presses_anything_and_the_sweep_closes_it_all_the_same(deal: Opportunity) -> None:
    suggestion = suggested(deal)
    alice_is_faster(deal)

    sweeps.sweep(now=FRIDAY)

    suggestion.refresh_from_db()
    assert suggestion.state == RecommendationState.SUPERSEDED
    assert suggestion.overtaker == actors.person(cast.alice())
    assert suggestion.overtaken_version == 32
    assert suggestion.conflict.version_found == 32
    assert Task.objects.filter(opportunity=deal).count() == 1
    assert Recommendation.objects.filter(opportunity=deal).count() == 1


def test_the_timeline_of_the_deal_tells_it(deal: Opportunity) -> None:
    suggestion = suggested(deal)
    alice_is_faster(deal)
    recommendations.approve(
        suggestion, by=actors.person(cast.bob()), now=FRIDAY, shown=shown(suggestion, to=cast.bob())
    )

    request = RequestFactory().get("/")
    request.user = cast.alice()
    deal.refresh_from_db()
    overtaken, call, suggested_entry = timeline.page(request, deal).entries[:3]

    assert suggested_entry.by == cast.AGENT
    assert suggested_entry.lines[0].words == "suggested: Call Rui Amaro on Tue, 10 Jun 2031"
    assert (call.by, call.version) == (actors.person(cast.alice()), 32)
    assert (overtaken.by, overtaken.badge, overtaken.tone) == (cast.AGENT, "overtaken", "agent")
    assert "having read v31" in overtaken.lines[0].words
    assert "You set the next step first" in overtaken.lines[0].said, "Alice reads it"


def test_what_the_salesperson_wrote_is_all_still_there(deal: Opportunity) -> None:
    suggestion = suggested(deal)
    alice_is_faster(deal)
    recommendations.approve(
        suggestion, by=actors.person(cast.bob()), now=FRIDAY, shown=shown(suggestion, to=cast.bob())
    )

    call = deal.activities.get(kind=ActivityKind.CALL)
    assert call.text == "Wants service for 14 rooms."
    assert call.author == actors.person(cast.alice())


def test_without_the_salesperson_the_yes_adds_the_task_once(deal: Opportunity) -> None:
    suggestion = suggested(deal)
    mine, bobs = shown(suggestion, to=cast.alice()), shown(suggestion, to=cast.bob())

    told = recommendations.approve(suggestion, by=actors.person(cast.alice()), now=FRIDAY, shown=mine)
    again = recommendations.approve(suggestion, by=actors.person(cast.bob()), now=FRIDAY, shown=bobs)

    assert told.done
    assert again.sentence == Sentence("no.applied", {"who": "Alice"})
    [task] = Task.objects.filter(opportunity=deal)
    assert (task.title, task.due_on, task.owner) == ("Call Rui Amaro", cast.TUESDAY, cast.alice())
    assert task.maker == cast.AGENT
    deal.refresh_from_db()
    assert deal.version == 32


def test_the_command_tells_what_the_sweep_did_as_json(deal: Opportunity, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("sweep", "--json")

    found = json.loads(capsys.readouterr().out)
    assert found["looked_at"] == 1
    assert found["proposed"] == 1
    assert loading.load([deal.pk])[0].suggestion == "R5"
