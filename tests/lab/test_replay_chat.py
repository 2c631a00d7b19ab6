"""Real message times through the whole pipeline: what counts as wrong, and that with killed workers nothing is."""

import datetime as dt
import json
from pathlib import Path

import pytest

from config.embedded.homes import PROJECT
from config.lab.chat import log, plan
from config.lab.chat.pace import Pace
from config.lab.chat.plan import Voice
from config.lab.chat.tally import Heard, Tried, Verdict, judge
from tests.lab.conftest import Manage

LOG = PROJECT.parent / "shared" / "data" / "chat-bursts" / "messages.csv"
HEAD = "conversation_id,seq,sent_at,sender,role\n"
START = dt.datetime(2031, 6, 2, 12, tzinfo=dt.UTC)
LIFE = Pace(speed=1.0)

needs_log = pytest.mark.skipif(not LOG.exists(), reason=f"{LOG.name} is not beside the checkout")


def at(seconds: float) -> dt.datetime:
    return START + dt.timedelta(seconds=seconds)


def judged(*heard: Heard, turns: tuple[Tried, ...] = ()) -> Verdict:
    verdict = Verdict()
    judge("C1", heard, turns, LIFE, verdict)
    return verdict


def customer(line: int, when: float = 0.0) -> Heard:
    return Heard(who="customer", lines=frozenset({line}), at=at(when))


def agent(*about: int, sent: float | None = 1.0, final: bool = False) -> Heard:
    return Heard(who="agent", lines=frozenset(about), at=at(0), sent_at=None if sent is None else at(sent), final=final)


PERSON = Heard(who="person", lines=frozenset(), at=at(0))


def wrong(verdict: Verdict) -> dict[str, int]:
    return {name: count for name, count in verdict.counts.items() if count and name != "replies"}


def test_one_answer_to_a_burst_is_right() -> None:
    verdict = judged(customer(1), customer(2), customer(3), agent(1, 2, 3), customer(4), agent(4))
    assert wrong(verdict) == {}
    assert verdict.counts["replies"] == 2


def test_a_line_answered_twice_is_a_duplicate() -> None:
    assert wrong(judged(customer(1), agent(1), customer(2), agent(1, 2))) == {"duplicates": 1}


def test_an_answer_that_does_not_know_a_newer_line_is_stale_unless_it_is_the_third_for_what_it_saw() -> None:
    assert wrong(judged(customer(1), customer(2), agent(1), agent(2))) == {"stale_replies": 1}
    assert wrong(judged(customer(1), customer(2), agent(1, final=True), agent(2))) == {"final": 1}


def test_an_answer_after_a_persons_line_or_to_what_a_person_has_answered_is_over_a_human() -> None:
    assert wrong(judged(customer(1), PERSON, agent(1))) == {"over_human": 1}
    assert wrong(judged(customer(1), PERSON, customer(2), agent(1, 2))) == {"over_human": 1}
    assert wrong(judged(customer(1), PERSON, customer(2), agent(2))) == {}


def test_an_answer_that_was_taken_back_answers_nothing() -> None:
    assert wrong(judged(customer(1), agent(1, sent=None))) == {"unanswered": 1}
    assert wrong(judged(customer(1), agent(1, sent=None), customer(2), agent(1, 2))) == {}


def test_a_persons_line_answers_all_that_was_there() -> None:
    assert wrong(judged(customer(1), customer(2), PERSON)) == {}
    assert wrong(judged(customer(1), PERSON, customer(2))) == {"unanswered": 1}


def test_a_wait_lasts_from_the_first_unanswered_line_and_what_no_rule_accounts_for_is_the_machines() -> None:
    # Due 4 s after the second line; the turn begins half a second late, thinks 3 s in 3.2 s, and is sent 0.1 s later.
    turn = Tried(began=at(6.5), ended=at(9.7), model=3.0)
    verdict = judged(customer(1, when=0), customer(2, when=2), agent(1, 2, sent=9.8), turns=(turn,))
    assert verdict.waits == pytest.approx([9.8])
    assert verdict.overheads == pytest.approx([0.5 + 0.2 + 0.1])


def chats(path: Path, *rows: str) -> list[log.Chat]:
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return log.read(path)


def test_lines_of_one_second_keep_their_order_and_a_pause_is_cut_to_what_can_matter(tmp_path: Path) -> None:
    found = chats(
        tmp_path / "chat.csv",
        "C1,2,2031-06-02T12:00:00Z,A,customer",
        "C1,1,2031-06-02T12:00:00Z,A,customer",
        "C1,3,2031-06-02T12:00:10Z,B,agent",
        "C1,4,2031-06-02T18:00:00Z,A,customer",
    )
    pace = Pace(window=4, cap=20, fastest=2, slowest=8, speed=10)
    [part] = plan.lay_out(found, pace)
    assert [line.number for line in part.lines] == [1, 2, 3, 4]
    assert [line.at for line in part.lines] == pytest.approx([0, 0, 1.0, 1.0 + (4 + 20 + 24) / 10])
    assert [line.given_back for line in part.lines] == [False, False, False, True]
    assert part.lines[2].voice in (Voice.SCREEN, Voice.PHONE)


def test_a_file_that_is_no_chat_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(log.UnreadableChat, match="cannot be read"):
        log.read(tmp_path / "nowhere.csv")
    with pytest.raises(log.UnreadableChat, match="role is customer or agent, not 'boss'"):
        chats(tmp_path / "boss.csv", "C1,1,2031-06-02T12:00:00Z,A,boss")
    with pytest.raises(log.UnreadableChat, match="seq is a whole number and sent_at a time"):
        chats(tmp_path / "noon.csv", "C1,1,noon,A,customer")
    with pytest.raises(log.UnreadableChat, match="holds no conversation"):
        chats(tmp_path / "empty.csv")


KEYS = (
    *("mode", "conversations", "messages", "turns", "replies", "superseded", "duplicates", "stale_replies"),
    *("over_human", "unanswered", "wait_p50", "wait_p95", "wait_max", "model_calls"),
)


@needs_log
@pytest.mark.process
def test_sixty_conversations_with_workers_killed_and_stopped_and_nobody_is_answered_twice_late_or_over(
    manage: Manage,
) -> None:
    words = ["--conversations", "60", "--seed", "10", "--speed", "25", "--machine", "5", "--json"]
    done = manage("replay_chat", str(LOG), "--mode", "guarded", "--kill", "2", "--stop", "1", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    [tally] = json.loads(done.stdout)
    assert tuple(tally)[: len(KEYS)] == KEYS
    assert (tally["conversations"], tally["killed"], tally["stopped"]) == (60, 2, 1)
    wrong = {name: tally[name] for name in ("duplicates", "stale_replies", "over_human", "unanswered", "over_bound")}
    assert wrong == dict.fromkeys(wrong, 0)
    assert tally["replies"] > 60


@needs_log
@pytest.mark.process
def test_the_broken_bot_is_seen_to_be_broken(manage: Manage) -> None:
    words = ["--conversations", "15", "--seed", "4", "--speed", "25", "--json"]
    [tally] = json.loads(manage("replay_chat", str(LOG), "--mode", "naive", *words).stdout)
    assert tally["duplicates"] + tally["stale_replies"] > 0


@pytest.mark.process
def test_what_cannot_be_replayed_gets_one_line(manage: Manage, tmp_path: Path) -> None:
    done = manage("replay_chat", str(tmp_path / "nowhere.csv"))
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    done = manage("replay_chat", str(LOG), "--model-seconds", "eight")
    assert done.returncode == 2
    assert "is not two numbers of seconds like 2:8" in done.stderr
    done = manage("replay_chat", str(LOG), "--speed", "0")
    assert "--speed lies between" in done.stderr
