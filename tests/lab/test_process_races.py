"""The races of real processes, a round each: stopped, killed, cut off, with another time of day."""

import pytest

from config.lab import running
from config.lab.running import Mode
from config.lab.scenario import Kind, Scenario, known

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unheard")]

OF_PROCESSES = [scenario for scenario in known() if scenario.kind is Kind.PROCESS]


@pytest.fixture(params=OF_PROCESSES, ids=lambda scenario: scenario.slug)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    found: Scenario = request.param
    if missing := found.needs():
        pytest.skip(missing)
    return found


def test_the_naive_way_loses_it(scenario: Scenario) -> None:
    assert running.run(scenario, Mode.NAIVE, rounds=1, seed=1).wrong > 0


def test_through_the_gate_nothing_goes_wrong(scenario: Scenario) -> None:
    assert running.run(scenario, Mode.GUARDED, rounds=1, seed=1).reasons == ()
