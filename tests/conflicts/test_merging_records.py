"""Properties of the three-way merge of whole records, through the gate: it commutes for independent fields, never
invents a value, and never loses an edit."""

import datetime as dt
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.policies import Rule
from conflicts.values import plain, read
from crm.models import Opportunity
from tests import cast
from tests.conflicts.wishes import now, wish

pytestmark = pytest.mark.django_db

VALUES: dict[str, list[Any]] = {
    "amount": ["100", "110", "120"],
    "decision": ["", "Rui decides", "The partners decide"],
    "expected_close": [None, dt.date(2031, 6, 30), dt.date(2031, 7, 31)],
    "name": ["Sensors", "Sensors for 14 rooms", "Cold rooms"],
    "tags": [["cold"], ["cold", "urgent"], ["pharma"], []],
}
BASE = {"amount": "100", "decision": "", "expected_close": None, "name": "Sensors", "tags": ["cold"]}

edits = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()})
property_of_the_gate = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class Undone(Exception):
    """Takes the example back."""


def merged(first: dict[str, Any], second: dict[str, Any]) -> tuple[dict[str, Any], list[Outcome], list[Conflict]]:
    """Alice and Bob edit from one base, in this order: the content afterwards, the answers, the evidence."""
    found: list[Any] = []
    try:
        with transaction.atomic():
            deal = cast.deal(BASE["name"], **{k: v for k, v in BASE.items() if k != "name"})
            answers = [
                gate.commit(wish("opportunity.edit", deal, by=by, **edit))
                for by, edit in ((cast.alice(), first), (cast.bob(), second))
                if edit
            ]
            found = [read(now(deal), list(VALUES)), answers, list(Conflict.objects.order_by("pk"))]
            raise Undone
    except Undone:
        return found[0], found[1], found[2]


def plainly(name: str, value: Any) -> Any:
    return plain(value, Opportunity._meta.get_field(name))  # type: ignore[arg-type]


@property_of_the_gate
@given(edits, edits)
def test_edits_of_independent_fields_commute_and_are_all_there(one: dict[str, Any], two: dict[str, Any]) -> None:
    two = {name: value for name, value in two.items() if name not in one}

    there, answers, _ = merged(one, two)
    back, _, _ = merged(two, one)

    assert there == back
    assert there == {name: plainly(name, {**BASE, **one, **two}[name]) for name in VALUES}
    assert all(answer.done for answer in answers)


@property_of_the_gate
@given(edits, edits)
def test_no_value_is_invented(one: dict[str, Any], two: dict[str, Any]) -> None:
    content, _, _ = merged(one, two)
    for name, value in content.items():
        said = [plainly(name, source[name]) for source in (BASE, one, two) if name in source]
        if Opportunity.policy.rule(name) is Rule.APPEND:
            assert set(value) <= {item for tags in said for item in tags}
        else:
            assert value in said


@property_of_the_gate
@given(edits, edits)
def test_no_edit_is_lost_it_is_in_force_or_in_the_evidence(one: dict[str, Any], two: dict[str, Any]) -> None:
    content, answers, records = merged(one, two)
    waiting = [record for record in records if record.closed_at is None]
    kept = {d["field"]: d["proposed"] for record in waiting for d in record.differences}
    params = {name: value for record in waiting for name, value in record.params.items()}

    for name, value in one.items():  # the first is in force, or the second has put his on it knowingly
        both = name in two and Opportunity.policy.rule(name) is Rule.APPEND
        said_nothing = name in two and plainly(name, value) == plainly(name, BASE[name])
        assert both or said_nothing or content[name] == plainly(name, value)
    for name, value in two.items():
        mine, changed = plainly(name, value), plainly(name, value) != plainly(name, BASE[name])
        if not changed:
            continue
        if Opportunity.policy.rule(name) is Rule.APPEND:
            assert {*mine} - {*BASE["tags"]} <= {*content[name]} or name in params
        else:
            assert content[name] == mine or kept.get(name) == mine or plainly(name, params.get(name)) == mine
    assert all(answer.result is not Result.REFUSED for answer in answers)
    assert bool(waiting) is any(answer.result is Result.CONFLICT for answer in answers)


@property_of_the_gate
@given(edits)
def test_the_same_edit_twice_is_one_edit(one: dict[str, Any]) -> None:
    once, _, _ = merged(one, {})
    twice, answers, records = merged(one, one)
    assert once == twice
    assert all(answer.done for answer in answers)
    assert not [record for record in records if record.closed_at is None]


@property_of_the_gate
@given(edits, edits, st.sampled_from(sorted(VALUES)))
def test_a_clash_of_two_is_put_to_a_person_with_all_three_values(
    one: dict[str, Any], two: dict[str, Any], name: str
) -> None:
    if Opportunity.policy.rule(name) is Rule.APPEND or not (name in one and name in two):
        return
    base, mine, theirs = (plainly(name, value) for value in (BASE[name], two[name], one[name]))
    if len({repr(base), repr(mine), repr(theirs)}) < 3:
        return
    _, answers, _ = merged(one, two)
    [difference] = [d for d in answers[-1].differences if d.field == name]
    assert (difference.base, difference.current, difference.proposed) == (base, theirs, mine)
