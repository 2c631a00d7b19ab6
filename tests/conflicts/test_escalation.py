"""What nobody decided in time goes one step up, once for each deadline, and stays where nobody is further up."""

import datetime as dt

import pytest
from django.utils import timezone

from conflicts import actors, claims, escalation
from conflicts.models import Conflict, Decision, LedgerEntry
from crm.models import User
from tests import cast
from tests.conflicts.test_decisions import clash, fresh

pytestmark = pytest.mark.django_db


def overdue(record: Conflict) -> None:
    Conflict.objects.filter(pk=record.pk).update(deadline=timezone.now() - dt.timedelta(minutes=1))


def people() -> tuple[User, User]:
    return cast.manager(), cast.administrator()


def test_from_the_owner_to_the_manager_to_an_administrator_and_no_further() -> None:
    manuela, ada = people()
    _, record = clash()
    assert record.responsible == cast.alice()
    assert escalation.escalate_due() == 0, "there is time"

    for level, who in ((1, manuela), (2, ada)):
        overdue(record)
        assert escalation.escalate_due() == 1
        after = fresh(record)
        assert (after.level, after.responsible) == (level, who)
        assert after.deadline is not None
        assert after.deadline > timezone.now() + dt.timedelta(hours=23)
        assert after.escalated_at is not None
    overdue(record)
    assert escalation.escalate_due() == 0

    steps = Decision.objects.order_by("pk")
    assert [(step.kind, step.reason, step.author.name) for step in steps] == [("escalate", "overdue", "Vigente")] * 2
    assert [step.before["responsible"] for step in steps] == [cast.alice().pk, manuela.pk]


def test_a_deadline_that_passed_moves_it_once_however_often_it_is_looked_at() -> None:
    people()
    _, record = clash()
    overdue(record)
    row = fresh(record)
    assert escalation.escalate_due() == 1
    # A second watch that had read the row before the first one's commit sends the very same step.
    from conflicts import gate

    again = gate.commit(escalation._step(row, to=cast.manager().pk))
    assert again.result == "duplicate"
    assert (fresh(record).level, Decision.objects.count()) == (1, 1)
    assert LedgerEntry.objects.filter(key__contains=":escalate:").count() == 1


def test_whoever_is_deciding_right_now_is_not_interrupted() -> None:
    manuela, _ = people()
    _, record = clash()
    overdue(record)
    claims.take(record.pk, by=actors.person(manuela))
    assert escalation.escalate_due() == 0
    claims.give_back(record.pk, by=actors.person(manuela))
    assert escalation.escalate_due() == 1


def test_the_next_up_is_somebody_who_may_decide_it() -> None:
    _, ada = people()
    _, record = clash(amount="2000000")
    overdue(record)
    escalation.escalate_due()
    assert fresh(record).responsible == ada


def test_where_nobody_is_further_up_it_stays_and_is_not_asked_about_again() -> None:
    _, record = clash()
    overdue(record)
    assert escalation.escalate_due() == 0
    after = fresh(record)
    assert (after.responsible, after.level, after.closed_at) == (cast.alice(), escalation.TOP, None)
    assert Decision.objects.count() == 0


def test_what_is_settled_is_left_alone() -> None:
    people()
    _, record = clash()
    overdue(record)
    Conflict.objects.filter(pk=record.pk).update(closed_at=timezone.now())
    assert escalation.escalate_due() == 0


def test_no_person_can_move_it_up_by_hand() -> None:
    from conflicts import gate
    from conflicts.proposals import Proposal

    _, record = clash()
    wish = escalation._step(record, to=cast.administrator().pk)
    forged = Proposal(action=wish.action, by=actors.person(cast.bob()), params=wish.params, settles=record.pk)
    assert gate.commit(forged).result == "refused"
    assert fresh(record).level == 0
