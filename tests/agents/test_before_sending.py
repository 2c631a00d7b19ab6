"""What is asked right before a message leaves, and what gives a conversation back: on a real database, step by step."""

import datetime as dt
from typing import Any

import pytest
from django.db import connection

from agents import replies, turns
from agents.replies import End
from agents.responders.port import Answer
from conflicts import limits
from conflicts.limits import Allowance
from conflicts.models import Delivery, Job, OutboxMessage
from conflicts.sentences import Sentence
from crm import contacting
from crm.models import ChannelAccount, Contact, Conversation, Message, ReplyTimer
from crm.models.conversation import Owner
from tests import cast
from tests.chatting import Says, account, deliver, due_in, writes

pytestmark = pytest.mark.django_db(transaction=True)
UTC = dt.UTC


def sms(**more: Any) -> ChannelAccount:
    return account(address="+5511999990000", provider="twilio", medium="sms", time_zone="America/Sao_Paulo", **more)


def queued(talk: Conversation) -> OutboxMessage:
    assert replies.take_turn(talk.pk, responder=Says("We look.")) is End.QUEUED
    return OutboxMessage.objects.get()


def refuse(contact: Contact) -> None:
    cast.propose("contact.state_consent", contact, by=cast.alice(), channel="sms", status="refused", source="letter")


def age(talk: Conversation, **columns: str) -> None:
    """Move times of the conversation into the past, as the clock would: `column="3 hours"`."""
    with connection.cursor() as cursor:
        sets = ", ".join(f"{name} = {name} - interval '{by}'" for name, by in columns.items())
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(f"UPDATE crm_conversation SET {sets} WHERE id = %s", [talk.pk])
        cursor.execute("SET session_replication_role = DEFAULT")


def test_a_consent_withdrawn_between_queue_and_line_stops_the_message_and_the_question_is_open_again() -> None:
    talk = writes("hello", to=sms())
    message = queued(talk)
    refuse(talk.contact)
    deliver()
    message.refresh_from_db()
    assert message.state == Delivery.FAILED
    assert Sentence.from_json(message.reason).code == "message.refused"
    talk.refresh_from_db()
    assert talk.unanswered == 1
    assert Message.objects.get(outbox_key=message.key).withdrawn


def test_to_whom_the_agent_may_not_write_a_person_is_asked() -> None:
    talk = writes("hello", to=sms())
    refuse(talk.contact)
    model = Says("never asked")
    assert replies.take_turn(talk.pk, responder=model) is End.HANDED_OVER
    assert model.prompts == []
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.handed_over) == (Owner.PERSON, "forbidden")


def test_whatsapp_closes_its_window_after_a_day_for_the_last_look_too() -> None:
    talk = writes("hello", to=account(address="123", provider="whatsapp", medium="whatsapp"))
    message = queued(talk)
    age(talk, last_inbound_at="25 hours")
    deliver()
    message.refresh_from_db()
    assert Sentence.from_json(message.reason).code == "message.window_closed"


@pytest.mark.parametrize(
    ("last_inbound", "now", "later"),
    [
        # answered within the hours after the customer wrote: at any time of the day
        (dt.datetime(2031, 6, 2, 1, tzinfo=UTC), dt.datetime(2031, 6, 2, 2, tzinfo=UTC), None),
        # unasked at 23:00 in São Paulo: at 8:00 there the next day
        (None, dt.datetime(2031, 6, 3, 2, tzinfo=UTC), dt.datetime(2031, 6, 3, 11, tzinfo=UTC)),
        # unasked at 5:00 there: at 8:00 the same day
        (None, dt.datetime(2031, 6, 3, 8, tzinfo=UTC), dt.datetime(2031, 6, 3, 11, tzinfo=UTC)),
        (None, dt.datetime(2031, 6, 3, 15, tzinfo=UTC), None),
    ],
)
def test_unasked_messages_keep_to_the_hours_of_the_contacts_zone(
    last_inbound: dt.datetime | None, now: dt.datetime, later: dt.datetime | None
) -> None:
    talk = Conversation(last_inbound_at=last_inbound)
    box = ChannelAccount(contact_from=dt.time(8), contact_until=dt.time(21), time_zone="Europe/Lisbon")
    found = contacting.not_before(talk, Contact(time_zone="America/Sao_Paulo"), box, now=now)
    assert found == later


def test_what_is_too_early_waits_and_counts_as_no_attempt() -> None:
    from conflicts.clock import database_now

    now = database_now().astimezone(contacting.ZoneInfo("America/Sao_Paulo"))
    opens = (now + dt.timedelta(hours=2)).time().replace(microsecond=0)
    shop = sms(contact_from=opens, contact_until=(now + dt.timedelta(hours=3)).time().replace(microsecond=0))
    talk = writes("hello", to=shop)
    message = queued(talk)
    age(talk, last_inbound_at="20 hours")
    deliver()
    message.refresh_from_db()
    job = Job.objects.get(kind="outbox.deliver")
    assert (message.state, job.state, job.attempts) == (Delivery.QUEUED, "queued", 0)
    wait = job.due_at - database_now()
    assert dt.timedelta(hours=1, minutes=50) < wait <= dt.timedelta(hours=2)


def test_a_contact_who_has_had_enough_is_written_to_later_and_a_person_is_not_held_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def nothing_left(channel: str, contact: str, *, by: Any) -> Allowance:
        asked.append(contact)
        return Allowance(allowed=False, retry_after=90)

    monkeypatch.setattr(limits, "of_contact", nothing_left)
    talk = writes("hello")
    message = queued(talk)
    deliver()
    message.refresh_from_db()
    assert message.state == Delivery.QUEUED
    assert asked == [f"contact:{talk.contact_id}"]

    talk.refresh_from_db()
    cast.propose("conversation.send", talk, by=cast.alice(), text="Alice here.", seen=1, anyway=True)
    Job.objects.filter(state="queued").update(due_at=dt.datetime(2020, 1, 1, tzinfo=UTC))
    deliver()
    assert OutboxMessage.objects.get(payload__text="Alice here.").state == Delivery.SENT
    assert len(asked) == 1


def test_the_agent_waits_where_the_model_has_been_asked_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "of_model", lambda name, *, by: Allowance(allowed=False, retry_after=30))
    talk = writes("hello")
    model = Says()
    assert replies.take_turn(talk.pk, responder=model) is End.WAITS
    assert model.prompts == []
    left = due_in(talk)
    assert left is not None
    assert dt.timedelta(seconds=25) < left <= dt.timedelta(seconds=30)


# ---- giving back


def theirs(talk: Conversation) -> Conversation:
    cast.propose("conversation.take_over", talk, by=cast.alice(), epoch=talk.owner_epoch)
    return Conversation.objects.get(pk=talk.pk)


def test_a_conversation_nobody_looks_after_goes_back_to_the_agent_counted_from_the_last_human_sign() -> None:
    shop = account(give_back_minutes=30)
    talk = theirs(writes("hello", to=shop))
    assert turns.give_back_idle() == 0
    age(talk, last_human_at="31 minutes")
    cast.propose("conversation.note", Conversation.objects.get(pk=talk.pk), by=cast.bob(), text="calling him")
    assert turns.give_back_idle() == 0, "a note is a sign"
    age(talk, last_human_at="31 minutes")

    assert turns.give_back_idle() == 1
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.owner, talk.owner_epoch) == (Owner.AGENT, None, 3)
    assert due_in(talk) is not None, "what is unanswered is answered now"
    assert turns.give_back_idle() == 0


def test_without_a_time_that_was_agreed_on_only_a_person_gives_back() -> None:
    talk = theirs(writes("hello"))
    age(talk, last_human_at="90 days")
    assert turns.give_back_idle() == 0
    talk.refresh_from_db()
    assert talk.owner == cast.alice()


def test_a_new_message_of_the_customer_does_not_undo_a_take_over() -> None:
    talk = theirs(writes("hello"))
    talk = writes("anybody there?")
    assert (talk.owner_kind, talk.owner) == (Owner.PERSON, cast.alice())
    assert ReplyTimer.objects.get().due_at is None


def test_outside_the_window_only_the_approved_words_go_out_with_what_stands_in_their_places() -> None:
    talk = writes("hello", to=account(address="123", provider="whatsapp", medium="whatsapp"), name="Ana Reis")
    age(talk, last_inbound_at="25 hours")
    given = {"slug": "back", "name": "Back", "language": "en", "text": "Hello {contact}, {workspace} here."}
    cast.propose("template.create", by=cast.manager(), approved_as="back_1", **given)
    talk.refresh_from_db()
    said = {"seen": 1, "template": "back_1"}
    forged = cast.propose("conversation.send", talk, by=cast.alice(), text="Buy now!", **said)
    assert forged.sentence is not None
    assert forged.sentence.code == "template_not_approved"

    outcome = cast.propose("conversation.send", talk, by=cast.alice(), text="Hello Ana, Geada Sensors here.", **said)

    assert outcome.written, outcome
    payload = OutboxMessage.objects.get().payload
    assert (payload["template"], payload["parameters"]) == ("back_1", ["Ana", "Geada Sensors"])


# ---- what fresh eyes found


def say(talk: Conversation, text: str, *, seen: int) -> None:
    fresh = Conversation.objects.get(pk=talk.pk)
    outcome = cast.propose("conversation.send", fresh, by=cast.alice(), text=text, seen=seen)
    assert outcome.written, outcome


def test_words_from_an_old_tab_leave_nothing_waiting_that_was_answered() -> None:
    writes("one")
    talk = writes("two")
    say(talk, "both", seen=2)
    say(talk, "from the old tab", seen=1)
    talk.refresh_from_db()
    assert (talk.answered_count, talk.waiting_since) == (2, None)


def test_a_channel_that_is_switched_off_says_nothing_and_goes_on_where_it_was_when_it_is_on_again() -> None:
    shop = account()
    talk = writes("hello", to=shop)
    cast.propose("channel.edit", shop, by=cast.manager(), active=False)
    assert due_in(talk) is None
    assert replies.take_turn(talk.pk, responder=Says()) is End.NOT_DUE
    refused = cast.propose("conversation.send", talk, by=cast.alice(), text="Hi", seen=1)
    assert refused.sentence is not None
    assert refused.sentence.code == "message.channel_off"

    cast.propose("channel.edit", ChannelAccount.objects.get(), by=cast.manager(), active=True)
    assert replies.take_turn(talk.pk, responder=Says()) is End.QUEUED


def test_a_hand_over_too_has_a_bound_on_how_often_it_is_overtaken() -> None:
    talk = writes("can you do 40 % off?")

    def types_on(prompt: Any) -> Answer:
        writes("and on")
        return Answer(hand_over="cannot_answer")

    model = Says(types_on)
    ends = [replies.take_turn(talk.pk, responder=model) for _ in range(3)]
    assert ends == [End.SUPERSEDED, End.SUPERSEDED, End.HANDED_OVER]


def test_a_message_that_was_held_up_for_hours_goes_to_a_person_and_its_stop_is_heard() -> None:
    from conflicts.clock import database_now

    shop = sms()
    late = writes("are you there?", to=shop, sent_at=database_now() - dt.timedelta(hours=3))
    assert (late.owner_kind, late.handed_over, due_in(late)) == (Owner.PERSON, "late", None)
    writes("STOP", to=shop, sent_at=database_now() - dt.timedelta(hours=2))
    deliver()
    assert late.contact.consents.get().status == "refused"


def test_a_late_message_beside_a_newer_one_takes_it_out_of_nobodys_hands() -> None:
    from conflicts.clock import database_now

    writes("hello")
    talk = writes("older", sent_at=database_now() - dt.timedelta(hours=3))
    assert talk.is_agents
    assert due_in(talk) is not None


def test_a_person_begins_no_conversation_about_a_deal_of_another_team() -> None:
    rui = cast.contact("Rui Amaro", addresses=[{"kind": "phone", "value": "+55 11 98765-4321"}])
    cast.deal(contact=rui.pk)
    opened = cast.propose(
        "conversation.open", by=cast.charlie(), account=sms().pk, contact=rui.pk, peer="+5511987654321"
    )
    assert Conversation.objects.get(pk=opened.created["crm.conversation"]).opportunity is None
