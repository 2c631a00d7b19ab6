"""One answer per burst, none that is out of date, none over a person: the turn, step by step on a real database."""

import datetime as dt

import pytest

from agents import execution, replies, turns
from agents.models import ApprovalState, Recommendation, Turn, TurnState
from agents.replies import End
from agents.responders.port import Answer, Prompt
from agents.states import State
from config.embedded.processes import until
from conflicts import actors
from conflicts.models import Conflict, Delivery, OutboxMessage
from conflicts.models.lease import Lease, LeaseEvent, LeaseEventKind, Renewal
from crm import timers
from crm.models import Conversation, Message, ReplyTimer, Task
from crm.models.conversation import Direction, Owner
from tests import cast
from tests.agents.suggested import NOW, said_yes, suggestion
from tests.chatting import Says, account, deliver, due_in, writes

pytestmark = pytest.mark.django_db(transaction=True)


def said(conversation: Conversation) -> list[str]:
    ours = Message.objects.filter(conversation=conversation, direction=Direction.OUT, withdrawn=False)
    return list(ours.values_list("text", flat=True))


def send(conversation: Conversation, text: str = "I have it.", **more: object) -> object:
    params = {"text": text, "seen": conversation.inbound_count, "said": 0, **more}
    return cast.propose("conversation.send", conversation, by=cast.alice(), **params)


def test_five_lines_are_one_prompt_and_one_answer() -> None:
    for line in ("hi", "I have", "a question", "about the", "PT-1000"):
        talk = writes(line)
    model = Says("Ask away.")

    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED

    [prompt] = model.prompts
    assert [line.text for line in prompt.pending] == ["hi", "I have", "a question", "about the", "PT-1000"]
    assert said(talk) == ["Ask away."]
    talk.refresh_from_db()
    assert (talk.inbound_count, talk.answered_count, talk.waiting_since) == (5, 5, None)
    assert due_in(talk) is None
    assert replies.take_turn(talk.pk, responder=model) is End.NOT_DUE


def test_the_window_is_quiet_time_from_the_last_line_with_a_cap_from_the_first() -> None:
    shop = account(quiet_seconds=4, cap_seconds=20)
    talk = writes("hi", to=shop)
    first = due_in(talk)
    assert first is not None
    assert dt.timedelta(seconds=2) < first <= dt.timedelta(seconds=4)
    assert replies.take_turn(talk.pk, responder=Says()) is End.NOT_DUE


def test_who_goes_on_typing_is_answered_at_the_cap_counted_from_the_first_line() -> None:
    shop = account(quiet_seconds=600, cap_seconds=400)
    writes("one", to=shop)
    talk = writes("two", to=shop)
    assert talk.waiting_since is not None
    assert talk.last_inbound_at is not None
    assert talk.waiting_since < talk.last_inbound_at
    assert ReplyTimer.objects.get().due_at == talk.waiting_since + dt.timedelta(seconds=400)


def test_so_many_lines_are_answered_at_once() -> None:
    shop = account(quiet_seconds=300, cap_seconds=600, flush_at=3)
    writes("one", to=shop)
    talk = writes("two", to=shop)
    assert replies.take_turn(talk.pk, responder=Says()) is End.NOT_DUE
    writes("three", to=shop)
    model = Says("To all three.")
    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED
    assert len(model.prompts[0].pending) == 3


def test_a_due_timer_is_found_though_every_hint_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[int] = []
    monkeypatch.setattr(turns, "ring", lambda conversation, *, after=0.0: rung.append(conversation))
    talk = writes("hello")
    assert rung == [talk.pk], "the hint, which nobody hears"
    assert turns.look_round() == 1
    assert rung == [talk.pk, talk.pk]
    assert turns.look_round() == 0, "each is told once in a while"

    def while_somebody_is_at_it(prompt: Prompt) -> str:
        ReplyTimer.objects.update(rung_at=None)
        assert turns.look_round() == 0
        return "Here."

    replies.take_turn(talk.pk, responder=Says(while_somebody_is_at_it))
    assert turns.look_round() == 0, "nothing is due any more"


def test_a_message_during_the_generation_drops_the_draft_and_one_answer_to_everything_follows() -> None:
    talk = writes("send the code")
    model = Says(lambda prompt: "Which one?" if len(prompt.pending) == 1 else "Here is ABC.")

    def and_meanwhile(prompt: Prompt) -> str:
        if len(model.prompts) == 1:
            writes("it is ABC")
        return "Which one?" if len(prompt.pending) == 1 else "Here is ABC."

    model.text = and_meanwhile
    assert replies.take_turn(talk.pk, responder=model) is End.SUPERSEDED
    assert said(talk) == []
    dropped = Turn.objects.get()
    assert (dropped.state, dropped.text) == (TurnState.SUPERSEDED, "Which one?")
    assert dropped.why is not None
    assert dropped.why.code == "reply.customer_wrote_again"
    assert dropped.record is not None
    assert dropped.record.result == "superseded"

    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED
    assert said(talk) == ["Here is ABC."]


def test_somebody_who_never_stops_typing_gets_the_third_answer_and_the_rest_a_new_turn() -> None:
    talk = writes("one")
    model = Says(lambda prompt: str(len(prompt.pending)))

    def types_on(prompt: Prompt) -> str:
        writes("and on")
        return f"answer to {len(prompt.pending)}"

    model.text = types_on
    ends = [replies.take_turn(talk.pk, responder=model) for _ in range(3)]

    assert ends == [End.SUPERSEDED, End.SUPERSEDED, End.QUEUED]
    assert said(talk) == ["answer to 3"]
    talk.refresh_from_db()
    assert (talk.inbound_count, talk.answered_count) == (4, 3)
    assert talk.waiting_since is not None
    assert due_in(talk) is not None, "the rest is a new turn"
    assert ReplyTimer.objects.get().drops == 0


def test_a_person_who_takes_over_in_the_middle_of_a_draft_is_not_spoken_over() -> None:
    talk = writes("hello")

    def meanwhile(prompt: Prompt) -> str:
        send(Conversation.objects.get(pk=talk.pk))
        return "Welcome!"

    assert replies.take_turn(talk.pk, responder=Says(meanwhile)) is End.SUPERSEDED
    assert said(talk) == ["I have it."]
    dropped = Turn.objects.get()
    assert (dropped.state, dropped.text) == (TurnState.SUPERSEDED, "Welcome!")
    assert dropped.why is not None
    assert dropped.why.code == "turn.taken_over"
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.owner, talk.owner_epoch) == (Owner.PERSON, cast.alice(), 2)
    assert due_in(talk) is None


def test_what_is_queued_when_a_person_takes_over_is_stopped_by_the_last_look_and_taken_back() -> None:
    talk = writes("hello")
    assert replies.take_turn(talk.pk, responder=Says("Welcome!")) is End.QUEUED
    talk.refresh_from_db()
    cast.propose("conversation.take_over", talk, by=cast.alice(), epoch=talk.owner_epoch)

    deliver()

    assert OutboxMessage.objects.get().state == Delivery.FAILED
    assert Message.objects.get(direction=Direction.OUT).withdrawn
    talk.refresh_from_db()
    assert (talk.answered_count, talk.unanswered) == (0, 1), "it waits for the person now"


def test_what_is_queued_when_the_customer_writes_on_is_taken_back_and_answered_anew() -> None:
    talk = writes("send it")
    assert replies.take_turn(talk.pk, responder=Says("To where?")) is End.QUEUED
    writes("to Recife")

    deliver()

    assert said(talk) == []
    model = Says("To Recife it goes.")
    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED
    assert [line.text for line in model.prompts[0].pending] == ["send it", "to Recife"]
    deliver()
    assert OutboxMessage.objects.get(state=Delivery.SENT).payload["text"] == "To Recife it goes."


def test_a_worker_whose_lease_ran_out_can_queue_nothing(settings, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    from conflicts import leases
    from conflicts.actors import SYSTEM

    talk = writes("hello")

    def while_it_loses_the_lease(prompt: Prompt) -> str:
        assert leases.break_(timers.turn_key(talk.pk), by=SYSTEM, why="it went silent")
        return "too late"

    assert replies.take_turn(talk.pk, responder=Says(while_it_loses_the_lease)) is End.SUPERSEDED
    assert said(talk) == []
    assert replies.take_turn(talk.pk, responder=Says("on time")) is End.QUEUED
    assert said(talk) == ["on time"]


def test_a_turn_outlives_its_lease_as_long_as_its_worker_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "SILENT_AFTER", 3.0)
    talk = writes("hello")
    of_it = Lease.objects.filter(key=timers.turn_key(talk.pk), renewal=Renewal.HEARTBEAT)
    beats = LeaseEvent.objects.filter(key=timers.turn_key(talk.pk), kind=LeaseEventKind.RENEWED)

    def takes_its_time(prompt: Prompt) -> str:
        before = of_it.get().expires_at
        assert until(beats.exists, seconds=30)
        assert of_it.get().expires_at > before
        return "Thought over."

    assert replies.take_turn(talk.pk, responder=Says(takes_its_time)) is End.QUEUED
    assert said(talk) == ["Thought over."]


def test_a_turn_no_longer_than_a_silence_needs_no_sign_of_life(settings) -> None:  # type: ignore[no-untyped-def]
    settings.VIGENTE_TURN_SECONDS = replies.SILENT_AFTER
    talk = writes("hello")
    seen: list[Lease] = []
    model = Says(lambda prompt: seen.append(Lease.objects.get(key=timers.turn_key(talk.pk))) or "Here.")  # type: ignore[func-returns-value]
    assert replies.take_turn(talk.pk, responder=model) is End.QUEUED
    assert [(one.seconds, one.renewal) for one in seen] == [(replies.SILENT_AFTER, Renewal.NEVER)]


def test_two_workers_at_one_timer_are_one_turn() -> None:
    talk = writes("hello")
    ends: list[End] = []

    def and_another_worker(prompt: Prompt) -> str:
        ends.append(replies.take_turn(talk.pk, responder=Says("second")))
        return "first"

    ends.append(replies.take_turn(talk.pk, responder=Says(and_another_worker)))
    assert ends == [End.BUSY, End.QUEUED]
    assert said(talk) == ["first"]


def test_a_failed_or_empty_turn_moves_no_watermark_and_a_person_gets_it_in_the_end() -> None:
    talk = writes("hello")

    def fails(prompt: Prompt) -> str:
        raise ConnectionError("the model is away")

    for attempt in range(replies.MOST_FAILURES):
        ReplyTimer.objects.update(due_at=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        end = replies.take_turn(talk.pk, responder=Says("  ") if attempt else Says(fails))
        assert end is End.FAILED
        talk.refresh_from_db()
        assert talk.answered_count == 0
    assert replies.take_turn(talk.pk, responder=Says("never asked")) is End.HANDED_OVER
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.owner, talk.handed_over, talk.unanswered) == (Owner.PERSON, None, "failed", 1)
    assert said(talk) == []


def test_a_responder_that_hands_over_leaves_the_question_open_for_a_person() -> None:
    talk = writes("can you do 40 % off?")
    end = replies.take_turn(talk.pk, responder=Says(lambda prompt: Answer(hand_over="cannot_answer")))
    assert end is End.HANDED_OVER
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.handed_over, talk.unanswered) == (Owner.PERSON, "cannot_answer", 1)


def test_taking_over_closes_the_open_follow_up_of_the_deal_in_the_same_transaction() -> None:
    one = suggestion()
    talk = writes("hello")
    talk.refresh_from_db()
    cast.propose("conversation.link_deal", talk, by=cast.alice(), opportunity=one.opportunity_id)
    talk.refresh_from_db()

    send(talk)

    one = Recommendation.objects.get(pk=one.pk)
    assert one.state == State.SUPERSEDED
    assert one.overtaker is not None
    assert one.overtaker.same_as(actors.person(cast.alice()))


def test_taking_over_voids_an_approval_that_is_not_used_yet() -> None:
    one = suggestion()
    given = said_yes(one, by=cast.bob())
    talk = writes("hello")
    cast.propose("conversation.link_deal", talk, by=cast.alice(), opportunity=one.opportunity_id)
    talk.refresh_from_db()

    cast.propose("conversation.note", talk, by=cast.alice(), text="a note takes nothing over")
    given.refresh_from_db()
    assert given.state == ApprovalState.GIVEN
    talk.refresh_from_db()
    send(talk)

    given.refresh_from_db()
    assert (given.state, given.void_because and given.void_because.code) == ("void", "suggestion.taken_over")
    one.refresh_from_db()
    assert one.state == State.SUPERSEDED
    execution.carry_out(one, now=NOW)
    assert not Task.objects.exists()


def test_giving_back_arms_the_timer_for_what_is_unanswered() -> None:
    talk = writes("hello")
    cast.propose("conversation.take_over", talk, by=cast.alice(), epoch=1)
    talk.refresh_from_db()
    assert due_in(talk) is None
    cast.propose("conversation.give_back", talk, by=cast.alice(), epoch=talk.owner_epoch)
    assert due_in(talk) is not None
    assert replies.take_turn(talk.pk, responder=Says("Back again.")) is End.QUEUED


def test_no_evidence_is_left_for_a_conversation_that_goes_smoothly() -> None:
    talk = writes("hello")
    replies.take_turn(talk.pk, responder=Says())
    deliver()
    assert Conflict.objects.count() == 0
    assert OutboxMessage.objects.get().state == Delivery.SENT
    assert said(talk)
