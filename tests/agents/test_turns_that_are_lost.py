"""What a turn leaves behind that did not end as it should: the next one ends it, and nothing goes round for ever."""

import datetime as dt

import pytest

from agents import replies
from agents.models import Turn, TurnState
from agents.replies import End
from agents.responders.port import Prompt
from conflicts import leases
from conflicts.actors import SYSTEM
from conflicts.models import Delivery, OutboxMessage
from conflicts.sentences import Sentence
from crm import timers
from crm.channels import sending
from crm.models import Conversation, ReplyTimer
from tests import cast
from tests.chatting import Says, deliver, due_in, writes

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """Nothing of ours runs after it, as after SIGKILL, but for the lease, which is taken away below."""


def dies(talk: Conversation) -> None:
    def in_the_middle(prompt: Prompt) -> str:
        leases.break_(timers.turn_key(talk.pk), by=SYSTEM, why="it ran out")
        raise Killed

    with pytest.raises(Killed):
        replies.take_turn(talk.pk, responder=Says(in_the_middle))


def test_the_turn_of_a_worker_that_died_is_closed_by_the_next_one_which_answers() -> None:
    talk = writes("hello")
    dies(talk)
    assert Turn.objects.get().state == TurnState.RUNNING

    assert replies.take_turn(talk.pk, responder=Says("on time")) is End.QUEUED

    lost, answered = Turn.objects.order_by("pk")
    assert (lost.state, lost.why and lost.why.code) == (TurnState.FAILED, "turn.lost")
    assert answered.state == TurnState.QUEUED
    assert ReplyTimer.objects.get().failures == 0


def test_a_text_that_kills_every_worker_reaches_a_person_in_the_end() -> None:
    talk = writes("hello")
    for _ in range(replies.MOST_FAILURES):
        dies(talk)
    assert replies.take_turn(talk.pk, responder=Says("never asked")) is End.HANDED_OVER
    talk.refresh_from_db()
    assert (talk.handed_over, talk.unanswered) == ("failed", 1)


def test_a_worker_that_wakes_too_late_does_not_touch_the_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = writes("hello")

    def stands_still(prompt: Prompt) -> str:
        assert leases.break_(timers.turn_key(talk.pk), by=SYSTEM, why="it ran out")
        monkeypatch.setattr(leases.Grant, "must_stop", True)
        return "too late"

    due = ReplyTimer.objects.get().due_at
    assert replies.take_turn(talk.pk, responder=Says(stands_still)) is End.FAILED
    timer = ReplyTimer.objects.get()
    assert (timer.due_at, timer.failures) == (due, 0)


def test_answers_overtaken_on_their_way_out_add_up_and_the_third_goes_out_for_what_it_saw() -> None:
    talk = writes("one")
    for _ in range(replies.MOST_DROPS):
        assert replies.take_turn(talk.pk, responder=Says("to the past")) is End.QUEUED
        writes("and on")
        deliver()
    assert set(OutboxMessage.objects.values_list("state", flat=True)) == {Delivery.FAILED}
    assert ReplyTimer.objects.get().drops == 2

    assert replies.take_turn(talk.pk, responder=Says("for what it saw")) is End.QUEUED
    writes("and still on")
    deliver()

    assert OutboxMessage.objects.get(state=Delivery.SENT).payload["text"] == "for what it saw"
    assert due_in(talk) is not None, "the rest is a new turn"
    assert due_in(talk) < dt.timedelta(seconds=5)  # type: ignore[operator]


def test_what_a_person_has_answered_stays_answered_when_the_agents_answer_is_taken_back() -> None:
    """Both answered the same line, so the watermark alone does not tell whose it is."""
    talk = writes("hello")
    assert replies.take_turn(talk.pk, responder=Says("Welcome!")) is End.QUEUED
    talk.refresh_from_db()
    say = {"text": "I have it.", "seen": 1, "said": 0, "anyway": True}
    cast.propose("conversation.send", talk, by=cast.alice(), **say)
    deliver()
    talk.refresh_from_db()
    assert (talk.answered_count, talk.unanswered, talk.waiting_since) == (1, 0, None)

    cast.propose("conversation.give_back", talk, by=cast.alice(), epoch=talk.owner_epoch)
    assert due_in(talk) is None
    assert replies.take_turn(talk.pk, responder=Says("never asked")) is End.NOT_DUE


def test_an_answer_that_still_waits_is_taken_back_by_the_next_turn_which_answers_all_of_it() -> None:
    """Else the next turn would answer the newest line alone, and the last look then stop what was for the rest."""
    talk = writes("one")
    assert replies.take_turn(talk.pk, responder=Says("to the past")) is End.QUEUED
    writes("two")
    model = Says("to both")
    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED
    assert [line.text for line in model.prompts[0].pending] == ["one", "two"]

    deliver()

    assert OutboxMessage.objects.get(state=Delivery.SENT).payload["text"] == "to both"
    talk.refresh_from_db()
    assert talk.unanswered == 0


def test_what_is_taken_back_makes_no_other_answer_void() -> None:
    """The third answer still waits for its turn on the line when the one after it is overtaken."""
    talk = writes("one")
    for _ in range(replies.MOST_DROPS):
        assert replies.take_turn(talk.pk, responder=Says("to the past")) is End.QUEUED
        writes("and on")
        deliver()
    assert replies.take_turn(talk.pk, responder=Says("for what it saw")) is End.QUEUED
    writes("four")
    assert replies.take_turn(talk.pk, responder=Says("to four")) is End.QUEUED
    writes("five")
    model = Says("to four and five")
    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED

    deliver()

    sent = OutboxMessage.objects.filter(state=Delivery.SENT).order_by("pk").values_list("payload__text", flat=True)
    assert list(sent) == ["for what it saw", "to four and five"]
    assert [line.text for line in model.prompts[0].pending] == ["four", "five"]
    talk.refresh_from_db()
    assert (talk.unanswered, talk.owner_epoch) == (0, 1)


def test_a_draft_is_void_when_what_it_did_not_have_to_answer_is_unanswered_again() -> None:
    talk = writes("one")
    assert replies.take_turn(talk.pk, responder=Says("to one")) is End.QUEUED
    deliver()
    writes("two")
    [answer] = OutboxMessage.objects.all()

    def it_did_not_arrive(prompt: Prompt) -> str:
        sending.withdraw(answer, why=Sentence("message.undelivered"))
        return "to two"

    assert replies.take_turn(talk.pk, responder=Says(it_did_not_arrive)) is End.SUPERSEDED
    model = Says("to both")
    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED
    assert [line.text for line in model.prompts[0].pending] == ["one", "two"]


def test_a_turn_waits_for_an_answer_that_is_on_its_way() -> None:
    talk = writes("one")
    assert replies.take_turn(talk.pk, responder=Says("leaving")) is End.QUEUED
    writes("two")
    OutboxMessage.objects.update(state=Delivery.SENDING)
    assert replies.take_turn(talk.pk, responder=Says("never asked")) is End.WAITS
    assert Turn.objects.count() == 1
    assert due_in(talk) is not None


def test_what_came_while_we_were_at_work_is_rung_for_when_the_lease_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agents import turns

    talk = writes("one")
    rung: list[bool] = []

    def ring(conversation: int, *, after: float = 0.0) -> bool:
        with leases.holding(
            timers.turn_key(conversation), by=SYSTEM, unit="look", reason="is it free?", seconds=1
        ) as got:
            rung.append(isinstance(got, leases.Grant))
        return True

    def meanwhile(prompt: Prompt) -> str:
        writes("two")
        monkeypatch.setattr(turns, "ring", ring)
        return "to the past"

    assert replies.take_turn(talk.pk, responder=Says(meanwhile)) is End.SUPERSEDED
    assert rung == [True]
