"""Same snapshot, same clock, same answer; and never silence, whatever the snapshot."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.context import ConsentFacts, ContactFacts, Declined, OwnerFacts, Snapshot, StageFacts, StepFacts
from agents.facts import LINES
from agents.recommenders import decide
from agents.recommenders.answers import LeftAlone, Suggestion
from tests.agents.snapshots import snapshot, values

days = st.dates(dt.date(2016, 10, 20), dt.date(2032, 12, 31))
moments = st.builds(lambda day, time: dt.datetime.combine(day, time, dt.UTC), days, st.times())
names = st.text(min_size=1, max_size=40)
consents = st.dictionaries(
    st.sampled_from(["email", "phone", "whatsapp"]), st.builds(ConsentFacts, granted=st.booleans(), on=days)
)
contacts = st.builds(
    ContactFacts, pk=st.just(7), version=st.integers(1, 9), name=names, blocked=st.booleans(), consents=consents
)
stages = st.builds(
    StageFacts,
    name=names,
    is_first=st.booleans(),
    contact_allowed=st.booleans(),
    limit=st.none() | st.integers(1, 400),
)


@st.composite
def snapshots(draw: Any) -> Snapshot:
    step = draw(st.none() | days)
    made = replace(
        snapshot(),
        read_at=draw(moments),
        changed_at=draw(moments),
        company=draw(st.just("") | names),
        status=draw(st.sampled_from(["open", "open", "open", "won", "lost"])),
        amount=draw(st.none() | st.decimals(0, Decimal("999999999999.99"), places=2)),
        stage=draw(stages),
        stage_since=draw(days),
        owner=draw(st.none() | st.builds(OwnerFacts, pk=st.just(1), name=names)),
        zone=draw(st.sampled_from(["America/Sao_Paulo", "UTC", "Pacific/Auckland", "Pacific/Honolulu"])),
        language=draw(st.sampled_from(["en", "pt-br"])),
        contact=draw(st.none() | contacts),
        expected_close=draw(st.none() | days),
        next_step="Call" if step else "",
        next_step_on=step,
        step=StepFacts(pk=4, title="Call", claimed_by=draw(st.sampled_from(["", "Bob"]))) if step else None,
        last_contact_at=draw(st.none() | moments),
        unanswered_mails=draw(st.integers(0, 5)),
        suggestion=draw(st.sampled_from(["", "", "R8"])),
        declined=tuple(
            draw(st.lists(st.builds(Declined, rule=st.sampled_from(["R3", "R5", "R6", "R7", "R8"]), at=moments)))
        ),
    )
    return replace(made, values=values(made))


@given(deal=snapshots(), now=moments)
def test_the_same_snapshot_at_the_same_time_gets_the_same_answer(deal: Snapshot, now: dt.datetime) -> None:
    assert decide(deal, now=now) == decide(deal, now=now)


@given(deal=snapshots(), now=moments)
def test_every_deal_gets_a_suggestion_that_lies_ahead_or_a_reason(deal: Snapshot, now: dt.datetime) -> None:
    answer = decide(deal, now=now)
    today = deal.today(now)

    match answer:
        case Suggestion():
            assert answer.due_on >= today
            assert answer.due_on.weekday() < 5
            assert answer.expires_at > now
            assert answer.basis[0].values["status"] == "open"
            assert answer.basis[0].version == deal.version
            assert set(answer.rests_on) <= LINES.keys()
            assert str(answer.title)
            assert str(answer.why)
        case LeftAlone():
            assert str(answer.why)
            assert answer.code in {"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "R11"}
            if answer.code not in {"G1", "G7"}:
                assert answer.review_on is not None
                assert answer.review_on > today or answer.code == "G8"


@given(deal=snapshots(), now=moments)
def test_every_field_of_the_read_set_is_shown_on_the_card(deal: Snapshot, now: dt.datetime) -> None:
    answer = decide(deal, now=now)
    if isinstance(answer, Suggestion):
        shown = {aspect for name in answer.rests_on for aspect in LINES[name].aspects}
        assert {name for read in answer.basis for name in (*read.values, *read.aspects)} <= shown
