"""A sweep over the 2,089 open deals of the sample data set: each gets a valid suggestion or a reason why not."""

import csv
import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from agents import sweeps
from agents.models import Recommendation, Verdict
from conflicts import actors, gate
from conflicts.proposals import Proposal
from crm.clock import today_for
from crm.models import Opportunity
from tests import cast

DATA = Path(settings.BASE_DIR).parent / "shared" / "data" / "crm-sales" / "sales_pipeline.csv"
IMPORT = actors.integration("import", "Import")
OPEN = {"Prospecting": "New", "Engaging": "Proposal"}

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there")]


def the_open_deals() -> None:
    cast.pipeline()
    stages = {theirs: cast.stage(ours).pk for theirs, ours in OPEN.items()}
    with DATA.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["deal_stage"] in OPEN]
    outcomes = gate.commit_many(
        [
            Proposal(
                action="opportunity.create",
                by=IMPORT,
                params={
                    "name": f"{row['product']} for {row['account'] or 'somebody'}",
                    "external_id": row["opportunity_id"],
                    "stage": stages[row["deal_stage"]],
                    "opened_on": row["engage_date"] or None,
                },
            )
            for row in rows
        ]
    )
    assert len(outcomes) == 2089
    assert all(outcome.written for outcome in outcomes)


@pytest.mark.parametrize(("most", "rules"), [(0, {"R5": 500, "R8": 1589}), (50, {"R8": 50})])
def test_each_of_the_2089_open_deals_gets_a_valid_suggestion_or_a_reason(
    most: int, rules: dict[str, int], settings: Any
) -> None:
    """Without a limit nobody is left out: the new ones nobody has touched, the old ones have rested for years.

    With one, it is as many suggestions as the queue takes (a single queue: no deal here has an owner).
    """
    settings.VIGENTE_WAITING_PER_PERSON = most
    the_open_deals()

    run = sweeps.sweep()

    today = today_for(None, now=dt.datetime.now(dt.UTC))
    suggested = {one.opportunity_id: one for one in Recommendation.objects.open()}
    left_alone = {one.opportunity_id: one for one in Verdict.objects.all()}
    deals = set(Opportunity.objects.open().values_list("pk", flat=True))
    assert len(deals) == 2089
    assert suggested.keys() | left_alone.keys() == deals
    assert not suggested.keys() & left_alone.keys()
    for one in suggested.values():
        assert dt.date.fromisoformat(one.params["due_on"]) >= today
        assert one.priority == sum(term["points"] for term in one.score)
        assert str(one.headline)
        assert str(one.reason)
    for reason in left_alone.values():
        assert str(reason.why)
        assert reason.review_on is not None
        assert reason.review_on > today
    assert (run.looked_at, run.proposed, sum(run.passed.values())) == (2089, len(suggested), len(left_alone))
    assert Counter(one.rule for one in suggested.values()) == rules
    assert {reason.code for reason in left_alone.values()} <= {"Q"}


def test_a_second_sweep_finds_nothing_to_do() -> None:
    the_open_deals()
    sweeps.sweep()

    again = sweeps.sweep()

    assert (again.looked_at, again.proposed) == (0, 0)
    assert Recommendation.objects.count() + Verdict.objects.filter(code="Q").count() == 2089
