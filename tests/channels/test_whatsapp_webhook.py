"""What WhatsApp tells us: believed under its signature only, stored once, whatever is in it."""

import json
import time
from io import BytesIO
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client, RequestFactory

from conflicts.clock import database_now
from conflicts.models import Conflict
from crm import accepting
from crm.accepting import NotStored
from crm.channels import media, specimens, whatsapp
from crm.channels.whatsapp_posts import phone_of
from crm.models import ChannelAccount, Contact, Conversation, Message, MessageReport, ReplyTimer
from crm.models.conversation import Direction, Owner
from crm.views.webhooks import LARGEST, whatsapp_webhook
from tests import cast
from tests.chatting import account
from tests.races.threads import together

pytestmark = pytest.mark.django_db
on_threads = pytest.mark.django_db(transaction=True)
ANA = "5511987654321"
PATH = "/webhooks/whatsapp/"


def number(address: str = "101", **values: Any) -> ChannelAccount:
    return account(provider="whatsapp", medium="whatsapp", address=address, name=f"WhatsApp {address}", **values)


def message(text: str = "Hello", *, to: str = "101", sender: str = ANA, id: str = "wamid.A", **more: Any) -> Any:
    at = more.pop("at", int(time.time()))
    return specimens.whatsapp_message(text, number=to, sender=sender, message_id=id, at=at, **more)


def post(body: Any, **headers: str) -> Any:
    """To the webhook, signed unless `headers` say otherwise."""
    raw, signed = specimens.signed_whatsapp(body)
    signature = headers.get("signature", signed["X-Hub-Signature-256"])
    given = {"X-Hub-Signature-256": signature} if signature else {}
    return Client().post(PATH, raw, content_type="application/json", headers=given)


def stored() -> list[str]:
    return list(Message.objects.order_by("at", "id").values_list("text", flat=True))


# ---- who may speak


def test_the_address_is_verified_with_our_own_word() -> None:
    asked = {"hub.mode": "subscribe", "hub.verify_token": "word-of-the-test", "hub.challenge": "<b>42</b>"}
    answer = Client().get(PATH, asked)
    assert (answer.status_code, answer.text, answer["Content-Type"]) == (200, "<b>42</b>", "text/plain")
    assert Client().get(PATH, {**asked, "hub.verify_token": "guessed"}).status_code == 403
    assert Client().get(PATH, {**asked, "hub.mode": "unsubscribe"}).status_code == 403
    assert Client().get(PATH).status_code == 403


def test_without_a_word_of_ours_nobody_can_verify_the_address(settings) -> None:  # type: ignore[no-untyped-def]
    settings.VIGENTE_WHATSAPP_VERIFY_TOKEN = ""
    assert Client().get(PATH, {"hub.mode": "subscribe", "hub.verify_token": ""}).status_code == 403


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        "sha256=00",
        whatsapp.sign(b"other bytes", "secret-of-the-test"),
        whatsapp.sign(json.dumps(message(at=7)).encode(), "another secret"),
        "sha1=é\U0001f600",
    ],
)
def test_a_forged_or_unsigned_post_is_refused_logged_and_not_stored(signature: str, caplog: Any) -> None:
    number()
    assert post(message(at=7), signature=signature).status_code == 403
    assert (Message.objects.count(), Contact.objects.count(), Conflict.objects.count()) == (0, 0, 0)
    assert "refused with 403" in caplog.text
    assert "Hello" not in caplog.text


def test_without_a_secret_nothing_is_believed_and_two_may_be_in_force(settings) -> None:  # type: ignore[no-untyped-def]
    number()
    settings.VIGENTE_WHATSAPP_APP_SECRET = ["old", "new"]
    for index, secret in enumerate(("old", "new")):
        raw, headers = specimens.signed_whatsapp(message(id=f"wamid.{index}"), secret=secret)
        assert Client().post(PATH, raw, content_type="application/json", headers=headers).status_code == 200
    settings.VIGENTE_WHATSAPP_APP_SECRET = []
    raw, headers = specimens.signed_whatsapp(message(), secret="")
    assert Client().post(PATH, raw, content_type="application/json", headers=headers).status_code == 403
    assert len(stored()) == 2


# ---- what is refused


def test_an_unknown_number_is_answered_404_and_nothing_is_stored(caplog: Any) -> None:
    number("101")
    assert post(message(to="999")).status_code == 404
    assert (Message.objects.count(), Contact.objects.count()) == (0, 0)
    assert "'999'" in caplog.text


def test_a_number_that_is_switched_off_is_unknown() -> None:
    cast.propose("channel.edit", number(), by=cast.manager(), active=False)
    assert post(message()).status_code == 404
    assert stored() == []


@pytest.mark.parametrize("length", [5 * 1024 * 1024, LARGEST + 1])
def test_a_body_that_is_too_large_is_refused_unread(length: int) -> None:
    number()
    assert post(b"x" * length).status_code == 413
    assert stored() == []


def test_a_body_that_hides_its_length_is_read_no_further_than_allowed() -> None:
    source = BytesIO(b"x" * (LARGEST + 10_000_000))
    request = RequestFactory().post(PATH, b"", content_type="application/json")
    request._stream = source  # type: ignore[attr-defined]
    assert whatsapp_webhook(request).status_code == 413
    assert source.tell() == LARGEST + 1


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b'"x"', b"null", b'{"entry": 7}'])
def test_what_cannot_be_read_is_answered_400(raw: bytes) -> None:
    number()
    assert post(raw).status_code == 400


@pytest.mark.parametrize(
    "odd",
    [
        {"entry": []},
        {"entry": [None, 7, {"changes": "x"}, {"changes": [None, {"value": []}]}]},
        {
            "entry": [
                {"changes": [{"value": {"metadata": {"phone_number_id": "101"}, "messages": [7, {}, {"id": "x"}]}}]}
            ]
        },
        specimens.whatsapp_post(
            {"event": "APPROVED", "message_template_id": 7}, field="message_template_status_update"
        ),
    ],
)
def test_a_signed_post_with_nothing_for_us_is_answered_200(odd: Any) -> None:
    number()
    assert post(odd).status_code == 200
    assert stored() == []


def test_what_could_not_be_stored_is_to_be_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    number()
    body = message("first", id="wamid.1")
    body["entry"] += message("second", id="wamid.2")["entry"]
    take = accepting.take

    def fails_on_the_first(error: Exception) -> Any:
        def instead(account: ChannelAccount, events: Any) -> Any:
            if events[0].text == "first":
                raise error
            return take(account, events)

        return instead

    for error in (NotStored("busy"), DatabaseError("away"), ValueError("odd")):
        monkeypatch.setattr(accepting, "take", fails_on_the_first(error))
        answer = post(body)
        assert (answer.status_code, answer["Retry-After"]) == (503, "10")
        assert stored() == ["second"], "the one beside it is not held up"
    monkeypatch.setattr(accepting, "take", take)
    assert post(body).status_code == 200
    assert sorted(stored()) == ["first", "second"]


# ---- what is stored


def test_a_message_is_stored_with_its_sender_and_a_new_contact() -> None:
    number()
    answer = post(message("Oi! 👋"))
    assert (answer.status_code, answer.text) == (200, "ok")
    [line] = Message.objects.select_related("conversation__contact")
    talk = line.conversation
    assert (line.text, line.direction, line.provider_id, line.number) == ("Oi! 👋", Direction.IN, "wamid.A", 1)
    assert (talk.peer, talk.reply_to, talk.medium, talk.title) == (ANA, ANA, "whatsapp", "Ana Prado")
    assert talk.contact.points.get().value_key == f"+{ANA}"
    assert talk.unanswered == 1


def test_a_number_in_its_old_form_is_the_same_contact() -> None:
    """Brazil: WhatsApp leaves out the ninth digit of accounts that are older than it."""
    rui = cast.contact(addresses=[{"kind": "phone", "value": "+55 31 98765-4321"}])
    number()
    post(message(sender="553187654321"))
    talk = Conversation.objects.get()
    assert (talk.contact, talk.reply_to) == (rui, "553187654321"), "and is written to as WhatsApp knows it"
    assert phone_of("5215512345678") == "+525512345678"
    assert phone_of("551133334444") == "+551133334444", "a landline has eight digits"
    assert phone_of("US.1349") == ""


def test_a_customer_without_a_number_is_known_by_the_id_that_stands_for_them() -> None:
    number()
    body = message()
    value = body["entry"][0]["changes"][0]["value"]
    value["messages"][0] |= {"from_user_id": "BR.13491208655302741918"}
    del value["messages"][0]["from"]
    value["contacts"] = [{"profile": {"username": "@ana"}, "user_id": "BR.13491208655302741918"}]
    assert post(body).status_code == 200
    talk = Conversation.objects.get()
    assert (talk.peer, talk.contact.name, talk.contact.points.count()) == ("BR.13491208655302741918", "@ana", 0)


def test_several_messages_entries_and_numbers_in_one_post_are_all_stored_in_order() -> None:
    number("101"), number("102")
    body = message("one", id="wamid.1")
    body["entry"][0]["changes"][0]["value"]["messages"] += [
        {"from": ANA, "id": "wamid.2", "timestamp": str(int(time.time())), "type": "text", "text": {"body": "two"}}
    ]
    body["entry"] += message("to the other", to="102", id="wamid.3")["entry"]
    body["entry"] += message("to a stranger", to="999", id="wamid.4")["entry"]
    assert post(body).status_code == 200
    lines = Message.objects.order_by("account__address", "number").values_list("account__address", "number", "text")
    assert list(lines) == [("101", 1, "one"), ("101", 2, "two"), ("102", 1, "to the other")]
    assert Contact.objects.filter(name="Ana Prado").count() == 1, "one person on two numbers"


@on_threads
def test_a_message_told_a_hundred_times_at_once_is_stored_once() -> None:
    number()
    body = message()

    def tell_four_times() -> list[int]:
        return [post(body).status_code for _ in range(4)]

    answers = [status for statuses in together(*[tell_four_times] * 25) for status in statuses]

    # On a busy machine some may be told to come again; nobody is told 200 of what is not stored.
    assert set(answers) <= {200, 503}
    assert 200 in answers
    assert post(body).status_code == 200
    assert (Message.objects.count(), Conversation.objects.count(), Contact.objects.count()) == (1, 1, 1)
    talk = Conversation.objects.get()
    assert (talk.inbound_count, talk.timer.counter) == (1, 1)
    assert Conflict.objects.count() == 0, "nobody has to read about a repetition"


@on_threads
def test_an_album_of_three_at_once_is_one_conversation() -> None:
    number()
    bodies = [message(id=f"wamid.{n}", type="image", image={"id": f"media-{n}"}) for n in range(3)]
    answers = together(*[lambda b=body: post(b).status_code for body in bodies])
    assert answers == [200] * 3
    assert (Conversation.objects.count(), Contact.objects.count(), Message.objects.count()) == (1, 1, 3)
    assert Conversation.objects.get().inbound_count == 3


def test_messages_out_of_order_stand_in_the_order_in_which_they_were_written() -> None:
    number()
    now = int(time.time())
    for text, ago in (("third", 1), ("first", 3), ("second", 2)):
        post(message(text, id=f"wamid.{text}", at=now - ago))
    assert stored() == ["first", "second", "third"]
    assert Conversation.objects.get().inbound_count == 3


def test_a_clock_of_the_provider_that_is_a_day_ahead_moves_nothing_into_the_future() -> None:
    number()
    ahead = int(time.time()) + 86_400
    post(message("from tomorrow", at=ahead))
    post(message("and another", id="wamid.B", at=ahead))
    first = Message.objects.get(text="from tomorrow")
    assert first.sent_at is not None
    assert int(first.sent_at.timestamp()) == ahead, "as the provider says"
    assert first.at <= database_now()
    assert stored() == ["from tomorrow", "and another"]
    assert Conversation.objects.get().inbound_count == 2


@pytest.mark.parametrize("at", ["", "never", "9" * 30, "-1", None, 7.5])
def test_a_time_that_is_none_does_not_lose_the_message(at: Any) -> None:
    number()
    assert post(message(timestamp=at)).status_code == 200
    assert stored() == ["Hello"]


def test_a_message_that_was_held_up_is_stored_and_sets_nothing_off() -> None:
    number()
    post(message("old", at=int(time.time()) - 86_400))
    assert Message.objects.get().late
    assert Conversation.objects.get().unanswered == 0


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("👩‍👩‍👧‍👦 família ❤️", None),
        ("שלום عالم", None),
        ("<script>alert(1)</script><b>bold</b>", "<script>alert(1)</script><b>bold</b>"),
        ("a\u200bb\u202ec\u0000d\ud800e", "abcde"),
        ("x" * 70_000, None),
        ("", ""),
    ],
)
def test_whatever_is_written_is_only_ever_text(sent: str, kept: str | None) -> None:
    number()
    assert post(message(sent)).status_code == 200
    [text] = stored()
    assert text if kept is None else text == kept
    assert len(text) <= 20_000


def test_html_and_invisible_characters_in_a_name_are_text_in_one_line() -> None:
    number()
    post(message(name="<img src=x>\u202e\n\0Ana" + "a" * 500))
    contact = Contact.objects.get()
    assert contact.name.startswith("<img src=x> Anaa")
    assert len(contact.name) <= 200


@pytest.mark.parametrize(
    ("kind", "part", "text", "said"),
    [
        ("image", {"id": "m1", "caption": "our rack"}, "our rack", "picture"),
        ("audio", {"id": "m1", "voice": True}, "", "voice message or sound"),
        ("video", {"id": "m1"}, "", "video"),
        ("sticker", {"id": "m1"}, "", "sticker"),
        ("document", {"id": "m1", "filename": "offer\u202e.pdf"}, "", "document: offer.pdf"),
        (
            "location",
            {"latitude": -5.8, "longitude": -35.2, "name": "Natal"},
            "",
            "place on the map: Natal (-5.8, -35.2)",
        ),
        ("contacts", [{"name": {"formatted_name": "Rui"}}], "", "contact card: Rui"),
        ("reaction", {"message_id": "wamid.0", "emoji": "👍"}, "", "reaction to a message: 👍"),
        ("poll", {"question": "?"}, "", "a message that cannot be shown here (poll)"),
        ("unsupported", None, "", "a message that cannot be shown here (unsupported: Message type unknown)"),
        ("button", {"text": "Yes", "payload": "y"}, "Yes", None),
        ("interactive", {"type": "button_reply", "button_reply": {"id": "1", "title": "Call me"}}, "Call me", None),
        ("interactive", {"type": "nfm_reply"}, "", "a message that cannot be shown here (interactive)"),
    ],
)
def test_what_is_more_than_text_is_named_and_never_fetched(kind: str, part: Any, text: str, said: str | None) -> None:
    number()
    errors = {"errors": [{"code": 131051, "title": "Message type unknown"}]} if kind == "unsupported" else {}
    assert post(message(type=kind, **{kind: part}, **errors)).status_code == 200
    line = Message.objects.get()
    assert line.text == text
    assert [media.words(item) for item in line.media] == ([said] if said else [])
    assert line.number == (None if kind == "reaction" else 1)


def test_what_nobody_wrote_is_stored_and_not_answered() -> None:
    number()
    post(message(type="system", system={"body": "Ana changed her number", "type": "user_changed_number"}))
    post(message(id="wamid.B", type="reaction", reaction={"message_id": "wamid.0"}))  # taken back
    assert set(Message.objects.values_list("automatic", flat=True)) == {True}
    assert Conversation.objects.get().unanswered == 0


def test_a_reaction_is_stored_and_sets_nothing_off() -> None:
    number()
    post(message("Hello"))
    before = ReplyTimer.objects.get().due_at
    post(message(id="wamid.R", type="reaction", reaction={"message_id": "wamid.A", "emoji": "👍"}))
    talk = Conversation.objects.get()
    assert (talk.inbound_count, talk.unanswered) == (1, 1)
    assert ReplyTimer.objects.get().due_at == before
    assert Message.objects.get(provider_id="wamid.R").media == [{"kind": "reaction", "name": "👍", "id": "wamid.A"}]


# ---- what was said on the phone, and before


def test_a_reaction_on_the_phone_answers_nothing_and_takes_nothing_over() -> None:
    number()
    post(message("Hello"))
    echo = {"to": ANA, "id": "wamid.E", "timestamp": str(int(time.time())), "type": "reaction"}
    echo["reaction"] = {"message_id": "wamid.A", "emoji": "👍"}  # type: ignore[assignment]
    value = {"metadata": {"phone_number_id": "101"}, "message_echoes": [echo]}
    assert post(specimens.whatsapp_post(value, field="smb_message_echoes")).status_code == 200
    talk = Conversation.objects.get()
    assert (talk.owner_kind, talk.owner_epoch, talk.unanswered) == (Owner.AGENT, 1, 1)
    assert Message.objects.filter(direction=Direction.OUT).count() == 1
    said = {"text": "Alice here.", "seen": 1, "said": 0}
    assert cast.propose("conversation.send", talk, by=cast.alice(), **said).done, "it is nobody's answer"


def test_what_a_person_writes_on_the_phone_takes_the_conversation_over() -> None:
    number()
    post(message("Hello"))
    now = int(time.time())
    echo = {"from": "15550001111", "to": ANA, "id": "wamid.E", "timestamp": str(now), "type": "text"}
    value = {"metadata": {"phone_number_id": "101"}, "message_echoes": [{**echo, "text": {"body": "Hi, Rui here"}}]}
    for _ in range(2):
        assert post(specimens.whatsapp_post(value, field="smb_message_echoes")).status_code == 200
    talk = Conversation.objects.get()
    assert (talk.owner_kind, talk.unanswered, talk.timer.due_at) == (Owner.PERSON, 0, None)
    said = Message.objects.get(direction=Direction.OUT)
    assert (said.text, said.provider_id) == ("Hi, Rui here", "wamid.E")


def test_what_was_written_before_the_number_was_connected_sets_nothing_off() -> None:
    number()
    old = int(time.time()) - 30 * 86_400
    lines = [
        {"from": ANA, "id": "wamid.1", "timestamp": str(old), "type": "text", "text": {"body": "stop"}},
        {"from": "15550001111", "id": "wamid.2", "timestamp": str(old + 9), "type": "text", "text": {"body": "Sure"}},
    ]
    value = {"metadata": {"phone_number_id": "101"}, "history": [{"threads": [{"id": ANA, "messages": lines}]}]}
    assert post(specimens.whatsapp_post(value, field="history")).status_code == 200
    talk = Conversation.objects.get()
    assert list(talk.messages.values_list("direction", "text", "late")) == [("in", "stop", True), ("out", "Sure", True)]
    assert (talk.owner_kind, talk.inbound_count, talk.unanswered) == (Owner.AGENT, 0, 0)


# ---- what became of our messages


def test_states_come_in_any_order_and_several_times_and_only_move_forward() -> None:
    number()

    def status(state: str, **more: Any) -> int:
        one = {"id": "wamid.S", "status": state, "timestamp": "1900000000", **more}
        return post(specimens.whatsapp_post({"metadata": {"phone_number_id": "101"}, "statuses": [one]})).status_code

    for state in ("delivered", "sent", "read", "delivered", "deleted", "failed", "played", "read"):
        assert status(state) == 200
    assert MessageReport.objects.get().state == "read"
    assert Message.objects.count() == 0
