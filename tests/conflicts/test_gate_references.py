"""A foreign key that names nothing is refused in words, like any other end of a race, and nothing is half written."""

import pytest

from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Result
from crm.models import Opportunity
from tests import cast
from tests.conflicts.wishes import now, wish

NOBODY = 987_654_321


@pytest.mark.django_db(transaction=True)
def test_a_new_deal_of_a_company_that_is_not_there_is_not_made() -> None:
    cast.pipeline()
    outcome = gate.commit(wish("opportunity.create", by=cast.alice(), name="Ghost", company=NOBODY))
    assert outcome.result is Result.CONFLICT
    assert "not there" in str(outcome.sentence)
    assert Conflict.objects.filter(pk=outcome.record).exists()
    assert not Opportunity.objects.filter(name="Ghost").exists()


@pytest.mark.django_db(transaction=True)
def test_an_edit_that_names_nobody_leaves_the_deal_and_the_others_of_its_batch_are_done() -> None:
    first, second = cast.deal("First"), cast.deal("Second")
    outcomes = gate.commit_many(
        [
            wish("opportunity.edit", first, by=cast.alice(), contact=NOBODY),
            wish("opportunity.edit", second, by=cast.alice(), decision="Friday"),
        ]
    )
    assert [outcome.result for outcome in outcomes] == [Result.CONFLICT, Result.APPLIED]
    assert now(first).version == first.version
    assert now(second).decision == "Friday"
