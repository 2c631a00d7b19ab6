"""Properties of the three-way merge of one field: it invents nothing, loses nothing, and knows only its arguments."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.actors import SYSTEM, Actor, Kind, agent
from conflicts.merging import Merged, Unmerged, merge
from conflicts.policies import MergePolicy, Rule
from conflicts.values import plain

ALICE, BOB = Actor(Kind.PERSON, "1", "Alice Amaral"), Actor(Kind.PERSON, "2", "Bob Borges")
AGENT = agent("follow-up", "Follow-up agent")

actors = st.sampled_from([ALICE, BOB, AGENT, SYSTEM])
tags = st.lists(st.sampled_from("abcdef"), unique=True)
lines = st.text(alphabet="abc \n", max_size=12)
amounts = st.none() | st.decimals(min_value=0, max_value=10**9, places=2).map(str)
times = st.none() | st.datetimes(timezones=st.just(dt.UTC)).map(lambda at: plain(at))
values: st.SearchStrategy[Any] = st.none() | st.integers() | lines | tags | amounts


def merged(answer: Merged | Unmerged) -> Any:
    assert isinstance(answer, Merged), answer
    return answer.value


@given(st.sampled_from(Rule), values, values, actors, actors)
def test_what_only_one_side_changed_is_that_sides(rule: Rule, base: Any, new: Any, one: Actor, two: Actor) -> None:
    mine = merge(rule=rule, base=base, current=base, proposed=new, theirs=one, mine=two)
    theirs = merge(rule=rule, base=base, current=new, proposed=base, theirs=one, mine=two)
    assert merged(mine) == merged(theirs) == new


@given(st.sampled_from(sorted(set(Rule) - {Rule.ADD})), values, values, actors, actors)
def test_equal_values_agree(rule: Rule, base: Any, both: Any, one: Actor, two: Actor) -> None:
    assert merged(merge(rule=rule, base=base, current=both, proposed=both, theirs=one, mine=two)) == both


@given(values, values, values, actors, actors)
def test_what_no_rule_covers_is_put_to_a_person_with_all_three(
    base: Any, current: Any, proposed: Any, one: Actor, two: Actor
) -> None:
    answer = merge(rule=Rule.REFUSE, base=base, current=current, proposed=proposed, theirs=one, mine=two)
    if isinstance(answer, Unmerged):
        assert (answer.base, answer.current, answer.proposed) == (base, current, proposed)
        assert current not in (base, proposed)
    else:
        assert answer.value in (current, proposed)


@given(st.sampled_from([Rule.REFUSE, Rule.HUMAN_WINS]), values, values, values, actors, actors)
def test_a_choosing_rule_never_invents_a_value(
    rule: Rule, base: Any, current: Any, proposed: Any, one: Actor, two: Actor
) -> None:
    answer = merge(rule=rule, base=base, current=current, proposed=proposed, theirs=one, mine=two)
    assert isinstance(answer, Unmerged) or answer.value in (current, proposed)


@given(values, values, values)
def test_a_person_wins_over_a_machine_whoever_came_first(base: Any, human: Any, machine: Any) -> None:
    first = merge(rule=Rule.HUMAN_WINS, base=base, current=human, proposed=machine, theirs=ALICE, mine=AGENT)
    last = merge(rule=Rule.HUMAN_WINS, base=base, current=machine, proposed=human, theirs=AGENT, mine=ALICE)
    if base not in (human, machine):
        assert merged(first) == merged(last) == human


@given(values, values, values, st.sampled_from([(ALICE, BOB), (AGENT, SYSTEM)]))
def test_between_equals_human_wins_decides_nothing(base: Any, current: Any, proposed: Any, pair: Any) -> None:
    answer = merge(rule=Rule.HUMAN_WINS, base=base, current=current, proposed=proposed, theirs=pair[0], mine=pair[1])
    assert isinstance(answer, Unmerged) is (base not in (current, proposed) and current != proposed)


@given(tags, tags, tags)
def test_tags_lose_no_addition_and_bring_back_no_removal(base: list[str], one: list[str], two: list[str]) -> None:
    found = merged(merge(rule=Rule.APPEND, base=base, current=one, proposed=two, theirs=ALICE, mine=BOB))
    was, left, right = set(base), set(one), set(two)
    assert set(found) == (left | right) - ((was - left) | (was - right))
    assert len(found) == len(set(found))


@given(tags, tags, tags)
def test_the_order_of_two_tag_edits_does_not_matter(base: list[str], one: list[str], two: list[str]) -> None:
    there = merge(rule=Rule.APPEND, base=base, current=one, proposed=two, theirs=ALICE, mine=BOB)
    back = merge(rule=Rule.APPEND, base=base, current=two, proposed=one, theirs=BOB, mine=ALICE)
    assert set(merged(there)) == set(merged(back))


@given(lines, lines.filter(str.strip), lines.filter(str.strip))
def test_two_who_write_on_a_note_are_both_in_it(base: str, one: str, two: str) -> None:
    found = merged(
        merge(
            rule=Rule.APPEND,
            base=base,
            current=f"{base}\n{one}",
            proposed=f"{base}\n{two}",
            theirs=ALICE,
            mine=BOB,
        )
    )
    assert found.startswith(base.rstrip())
    assert one.strip("\n").rstrip() in found
    assert two.strip("\n") in found


@given(lines, lines, lines)
def test_a_rewritten_note_is_never_glued_together(base: str, current: str, proposed: str) -> None:
    answer = merge(rule=Rule.APPEND, base=base, current=current, proposed=proposed, theirs=ALICE, mine=BOB)
    both_wrote_on = current.startswith(base) and proposed.startswith(base)
    if not both_wrote_on and base not in (current, proposed) and current != proposed:
        assert isinstance(answer, Unmerged)


@given(amounts, amounts, amounts)
def test_counters_add_both_differences(base: str | None, one: str | None, two: str | None) -> None:
    number = lambda text: Decimal(text or 0)  # noqa: E731
    there = merged(merge(rule=Rule.ADD, base=base, current=one, proposed=two, theirs=ALICE, mine=BOB))
    back = merged(merge(rule=Rule.ADD, base=base, current=two, proposed=one, theirs=BOB, mine=ALICE))
    assert number(there) == number(back)
    if base not in (one, two):
        assert number(there) == number(one) + number(two) - number(base)


@given(times, times, times)
def test_of_two_times_the_later_stays_whichever_came_first(base: Any, one: Any, two: Any) -> None:
    there = merge(rule=Rule.LATEST, base=base, current=one, proposed=two, theirs=ALICE, mine=BOB)
    back = merge(rule=Rule.LATEST, base=base, current=two, proposed=one, theirs=BOB, mine=ALICE)
    assert there == back or {type(there), type(back)} == {Unmerged}
    if None not in (one, two) and base not in (one, two):
        later = max(dt.datetime.fromisoformat(one), dt.datetime.fromisoformat(two))
        assert dt.datetime.fromisoformat(merged(there)) == later


def test_a_field_that_nobody_declared_is_refused() -> None:
    assert MergePolicy(rules={"tags": Rule.APPEND}).rule("amount") is Rule.REFUSE


def test_every_rule_has_words_for_a_person() -> None:
    assert all(str(rule.words) for rule in Rule)


@pytest.mark.parametrize(
    ("base", "one", "two", "both"),
    [
        ("Call 1", "Call 10", "Call 12", None),
        ("Call 1", "Call 1\nask Rui", "Call 12", None),
        ("Call 1", "Call 1\nask Rui", "Call 1\nask Ana", "Call 1\nask Rui\nask Ana"),
        ("Call 1\n", "Call 1\nask Rui", "Call 1\n\nask Ana", "Call 1\nask Rui\nask Ana"),
        ("", "ask Rui", "ask Ana", "ask Rui\nask Ana"),
    ],
)
def test_two_texts_are_put_together_only_where_both_added_lines(
    base: str, one: str, two: str, both: str | None
) -> None:
    found = merge(rule=Rule.APPEND, base=base, current=one, proposed=two, theirs=ALICE, mine=BOB)
    assert found == (Merged(both) if both is not None else Unmerged(base, one, two))
