"""The hard stops: each fires where it should, in the order in which they stand, and says why."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from agents.context import ConsentFacts, Conversation, Declined
from agents.recommenders import decide
from agents.recommenders.answers import LeftAlone, Suggestion
from agents.recommenders.gates import GATES, horizon_days
from tests.agents.snapshots import MONDAY, NOW, RUI, STAGE, days_ago, snapshot

REFUSED = ConsentFacts(granted=False, on=MONDAY)
IDLE = {"last_contact_at": days_ago(30)}
"""Else R8 would speak."""


def in_days(count: int) -> dt.date:
    return MONDAY + dt.timedelta(days=count)


@pytest.mark.parametrize(
    ("facts", "code", "why"),
    [
        ({"status": "won"}, "G1", "The deal is won."),
        ({"status": "lost"}, "G1", "The deal is lost."),
        (
            {"contact": replace(RUI, blocked=True)},
            "G2",
            "Rui Amaro must not be contacted. What comes next is yours to decide.",
        ),
        ({"contact": replace(RUI, consents={"phone": REFUSED, "email": REFUSED})}, "G2", None),
        (
            {"conversation": Conversation(human_since=days_ago(1), human="Bob Borges")},
            "G3",
            "Bob Borges has the conversation. The agent keeps out of it.",
        ),
        ({"conversation": Conversation(waiting_since=days_ago(2))}, "G4", None),
        ({"next_step": "Call Rui", "next_step_on": MONDAY}, "G5", "Planned already: Call Rui, Mon, 9 Jun 2031."),
        ({"next_step": "Call Rui", "next_step_on": in_days(14)}, "G5", None),
        ({"next_step": "Call Rui", "next_step_on": in_days(15)}, "G6", None),
        ({"suggestion": "R8"}, "G7", "A suggestion for this deal is open."),
        ({"unsettled": True}, "G7", "An earlier suggestion waits for a person's decision."),
        ({"declined": (Declined(rule="R8", at=days_ago(0)),)}, "G8", None),
    ],
)
def test_a_gate_stops_the_agent_and_says_why(facts: dict[str, Any], code: str, why: str | None) -> None:
    answer = decide(snapshot(**IDLE | facts), now=NOW)

    assert isinstance(answer, LeftAlone)
    assert answer.code == code
    if why:
        assert str(answer.why) == why


@pytest.mark.parametrize(
    "facts",
    [
        {"contact": replace(RUI, consents={"phone": REFUSED})},
        {"contact": None},
        {"conversation": None},
        {"conversation": Conversation(human_since=days_ago(3), human="Bob Borges")},
        {"conversation": Conversation()},
        {"declined": (Declined(rule="R7", at=days_ago(0)),)},
        {"declined": (Declined(rule="R8", at=days_ago(31)),)},
        {"declined": (Declined(rule="R8", at=days_ago(5)),), "changed_at": days_ago(4)},
    ],
    ids=[
        "one channel is left",
        "no contact, no consent",
        "no conversation",
        "the person's last sign is long ago",
        "a conversation in which nobody waits",
        "another kind was declined",
        "declined more than 30 days ago",
        "the deal changed after the no",
    ],
)
def test_a_gate_lets_pass_what_it_does_not_speak_of(facts: dict[str, Any]) -> None:
    assert isinstance(decide(snapshot(**IDLE | facts), now=NOW), Suggestion)


def test_the_first_gate_that_fires_ends_it() -> None:
    everything = snapshot(
        status="won",
        contact=replace(RUI, blocked=True),
        conversation=Conversation(human_since=days_ago(1), human="Bob", waiting_since=days_ago(1)),
        next_step="Call",
        next_step_on=MONDAY,
        suggestion="R8",
    )
    order = []
    for undone in (
        {"status": "open"},
        {"contact": RUI},
        {"conversation": Conversation(waiting_since=days_ago(1))},
        {"conversation": None},
        {"next_step_on": in_days(100)},
        {"next_step": "", "next_step_on": None},
    ):
        order.append(decide(everything, now=NOW))
        everything = replace(everything, **undone)
    order.append(decide(everything, now=NOW))

    assert [answer.code for answer in order if isinstance(answer, LeftAlone)] == [
        "G1",
        "G2",
        "G3",
        "G4",
        "G5",
        "G6",
        "G7",
    ]
    assert len(GATES) == 8


def test_how_far_ahead_counts_as_planned_follows_the_stage() -> None:
    assert horizon_days(7) == 14
    assert horizon_days(None) == 180
    far = {"next_step": "Call", "next_step_on": in_days(90), "stage": replace(STAGE, limit=None)}
    answer = decide(snapshot(**far), now=NOW)
    assert isinstance(answer, LeftAlone)
    assert answer.code == "G5"


def test_a_consent_is_looked_at_again_by_date_since_it_does_not_raise_the_version_of_the_deal() -> None:
    answer = decide(snapshot(contact=replace(RUI, blocked=True)), now=NOW)

    assert isinstance(answer, LeftAlone)
    assert answer.review_on == in_days(7)
