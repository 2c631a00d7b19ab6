"""The history checker sees each promise that can be broken."""

import pytest

from config.lab import checker
from config.lab.checker import Answer, Told
from conflicts.refs import Ref
from crm.models import Opportunity
from tests import cast
from tests.conflicts.samples import execute

pytestmark = pytest.mark.django_db(transaction=True)


def edited(deal: Opportunity, text: str) -> Answer:
    """A decision, written through the gate and truly answered."""
    read = deal.version
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), decision=text)
    deal.refresh_from_db()
    return Answer(
        mark=text,
        told=Told.DONE,
        subject=outcome.subject,
        version=outcome.version,
        read=read,
        writes=frozenset({"decision"}),
    )


def test_what_was_truly_answered_is_in_order() -> None:
    deal = cast.deal()
    assert checker.check(Ref.of(deal), [edited(deal, "Rui decides"), edited(deal, "Ana decides")]) == []


def test_an_acknowledged_write_that_is_not_there_is_found() -> None:
    deal = cast.deal()
    answer = Answer(mark="Rui decides", told=Told.DONE, subject=Ref.of(deal), version=2)
    assert checker.check(Ref.of(deal), [answer]) == ["'Rui decides' was acknowledged at version 2 and stands at []"]


def test_an_acknowledged_write_at_another_version_is_found() -> None:
    deal = cast.deal()
    edited(deal, "Rui decides")
    answer = Answer(mark="Rui decides", told=Told.DONE, subject=Ref.of(deal), version=3)
    assert "stands at [2]" in checker.check(Ref.of(deal), [answer])[0]


def test_a_write_whose_caller_was_turned_away_is_found() -> None:
    deal = cast.deal()
    edited(deal, "Rui decides")
    answer = Answer(mark="Rui decides", told=Told.TURNED_AWAY, subject=Ref.of(deal), read=1)
    found = checker.check(Ref.of(deal), [answer])
    assert len(found) == 2
    assert "it stands at [2]" in found[0]
    assert "left no record" in found[1]


def test_a_write_that_was_sent_once_and_stands_twice_is_found() -> None:
    deal = cast.deal()
    for _ in range(2):
        outcome = cast.propose("opportunity.log", deal, by=cast.bob(), kind="note", text="Called Rui")
        assert outcome.written
        deal.refresh_from_db()
    unknown = Answer(mark="Called Rui", told=Told.UNKNOWN, subject=Ref.of(deal))
    assert checker.check(Ref.of(deal), [unknown]) == ["'Called Rui' was sent once and stands at [2, 3]"]


def test_a_value_that_was_replaced_unseen_is_a_lost_update() -> None:
    deal = cast.deal()
    first, second = edited(deal, "Rui decides"), edited(deal, "Ana decides")
    blind = Answer(**{name: getattr(second, name) for name in Answer.__slots__} | {"read": 1})
    assert checker.check(Ref.of(deal), [first, blind]) == [
        f"{Ref.of(deal)}: decision of version 2 was replaced unseen at 3"
    ]


def test_a_version_that_is_missing_in_the_history_is_found() -> None:
    deal = cast.deal()
    edited(deal, "Rui decides")
    edited(deal, "Ana decides")
    execute("ALTER TABLE crm_opportunityevent DISABLE TRIGGER USER")
    execute(f"DELETE FROM crm_opportunityevent WHERE pgh_obj_id = {deal.pk} AND version = 2")
    execute("ALTER TABLE crm_opportunityevent ENABLE TRIGGER USER")
    assert checker.check(Ref.of(deal), []) == [f"{Ref.of(deal)}: its versions are [1, 3]"]
