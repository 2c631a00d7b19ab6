"""What Twilio tells us: a form, signed over the address it was sent to and all of its fields."""

import base64
import hashlib
import hmac
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from crm.channels import media, twilio
from crm.models import Contact, Conversation, Message, MessageReport
from crm.views.webhooks import LARGEST
from tests.chatting import account
from tests.fakes.twilio_server import TOKEN
from tests.races.threads import together

pytestmark = pytest.mark.django_db
PATH, STATUS = "/webhooks/twilio/", "/webhooks/twilio/status/"
HERE = "http://testserver"
OURS, ANA = "+558433330001", "+5584987654321"


def sms() -> Any:
    return account(provider="twilio", medium="sms", address=OURS, name="SMS")


def whatsapp() -> Any:
    return account(provider="twilio", medium="whatsapp", address=f"whatsapp:{OURS}", name="WhatsApp by Twilio")


def fields(text: str = "Hello", **more: str) -> dict[str, str]:
    return {"MessageSid": "SM1", "From": ANA, "To": OURS, "Body": text, "NumMedia": "0"} | more


def post(
    sent: dict[str, Any],
    *,
    path: str = PATH,
    signed: str = HERE,
    token: str = TOKEN,
    client: Client | None = None,
    signature: str | None = None,
    **headers: str,
) -> Any:
    form = QueryDict(mutable=True)
    form.update(sent)
    word = twilio.sign(f"{signed}{path}", form, token) if signature is None else signature
    given = {"X-Twilio-Signature": word, **headers} if word else headers
    body = form.urlencode()
    return (client or Client()).post(path, body, content_type="application/x-www-form-urlencoded", headers=given)


def test_the_signature_is_the_one_that_the_provider_documents() -> None:
    """HMAC-SHA1 over the address and the fields, name by name in order; computed here step by step."""
    url = "https://crm.example.org/webhooks/twilio/?a=1"
    form = QueryDict("To=%2B18005551212&From=%2B14158675310&Body=Hi+there&Empty=")
    text = url + "Body" + "Hi there" + "Empty" + "From" + "+14158675310" + "To" + "+18005551212"
    expected = base64.b64encode(hmac.new(b"12345", text.encode(), hashlib.sha1).digest()).decode()
    assert twilio.sign(url, form, "12345") == expected


def test_a_message_is_stored_and_answered_with_empty_twiml() -> None:
    sms()
    answer = post(fields("  Oi, tudo bem? 👋 "))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/xml"
    assert answer.text.endswith("<Response/>")
    line = Message.objects.get()
    talk = line.conversation
    assert (line.text, line.provider_id, line.number) == ("Oi, tudo bem? 👋", "SM1", 1)
    assert (talk.peer, talk.medium, talk.contact.points.get().value_key) == (ANA, "sms", ANA)


def test_whatsapp_by_twilio_is_its_own_channel_and_the_same_contact() -> None:
    sms(), whatsapp()
    post(fields())
    old_form = "whatsapp:+558487654321"
    post(fields(MessageSid="SM2", From=old_form, To=f"whatsapp:{OURS}", ProfileName="Ana <b>"))
    talks = Conversation.objects.order_by("pk").values_list("medium", "peer", "contact__points__value_key")
    assert list(talks) == [("sms", ANA, ANA), ("whatsapp", old_form, ANA)]
    assert Contact.objects.count() == 1


@pytest.mark.parametrize("signature", ["", "x", "é", twilio.sign(f"{HERE}{PATH}", QueryDict("a=1"), TOKEN)])
def test_a_forged_or_unsigned_form_is_refused_logged_and_not_stored(signature: str, caplog: Any) -> None:
    sms()
    assert post(fields(), signature=signature).status_code == 403
    assert post(fields(), token="another").status_code == 403
    assert post(fields(), signed="https://elsewhere.example").status_code == 403
    assert Message.objects.count() == 0
    assert "refused with 403" in caplog.text
    assert "Hello" not in caplog.text


def test_a_field_that_was_added_or_changed_breaks_the_signature() -> None:
    sms()
    form = QueryDict(mutable=True)
    form.update(fields())
    word = twilio.sign(f"{HERE}{PATH}", form, TOKEN)
    assert post(fields("Bye"), signature=word).status_code == 403
    assert post({**fields(), "Extra": "1"}, signature=word).status_code == 403
    assert post(fields(), signature=word).status_code == 200


@pytest.mark.parametrize(
    "outside", ["https://testserver", "https://testserver:443", "http://testserver:80", "https://crm.example.org"]
)
def test_the_address_is_compared_as_it_is_known_outside(outside: str, settings: Any) -> None:
    """A proxy ends HTTPS, hides the port, or calls us by an inner name (VIGENTE_PUBLIC_URL says the outer one)."""
    sms()
    settings.VIGENTE_PUBLIC_URL = "https://crm.example.org"
    assert post(fields(), signed=outside).status_code == 200


def test_without_a_token_nothing_is_believed(settings: Any) -> None:
    sms()
    settings.VIGENTE_TWILIO_AUTH_TOKEN = []
    assert post(fields(), token="").status_code == 403


def test_an_unknown_number_is_answered_404() -> None:
    sms()
    assert post(fields(To="+15550009999")).status_code == 404
    assert Message.objects.count() == 0


@pytest.mark.parametrize("missing", ["MessageSid", "From", "To"])
def test_a_form_without_its_fields_is_answered_400(missing: str) -> None:
    sms()
    assert post({name: value for name, value in fields().items() if name != missing}).status_code == 400
    assert post({}).status_code == 400


def test_five_megabytes_are_refused() -> None:
    sms()
    form = b"Body=" + b"x" * (5 * 1024 * 1024)
    answer = Client().post(PATH, form, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, len(form) > LARGEST) == (413, True)


def test_too_many_fields_or_a_nul_break_nothing() -> None:
    sms()
    assert post({f"f{n}": "x" for n in range(2000)}).status_code == 400
    assert post(fields("a\0b<script>")).status_code == 200
    assert Message.objects.get().text == "ab<script>"


def test_pictures_are_named_and_never_fetched() -> None:
    sms()
    attached = {
        "NumMedia": "2",
        "MediaContentType0": "image/jpeg",
        "MediaUrl0": "https://api.example/Media/ME1",
        "MediaContentType1": "application/pdf",
    }
    post(fields("", **attached, Latitude="-5.8", Longitude="-35.2", Label="Natal"))
    line = Message.objects.get()
    assert [media.words(item) for item in line.media] == [
        "picture: image/jpeg",
        "document: application/pdf",
        "place on the map: Natal (-5.8, -35.2)",
    ]
    assert line.media[0]["id"] == "ME1"


def test_a_reaction_is_stored_and_sets_nothing_off() -> None:
    whatsapp()
    there = {"From": f"whatsapp:{ANA}", "To": f"whatsapp:{OURS}"}
    post(fields("👍", **there, MessageType="reaction", OriginalRepliedMessageSid="SM0"))
    line = Message.objects.get()
    assert (line.text, line.number, line.automatic) == ("", None, True)
    assert line.media == [{"kind": "reaction", "name": "👍", "id": "SM0"}]
    assert Conversation.objects.get().unanswered == 0


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("Liked “Your proposal is ready.”", 0),
        ("Reacted 🎉 to “Line one\nline two”", 0),
        ("Removed a heart from “Hello”", 0),
        ("Laughed at an image", 0),
        ("Loved “Hello” and want to buy", 1),
        ("Liked the demo", 1),
    ],
)
def test_what_a_reaction_becomes_on_its_way_through_sms_is_shown_and_not_answered(text: str, waits: int) -> None:
    sms()
    post(fields(text))
    assert Message.objects.get().text == text
    assert Conversation.objects.get().unanswered == waits


@pytest.mark.django_db(transaction=True)
def test_a_form_told_many_times_at_once_is_stored_once() -> None:
    sms()
    answers = together(*[lambda: post(fields()).status_code] * 20)
    assert set(answers) <= {200, 503}
    assert post(fields()).status_code == 200
    assert (Message.objects.count(), Conversation.objects.count(), Contact.objects.count()) == (1, 1, 1)


def test_states_only_move_forward_and_a_status_is_signed_with_our_key_in_it() -> None:
    sms()
    path = f"{STATUS}?key=reply%3A1%3A1%3A1"
    for state in ("delivered", "queued", "sent", "something-new", "read", "delivered", "undelivered"):
        sent = {"MessageSid": "SM9", "MessageStatus": state, "From": OURS, "To": ANA}
        assert post(sent, path=path).status_code == 200
    report = MessageReport.objects.get()
    assert (report.provider_id, report.state, report.key) == ("SM9", "read", "reply:1:1:1")
    form = QueryDict(mutable=True)
    form.update(sent)
    word = twilio.sign(f"{HERE}{path}", form, TOKEN)
    assert post(sent, path=f"{STATUS}?key=another", signature=word).status_code == 403
    assert post({"MessageSid": "SM9"}, path=path).status_code == 400


def test_only_a_post_is_taken() -> None:
    assert Client().get(PATH).status_code == 405
    assert Client().get(STATUS).status_code == 405
