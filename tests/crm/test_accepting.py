"""Accepting: each event stored once, whatever its order; what is old sets nothing off; keywords need no model."""

import datetime as dt

import pytest

from conflicts.clock import database_now
from conflicts.models import Job, LedgerEntry, OutboxMessage
from crm import accepting
from crm.accepting import Took
from crm.channels.events import Echo, Incoming, Reported
from crm.models import Consent, Contact, Conversation, Message, MessageReport, ReplyTimer
from crm.models.conversation import Direction, Owner
from tests import cast
from tests.chatting import account, deliver, due_in, writes
from tests.races.threads import together

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_first_message_makes_contact_conversation_and_timer() -> None:
    shop = account(address="+5511999990000", provider="twilio", medium="sms", quiet_seconds=4, cap_seconds=20)
    talk = writes("Hi", to=shop, peer="+5511987654321", phone="+5511987654321", name="Ana Reis")

    assert (talk.contact.name, talk.inbound_count, talk.answered_count) == ("Ana Reis", 1, 0)
    assert talk.contact.points.get().value_key == "+5511987654321"
    assert ReplyTimer.objects.get().counter == 1
    assert due_in(talk) is not None


def test_who_is_known_by_the_number_is_the_contact_we_have() -> None:
    known = cast.contact("Rui Amaro", addresses=[{"kind": "phone", "value": "+55 11 98765-4321"}])
    talk = writes("Hi", peer="+5511987654321", phone="+5511987654321", name="Someone")
    assert talk.contact == known


def test_the_same_event_told_thirty_times_at_once_is_one_message() -> None:
    shop = account()
    event = Incoming(provider_id="wamid.1", peer="ana", text="Hello")
    taken = together(*[lambda: accepting.take(shop, [event])[0].how for _ in range(30)])
    assert sorted(taken) == [Took.KNOWN] * 29 + [Took.STORED]
    assert Message.objects.count() == 1
    assert Conversation.objects.get().inbound_count == 1


def test_it_is_known_also_when_the_ledger_has_forgotten() -> None:
    writes("Hello", provider_id="wamid.1")
    LedgerEntry.objects.all().delete()
    [taken] = accepting.take(account(), [Incoming(provider_id="wamid.1", peer="ana", text="Hello")])
    assert taken.how is Took.KNOWN
    assert Message.objects.count() == 1


def test_an_album_of_three_at_once_is_one_conversation_with_one_contact_and_no_picture_lost() -> None:
    shop = account()
    pictures = [
        Incoming(provider_id=f"p{n}", peer="ana", name="Ana", phone="+5511987654321", media=({"kind": "image"},))
        for n in range(3)
    ]
    together(*[lambda one=one: accepting.take(shop, [one]) for one in pictures])
    assert Contact.objects.count() == Conversation.objects.count() == 1
    assert sorted(Message.objects.values_list("number", flat=True)) == [1, 2, 3]


@pytest.mark.parametrize("how", ["old", "imported", "automatic"])
def test_what_is_old_imported_or_automatic_is_stored_at_its_time_and_sets_nothing_off(how: str) -> None:
    writes("Hello")
    then = database_now() - dt.timedelta(hours=3)
    more = {"old": {"sent_at": then}, "imported": {"sent_at": then, "imported": True}, "automatic": {"automatic": True}}
    before = ReplyTimer.objects.get().due_at
    talk = writes("I am out of office. STOP", **more[how])

    stored = Message.objects.order_by("pk").last()
    assert stored is not None
    assert (stored.number, stored.late, stored.automatic) == (None, how != "automatic", how == "automatic")
    if how != "automatic":
        assert stored.at == then
    assert (talk.inbound_count, talk.unanswered) == (1, 1)
    assert ReplyTimer.objects.get().due_at == before
    assert not Consent.objects.exists()


def test_a_clock_that_is_a_day_ahead_puts_nothing_into_the_future() -> None:
    talk = writes("Hello", sent_at=database_now() + dt.timedelta(days=1))
    message = Message.objects.get(conversation=talk)
    assert message.at <= database_now()
    assert message.number == 1


def test_messages_out_of_order_stand_in_the_order_they_were_written_and_are_all_counted() -> None:
    now = database_now()
    writes("second", sent_at=now - dt.timedelta(seconds=1))
    talk = writes("first", sent_at=now - dt.timedelta(seconds=9))
    assert [m.text for m in talk.messages.all()] == ["first", "second"]
    assert talk.inbound_count == 2


@pytest.mark.parametrize("text", ["STOP", "  stop! ", "PARAR", "Sair.", "Stop\u200b", "não quero mais"])
def test_only_the_keyword_is_an_opt_out_and_nothing_more_is_said(text: str) -> None:
    shop = account(address="+5511999990000", provider="twilio", medium="sms")
    writes("Hello", to=shop)
    talk = writes(text, to=shop)
    assert due_in(talk) is None
    assert talk.unanswered == 0
    deliver()
    stated = Consent.objects.get()
    assert (stated.channel, stated.status, stated.contact) == ("sms", "refused", talk.contact)


def test_stop_is_heard_before_a_message_that_is_tried_again_and_that_one_stays_here() -> None:
    shop = account(address="+5511999990000", provider="twilio", medium="sms")
    talk = writes("Hello", to=shop, peer="+5511987654321")
    cast.propose("conversation.send", talk, by=cast.alice(), text="Here it is.", seen=1)
    in_an_hour = database_now() + dt.timedelta(hours=1)  # it has failed once, and keeps its place in the conversation
    Job.objects.filter(subject=f"crm.conversation:{talk.pk}").update(attempts=1, due_at=in_an_hour)

    writes("STOP", to=shop, peer="+5511987654321")
    deliver()
    assert Consent.objects.get().status == "refused"

    Job.objects.filter(state="queued").update(due_at=database_now())
    deliver()
    kept = OutboxMessage.objects.get()
    assert (kept.state, kept.why and kept.why.code) == ("failed", "message.refused")


def test_the_consent_is_written_once_though_the_job_ran_twice() -> None:
    shop = account(address="+5511999990000", provider="twilio", medium="sms")
    writes("STOP", to=shop)
    deliver()
    Job.objects.update(state="queued", finished_at=None)
    deliver()
    assert Consent.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("human", "human"),
        ("Quero falar com uma pessoa", "human"),
        ("can I talk to a human please", "human"),
        ("please don't write to me any more", "doubtful"),
        ("para de mandar mensagem", "doubtful"),
    ],
)
def test_a_wish_for_a_person_or_a_doubt_pauses_the_agent(text: str, why: str) -> None:
    talk = writes(text)
    assert (talk.owner_kind, talk.owner, talk.handed_over) == (Owner.PERSON, None, why)
    assert talk.owner_epoch == 2
    assert talk.unanswered == 1, "a person answers it"
    assert due_in(talk) is None
    assert not Consent.objects.exists()


@pytest.mark.parametrize(
    "text", ["When does the stop valve ship?", "our agent in Recife", "I cancel nothing", "sair daqui"]
)
def test_a_keyword_within_a_sentence_is_only_a_word(text: str) -> None:
    talk = writes(text)
    assert talk.is_agents
    assert due_in(talk) is not None


def test_words_from_the_phone_take_the_conversation_over_and_answer_what_came_before() -> None:
    talk = writes("Hello")
    accepting.take(account(), [Echo(provider_id="e1", peer="ana", text="Rui here, one moment")])
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.owner, talk.owner_epoch, talk.unanswered) == (Owner.PERSON, None, 2, 0)
    assert due_in(talk) is None
    assert Message.objects.get(direction=Direction.OUT).maker.name == "Phone"


def test_an_echo_of_what_we_sent_ourselves_is_nobodys_take_over() -> None:
    from agents import replies
    from tests.chatting import Says

    talk = writes("Hello")
    replies.take_turn(talk.pk, responder=Says("Welcome."))
    deliver()
    sent = OutboxMessage.objects.get()
    accepting.take(account(), [Echo(provider_id=sent.remote_id, peer="ana", text="Welcome.")])
    talk.refresh_from_db()
    assert talk.is_agents
    assert Message.objects.filter(direction=Direction.OUT).count() == 1


def test_an_answer_from_the_phone_to_an_earlier_message_leaves_the_later_one_open() -> None:
    first = writes("Hello")
    answered_at = database_now()
    writes("And another thing")
    accepting.take(account(), [Echo(provider_id="e1", peer="ana", text="Hi", sent_at=answered_at)])
    first.refresh_from_db()
    assert (first.answered_count, first.unanswered) == (1, 1)
    assert first.waiting_since is not None


@pytest.mark.parametrize("order", [("sent", "delivered", "read"), ("read", "delivered", "sent"), ("delivered", "sent")])
def test_reports_only_move_forward_in_whatever_order_they_come(order: tuple[str, ...]) -> None:
    for state in order:
        accepting.take(account(), [Reported(provider_id="x", state=state)])  # type: ignore[arg-type]
    assert MessageReport.objects.get().state == ("read" if "read" in order else "delivered")


def test_a_late_failure_does_not_undo_what_was_read() -> None:
    accepting.take(account(), [Reported(provider_id="x", state="read"), Reported(provider_id="x", state="failed")])
    assert MessageReport.objects.get().state == "read"


@pytest.mark.parametrize(
    "text", ["", "😀" * 500, "<script>alert(1)</script>", "שלום ‮drawkcab", "a\u200bb\x00c", "x" * 50_000]
)
def test_any_text_is_stored_as_text(text: str) -> None:
    talk = writes(text)
    stored = Message.objects.get(conversation=talk)
    assert stored.text == accepting.shorten(text)
    assert "\x00" not in stored.text
    assert len(stored.text) <= accepting.LONGEST_TEXT
