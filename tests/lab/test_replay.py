"""Real saves replayed: whoever had not seen the newest version is turned away or put together with it, never lost."""

import datetime as dt
from pathlib import Path

import pytest

from config.embedded.homes import PROJECT
from config.lab import log, replaying
from config.lab.running import Mode
from conflicts.models import Conflict

LOG = PROJECT.parent / "shared" / "data" / "event-log" / "incident-updates.csv"
HEAD = "case_id,updated_at,actor,actor_kind,state,assigned_to,assignment_group,priority,made_sla\n"

needs_log = pytest.mark.skipif(not LOG.exists(), reason=f"{LOG.name} is not beside the checkout")


def written(path: Path, *rows: str) -> Path:
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_a_writer_has_seen_what_lies_longer_back_than_thinking_takes(tmp_path: Path) -> None:
    [[_, first, near, own, late]] = log.read(
        written(
            tmp_path / "log.csv",
            "C1,2016-02-29T08:00,U1,human,New,R1,G1,3,true",
            "C1,2016-02-29T09:00,U1,human,Active,R1,G1,3,true",
            "C1,2016-02-29T09:02,U2,human,Active,R2,G1,3,true",
            "C1,2016-02-29T09:03,U1,human,Active,R2,G2,3,true",
            "C1,2016-02-29T09:06,U2,human,Closed,R2,G2,3,true",
        )
    )
    assert not near.had_seen(first), "two minutes apart: both had the record open"
    assert own.had_seen(first), "one's own save"
    assert not own.had_seen(near)
    assert late.had_seen(own)
    assert late.changed == {"state": "Closed"}


def test_a_file_that_is_no_log_is_refused_in_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("case_id,actor\nC1,U1\n", encoding="utf-8")
    with pytest.raises(log.UnreadableLog, match="has no column state"):
        log.read(bad)
    with pytest.raises(log.UnreadableLog, match="cannot be read"):
        log.read(tmp_path / "nowhere.csv")
    with pytest.raises(log.UnreadableLog, match="'noon' is not a time"):
        log.read(written(tmp_path / "noon.csv", "C1,noon,U1,human,New,R1,G1,3,true"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unheard")
def test_the_second_of_a_near_pair_is_asked_and_an_independent_one_is_kept(tmp_path: Path) -> None:
    cases = log.read(
        written(
            tmp_path / "log.csv",
            "C1,2016-02-29T08:00,U1,human,New,R1,G1,3,true",
            "C1,2016-02-29T09:00,U1,human,New,R2,G1,3,true",
            "C1,2016-02-29T09:00,U2,human,New,R3,G1,3,true",
            "C2,2016-02-29T08:00,U1,human,New,R1,G1,3,true",
            "C2,2016-02-29T09:00,U1,human,New,R2,G1,3,true",
            "C2,2016-02-29T09:01,U2,human,New,R2,G1,1,true",
            "C3,2016-02-29T08:00,U1,human,Active,R1,G1,3,true",
            "C3,2016-02-29T09:00,U1,human,Active,R2,G1,3,true",
            "C3,2016-02-29T09:01,J1,automation,Closed,R2,G1,3,true",
        )
    )
    guarded = replaying.replay(cases, Mode.GUARDED)
    naive = replaying.replay(cases, Mode.NAIVE)

    assert (guarded.saves, guarded.created) == (9, 3)
    assert (guarded.conflicts, guarded.rebased) == (1, 2)
    assert (guarded.lost_updates, guarded.without_evidence, guarded.reasons) == (0, 0, [])
    assert naive.lost_updates == 3, "each of the three second savers wrote an old value back"


@needs_log
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unheard")
def test_of_five_hundred_real_saves_none_is_lost() -> None:
    cases = log.read(LOG, limit=500)
    tally = replaying.replay(cases, Mode.GUARDED)

    assert tally.saves == 500
    ended = (
        tally.created
        + tally.applied
        + tally.rebased
        + tally.merged
        + tally.unchanged
        + tally.conflicts
        + tally.refused
        + tally.superseded
    )
    assert ended == 500
    assert (tally.lost_updates, tally.without_evidence, tally.reasons) == (0, 0, [])
    assert tally.held_an_older_version > 0
    assert Conflict.objects.count() >= tally.rebased + tally.conflicts


@needs_log
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unheard")
def test_the_usual_way_loses_some_of_them() -> None:
    assert replaying.replay(log.read(LOG, limit=500), Mode.NAIVE).lost_updates > 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unheard")
def test_who_had_the_record_open_for_an_hour_does_not_open_again_what_was_closed_meanwhile(tmp_path: Path) -> None:
    rows = (
        "C1,2016-02-29T08:00,U1,human,Active,R1,G1,3,true",
        "C1,2016-02-29T09:00,J1,automation,Closed,R1,G1,3,true",
        "C1,2016-02-29T09:08,U2,human,New,R1,G1,3,true",
    )
    cases = log.read(written(tmp_path / "log.csv", *rows), thinking=dt.timedelta(hours=1))
    # Of two at once either may be first; the second finds that the state has moved and is asked.
    tally = replaying.replay(cases, Mode.GUARDED)
    assert (tally.applied, tally.conflicts, tally.lost_updates) == (1, 1, 0)
