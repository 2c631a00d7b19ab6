"""The rules: which speaks, with which action, day, reason and read set."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from agents.context import ConsentFacts, StepFacts
from agents.days import on_or_after, working_days_after
from agents.recommenders import decide
from agents.recommenders.answers import LeftAlone, Suggestion
from conflicts import actions
from crm.models import Opportunity
from tests.agents.snapshots import MONDAY, NOW, RUI, STAGE, days_ago, snapshot

FIRST = replace(STAGE, is_first=True, limit=None)
REFUSED = ConsentFacts(granted=False, on=MONDAY)
FRIDAY = dt.date(2031, 6, 13)


def said(**facts: Any) -> Suggestion:
    answer = decide(snapshot(**facts), now=facts.get("read_at", NOW))
    assert isinstance(answer, Suggestion), answer
    return answer


def in_days(count: int) -> dt.date:
    return MONDAY + dt.timedelta(days=count)


LATE = {"next_step": "Send the offer", "next_step_on": in_days(-5), "step": StepFacts(pk=44, title="Send the offer")}
NEW = {"stage": FIRST, "stage_since": MONDAY, "last_contact_at": None}
MAILED = {"last_contact_at": days_ago(1), "unanswered_mails": 1}


def test_r3_a_late_step_is_given_the_next_working_day() -> None:
    wish = said(**LATE)

    assert (wish.rule, wish.action) == ("R3", "opportunity.reschedule_task")
    assert wish.params == {"task": 44, "due_on": "2031-06-10"}
    assert str(wish.title) == "Move “Send the offer” to Tue, 10 Jun 2031"
    assert str(wish.why) == "It was due on Wed, 4 Jun 2031, and nobody has set another day."
    assert wish.basis[0].values == {"status": "open", "next_step": "Send the offer", "next_step_on": "2031-06-04"}


def test_r3_leaves_a_task_that_a_person_has_taken_to_that_person() -> None:
    answer = decide(snapshot(**LATE | {"step": StepFacts(pk=44, title="Send it", claimed_by="Bob Borges")}), now=NOW)

    assert isinstance(answer, LeftAlone)
    assert str(answer.why) == "Bob Borges has taken “Send it”, due on Wed, 4 Jun 2031. It is theirs to move."
    assert answer.review_on == in_days(1)


def test_r5_a_new_deal_nobody_has_spoken_about_is_for_today() -> None:
    wish = said(**NEW)

    assert wish.rule == "R5"
    assert wish.params == {"title": "Call Rui Amaro", "kind": "call", "due_on": "2031-06-09"}
    assert str(wish.title) == "Call Rui Amaro on Mon, 9 Jun 2031"


@pytest.mark.parametrize(
    ("now", "due"),
    [
        (dt.datetime(2031, 6, 9, 19, 59, tzinfo=dt.UTC), "2031-06-09"),
        (dt.datetime(2031, 6, 9, 20, 0, tzinfo=dt.UTC), "2031-06-10"),
        (dt.datetime(2031, 6, 13, 21, 0, tzinfo=dt.UTC), "2031-06-16"),
        (dt.datetime(2031, 6, 14, 13, 0, tzinfo=dt.UTC), "2031-06-16"),
    ],
    ids=["before five", "from five on", "on a Friday evening", "on a Saturday"],
)
def test_r5_too_late_for_today_is_the_next_working_day_where_the_owner_is(now: dt.datetime, due: str) -> None:
    assert said(**NEW, read_at=now).params["due_on"] == due


@pytest.mark.parametrize(
    ("count", "due"),
    [(1, "2031-06-10"), (2, "2031-06-12"), (3, "2031-06-17")],
    ids=["two working days", "four working days", "seven working days"],
)
def test_r6_an_e_mail_without_an_answer_is_followed_in_the_cadence(count: int, due: str) -> None:
    sent = dt.datetime(2031, 6, 6, 15, tzinfo=dt.UTC)  # the Friday before
    wish = said(last_contact_at=sent, unanswered_mails=count)

    assert wish.rule == "R6"
    assert wish.due_on.isoformat() == due
    assert wish.basis[0].values["last_contact_at"] == sent.isoformat()


def test_r6_ends_after_three_e_mails_and_the_deal_is_idle_then() -> None:
    assert said(last_contact_at=days_ago(20), unanswered_mails=4).rule == "R8"


def test_r7_a_closing_day_that_has_passed_is_asked_about() -> None:
    wish = said(expected_close=in_days(-3))

    assert wish.rule == "R7"
    assert str(wish.title) == "Ask Rui Amaro on Tue, 10 Jun 2031 when the deal will close"
    assert "expected_close" in wish.basis[0].values


def test_r8_silence_for_longer_than_the_stage_allows_is_a_call_in_two_working_days() -> None:
    wish = said(last_contact_at=days_ago(8))

    assert wish.rule == "R8"
    assert wish.due_on == in_days(2)
    assert str(wish.why) == "Nobody has spoken with the customer since Sun, 1 Jun 2031, and the deal has no next step."


def test_r8_counts_from_the_stage_where_nobody_ever_spoke_and_rests_on_it_then() -> None:
    wish = said(last_contact_at=None, stage_since=dt.date(2017, 3, 1))

    assert wish.rule == "R8"
    assert wish.due_on > MONDAY
    assert {"last_contact_at", "stage", "stage_since"} <= wish.basis[0].values.keys()
    assert "1 Mar 2017" in str(wish.why)


def test_r11_says_on_which_day_it_looks_again() -> None:
    answer = decide(snapshot(last_contact_at=days_ago(1)), now=NOW)

    assert isinstance(answer, LeftAlone)
    assert answer.code == "R11"
    assert answer.review_on == in_days(7), "a day after the limit of seven days"


def test_r11_looks_again_when_the_closing_day_has_passed_if_that_is_sooner() -> None:
    answer = decide(snapshot(last_contact_at=days_ago(1), expected_close=in_days(2)), now=NOW)

    assert answer == replace(answer, review_on=in_days(3))  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("both", "first"),
    [
        (LATE | NEW, "R3"),
        (NEW | {"expected_close": in_days(-1)}, "R5"),
        (MAILED | {"expected_close": in_days(-1)}, "R6"),
        ({"expected_close": in_days(-1), "last_contact_at": days_ago(90)}, "R7"),
    ],
)
def test_the_first_rule_that_matches_speaks(both: dict[str, Any], first: str) -> None:
    assert said(**both).rule == first


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({}, "call"),
        ({"contact": replace(RUI, consents={"phone": REFUSED})}, "mail"),
        ({"stage": replace(STAGE, contact_allowed=False)}, "todo"),
        ({"contact": None}, "call"),
        ({"contact": None, "company": ""}, "todo"),
    ],
    ids=["may be called", "refused calls", "the stage allows no contact", "a company to call", "nobody known"],
)
def test_the_kind_of_task_is_what_stage_and_contact_allow(facts: dict[str, Any], kind: str) -> None:
    assert said(last_contact_at=days_ago(30), **facts).params["kind"] == kind


def test_a_call_rests_on_the_contact_and_a_task_among_ourselves_does_not() -> None:
    call = said(last_contact_at=days_ago(30))
    ours = said(last_contact_at=days_ago(30), stage=replace(STAGE, contact_allowed=False))

    assert [str(read.subject) for read in call.basis] == ["crm.opportunity:12", "crm.contact:7"]
    assert call.basis[1].values == {"blocked": False}
    assert call.basis[1].aspects == frozenset(), "what is said of another channel is none of its business"
    assert "calls" in call.rests_on
    assert [str(read.subject) for read in ours.basis] == ["crm.opportunity:12"]
    assert "calls" not in ours.rests_on


def test_the_text_of_a_task_stands_in_the_language_of_the_owner_and_fits() -> None:
    wish = said(last_contact_at=days_ago(30), contact=replace(RUI, name="R" * 300), language="pt-br")

    assert len(wish.params["title"]) == 200


@pytest.mark.parametrize(
    "facts", [LATE, NEW, MAILED, {"expected_close": in_days(-3)}, {"last_contact_at": days_ago(30)}]
)
def test_every_wish_can_be_carried_out_as_it_stands(facts: dict[str, Any]) -> None:
    wish = said(**facts)
    action = actions.get(wish.action)

    actions.validate(action, wish.params)
    assert action.subject is Opportunity
    assert wish.due_on >= MONDAY
    assert wish.due_on.weekday() < 5
    assert wish.expires_at > NOW
    assert wish.priority == sum(points.count for points in wish.score)
    assert all(str(points.why) for points in wish.score)


def test_a_priority_is_a_sum_that_says_what_earned_it() -> None:
    wish = said(**LATE)

    assert [(points.count, str(points.why)) for points in wish.score] == [
        (50, "A late next step"),
        (5, "One for each day, at most 30"),
        (10, "The amount"),
    ]
    assert wish.priority == 65


def test_working_days_skip_the_weekend() -> None:
    assert working_days_after(FRIDAY, 1) == dt.date(2031, 6, 16)
    assert working_days_after(FRIDAY, 2) == dt.date(2031, 6, 17)
    assert on_or_after(dt.date(2031, 6, 15)) == dt.date(2031, 6, 16)
    assert on_or_after(FRIDAY) == FRIDAY
