"""Each race of the lab with few rounds: the naive way loses it, the gate never does."""

import pytest
from django.db import DatabaseError

from config.lab import running
from config.lab.running import Mode
from config.lab.scenario import TOLD_FIRST, Kind, NoSuchScenario, Scenario, find, known
from conflicts.models import Conflict
from tests import cast

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unheard")]

IN_PROCESS = [scenario for scenario in known() if scenario.kind is Kind.IN_PROCESS]
SEED = 20_310_610


@pytest.mark.parametrize("scenario", IN_PROCESS, ids=lambda scenario: scenario.slug)
def test_the_naive_way_loses_what_the_gate_does_not(scenario: Scenario) -> None:
    naive = running.run(scenario, Mode.NAIVE, rounds=8, seed=SEED)
    assert naive.wrong > 0, "the race is not being run"
    assert (naive.conflicts, naive.merged, naive.superseded, naive.duplicates) == (0, 0, 0, 0)

    guarded = running.run(scenario, Mode.GUARDED, rounds=8, seed=SEED)
    assert guarded.reasons == ()
    assert guarded.rounds == 8


def test_every_race_on_threads_that_the_house_is_built_around_is_there() -> None:
    slugs = [scenario.slug for scenario in known()]
    assert slugs[: len(TOLD_FIRST)] == list(TOLD_FIRST)


def test_a_scenario_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(NoSuchScenario, match=r"'lost_sock'.*There are: .*two_workers_same_version"):
        find(["lost_sock", "person_and_agent"])


def test_the_guards_are_on_again_after_the_naive_way() -> None:
    [scenario] = find(["compatible_edits"])
    running.run(scenario, Mode.NAIVE, rounds=1, seed=SEED)
    deal = cast.deal()
    with pytest.raises(DatabaseError, match="is at version 1, the write says 1"):
        type(deal).objects.filter(pk=deal.pk).update(amount=1)


def test_evidence_is_counted_by_what_became_of_the_wish() -> None:
    [scenario] = find(["two_savers_of_one_field"])
    line = running.run(scenario, Mode.GUARDED, rounds=3, seed=SEED)
    assert line.conflicts == Conflict.objects.count() == 3
    assert line.effects == 3
