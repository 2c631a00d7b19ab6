"""E-mail: threads, machines and bounces told apart; sent once over a real server, or nobody knows and it is said so."""

import base64
import datetime as dt
import io
import sys
from email.message import EmailMessage
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from agents import replies
from conflicts.models import Conflict, Delivery, OutboxMessage
from conflicts.sentences import Sentence
from crm import accepting
from crm.channels import mail, mail_reading
from crm.models import ChannelAccount, Consent, Conversation, Message, MessageReport, ReplyTimer
from crm.models.conversation import Direction
from tests import cast
from tests.chatting import Says, account, deliver
from tests.fakes.mail_server import Box, mail_server

pytestmark = pytest.mark.django_db(transaction=True)

OURS = "sales@shop.example"


def mailbox(**more: Any) -> ChannelAccount:
    return account(address=OURS, provider="mail", medium="email", name="Sales", **more)


def letter(
    text: str = "Hello", *, number: str = "1", sender: str = "Rui Amaro <rui@client.example>", **headers: str
) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = sender, OURS
    message["Subject"], message["Message-ID"] = headers.pop("Subject", "A question"), f"<{number}@client.example>"
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message


def comes(message: EmailMessage) -> Conversation:
    [taken] = mail.accept(message)
    return Conversation.objects.get(pk=taken.conversation)


@pytest.fixture
def server(settings: Any) -> Any:
    with mail_server() as (port, box):
        options = {"host": "127.0.0.1", "port": port, "timeout": 5}
        settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}}
        yield box


def test_an_answer_finds_its_thread_both_ways_and_another_mail_is_another_conversation(server: Box) -> None:
    mailbox()
    talk = comes(letter("How much?", number="1"))
    replies.take_turn(talk.pk, responder=Says("We look."))
    deliver()
    [sent] = server.mails
    assert (sent["To"], sent["Subject"]) == ("rui@client.example", "Re: A question")
    assert (sent["In-Reply-To"], sent["References"]) == ("<1@client.example>", "<1@client.example>")
    assert sent["Auto-Submitted"] == "auto-replied"

    again = comes(letter("And when?", number="2", In_Reply_To=sent["Message-ID"]))
    other = comes(letter("Something else", number="3"))
    assert again == talk
    assert other != talk
    assert other.contact == talk.contact
    assert OutboxMessage.objects.get().remote_id == sent["Message-ID"]


def test_what_a_person_writes_does_not_call_itself_automatic(server: Box) -> None:
    mailbox()
    talk = comes(letter())
    cast.propose("conversation.send", talk, by=cast.alice(), text="Dear Rui, …", seen=1)
    deliver()
    assert server.mails[0]["Auto-Submitted"] is None
    assert OutboxMessage.objects.get().state == Delivery.SENT


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto-Submitted": "auto-replied"},
        {"Precedence": "bulk"},
        {"List-Id": "<news.client.example>"},
        {"X-Auto-Response-Suppress": "All"},
        {"Return-Path": "<>"},
    ],
)
def test_what_a_machine_wrote_is_stored_and_gets_no_answer(headers: dict[str, str]) -> None:
    mailbox()
    talk = comes(letter("I am away. STOP", **headers))
    stored = Message.objects.get()
    assert (stored.automatic, stored.number) == (True, None)
    assert talk.unanswered == 0
    assert not ReplyTimer.objects.filter(due_at__isnull=False).exists()
    assert not Consent.objects.exists()


def test_our_own_mail_coming_back_is_no_customer() -> None:
    mailbox()
    comes(letter("loop", sender=OURS))
    assert Message.objects.get().automatic


def bounce(original: str, action: str = "failed") -> EmailMessage:
    raw = f"""From: mailer-daemon@client.example
To: {OURS}
Subject: Undelivered
Message-ID: <bounce@client.example>
Content-Type: multipart/report; report-type=delivery-status; boundary=x

--x
Content-Type: text/plain

It could not be delivered.
--x
Content-Type: message/delivery-status

Reporting-MTA: dns; client.example

Final-Recipient: rfc822; rui@client.example
Action: {action}
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 no such user
--x
Content-Type: text/rfc822-headers

Message-ID: {original}
Subject: Re: A question
--x--
"""
    import email
    import email.policy

    return email.message_from_string(raw, policy=email.policy.default)  # type: ignore[return-value,arg-type]


def test_a_bounce_is_a_report_about_our_mail_and_nobodys_message(server: Box) -> None:
    mailbox()
    talk = comes(letter())
    replies.take_turn(talk.pk, responder=Says("We look."))
    deliver()
    sent = OutboxMessage.objects.get()

    mail.accept(bounce(sent.remote_id))

    report = MessageReport.objects.get()
    assert (report.state, report.key, report.provider_id) == ("failed", sent.key, sent.remote_id)
    assert "550" in report.error
    assert Message.objects.filter(direction=Direction.IN).count() == 1
    assert not Consent.objects.exists()
    assert mail.accept(bounce("<unknown@nowhere.example>"))[0].how is accepting.Took.STORED
    assert mail.accept(bounce(sent.remote_id, action="delayed")) == []


def test_a_line_that_breaks_after_the_text_leaves_the_outcome_unknown_and_is_never_sent_again(server: Box) -> None:
    mailbox()
    talk = comes(letter())
    replies.take_turn(talk.pk, responder=Says("We look."))
    server.cut = True
    deliver()
    assert OutboxMessage.objects.get().state == Delivery.OUTCOME_UNKNOWN
    assert Conflict.objects.waiting().count() == 1

    server.cut = False
    deliver()
    assert len(server.mails) == 1


@pytest.mark.parametrize(("answer", "state"), [("550 no such user", "failed"), ("451 try later", "queued")])
def test_a_refusal_for_good_ends_it_and_one_for_now_waits(server: Box, answer: str, state: str, settings: Any) -> None:
    settings.VIGENTE_BACKOFF_SECONDS = 60
    mailbox()
    talk = comes(letter())
    replies.take_turn(talk.pk, responder=Says("We look."))
    server.refuse = answer
    deliver()
    message = OutboxMessage.objects.get()
    assert message.state == state
    if state == "failed":
        assert "550 no such user" in str(Sentence.from_json(message.reason))


def test_no_server_at_all_is_said_so_and_a_server_that_is_away_is_tried_again(settings: Any) -> None:
    mailbox()
    talk = comes(letter())
    replies.take_turn(talk.pk, responder=Says("We look."))
    settings.MAILERS = {}
    deliver()
    assert "VIGENTE_MAIL_HOST" in str(Sentence.from_json(OutboxMessage.objects.get().reason))


def test_html_is_read_as_text_attachments_are_named_and_quotes_are_left_out() -> None:
    mailbox()
    message = letter()
    message.set_content("<p>Hello <b>there</b></p><script>alert(1)</script><p>second</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="offer.pdf")
    comes(message)
    stored = Message.objects.get()
    assert stored.text == "Hello there\nsecond"
    assert stored.media == [{"kind": "application", "name": "offer.pdf", "type": "application/pdf"}]
    quoted = "Yes, please.\n\nOn Mon, 2 Jun 2031 at 10:00, Sales wrote:\n> Do you want it?\n"
    assert mail_reading.unquoted(quoted) == "Yes, please."
    assert mail_reading.unquoted("Sim\n\nEm seg., 2 de jun. de 2031, Sales escreveu:\n> Quer?") == "Sim"


def test_a_subject_with_a_line_break_adds_no_header() -> None:
    box = mailbox()
    payload = {"text": "x", "automatic": True, "headers": {"subject": "Hi\r\nBcc: everyone@client.example"}}
    written = mail.compose(box, "rui@client.example", payload, key="k").message()
    assert written["Bcc"] is None
    assert written["Subject"] == "Hi Bcc: everyone@client.example"


# ---- the command


def piped(monkeypatch: pytest.MonkeyPatch, raw: bytes, *args: str) -> str:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    call_command("receive_email", *args, stdout=out)
    return out.getvalue()


def test_a_mail_on_the_pipe_is_stored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox()
    raw = letter("Olá, João", number="7").as_bytes()
    assert "stored" in piped(monkeypatch, raw)
    assert "known" in piped(monkeypatch, raw)
    assert Message.objects.get().text == "Olá, João"


@pytest.mark.parametrize(
    ("raw", "args", "code"),
    [
        (b"", [], 65),
        (b"no mail at all", [], 65),
        (letter().as_bytes(), ["--to", "nobody@shop.example"], 67),
        (letter(sender="a@b.example").as_bytes().replace(OURS.encode(), b"else@else.example"), [], 67),
    ],
)
def test_what_is_no_mail_of_ours_is_refused_with_the_code_a_mail_server_understands(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, args: list[str], code: int
) -> None:
    mailbox()
    with pytest.raises(CommandError) as error:
        piped(monkeypatch, raw, *args)
    assert error.value.returncode == code
    assert not Conversation.objects.exists()


def test_a_mail_without_a_number_that_comes_twice_is_one_mail() -> None:
    mailbox()
    message = letter()
    del message["Message-ID"]
    first, second = mail.accept(message), mail.accept(message)
    assert (first[0].how, second[0].how) == ("stored", "known")


def test_an_old_mail_sets_nothing_off() -> None:
    mailbox()
    talk = comes(letter(Date=(dt.datetime.now(dt.UTC) - dt.timedelta(days=3)).strftime("%a, %d %b %Y %H:%M:%S +0000")))
    assert Message.objects.get().late
    assert talk.unanswered == 0


# ---- a mail service's webhook


@pytest.fixture
def service(settings: Any) -> Client:
    settings.ROOT_URLCONF = "tests.crm.mail_urls"
    settings.ANYMAIL = {"WEBHOOK_SECRET": "user:word"}
    return Client(headers={"Authorization": "Basic " + base64.b64encode(b"user:word").decode()})


def test_a_mail_service_hands_a_mail_over_and_without_the_secret_nothing_is_believed(service: Client) -> None:
    mailbox()
    content = {
        "RawEmail": letter("by the service").as_string(),
        "OriginalRecipient": OURS,
        "FromFull": {},
        "ToFull": [],
    }
    url = "/anymail/postmark/inbound/"
    assert Client().post(url, content, content_type="application/json").status_code in (400, 403)
    assert not Message.objects.exists()
    for _ in range(2):
        assert service.post(url, content, content_type="application/json").status_code == 200
    assert Message.objects.get().text == "by the service"


def test_a_mail_with_a_large_attachment_is_taken_from_whoever_has_the_secret(service: Client) -> None:
    mailbox()
    message = letter("with a file")
    message.add_attachment(b"x" * 3_000_000, maintype="application", subtype="pdf", filename="offer.pdf")
    content = {"RawEmail": message.as_string(), "OriginalRecipient": OURS, "FromFull": {}, "ToFull": []}
    url = "/anymail/postmark/inbound/"
    for stranger in (Client(), Client(headers={"Authorization": "Basic " + base64.b64encode(b"user:no").decode()})):
        assert stranger.post(url, content, content_type="application/json").status_code in (400, 403)
    assert not Message.objects.exists()
    assert service.post(url, content, content_type="application/json").status_code == 200
    stored = Message.objects.get()
    assert (stored.text, stored.media[0]["name"]) == ("with a file", "offer.pdf")
    too_much = b'{"RawEmail": "' + b"x" * mail.LARGEST + b'"}'
    assert service.post(url, too_much, content_type="application/json").status_code == 413


def test_a_service_that_reports_a_bounce_moves_the_report_forward(service: Client) -> None:
    mailbox()
    talk = comes(letter())
    replies.take_turn(talk.pk, responder=Says("We look."))
    OutboxMessage.objects.update(state="sending")
    OutboxMessage.objects.update(state="sent", remote_id="abc-1")
    event = {
        "RecordType": "Bounce",
        "MessageID": "abc-1",
        "Type": "HardBounce",
        "TypeCode": 1,
        "Email": "rui@client.example",
    }
    event |= {"BouncedAt": "2031-06-02T10:00:00Z", "Description": "no such user", "ID": 1, "Details": "550"}
    assert service.post("/anymail/postmark/tracking/", event, content_type="application/json").status_code == 200
    assert MessageReport.objects.get().state == "failed"


def test_whoever_else_knows_the_thread_does_not_speak_as_the_customer() -> None:
    mailbox()
    talk = comes(letter("How much?", number="1"))
    other = comes(letter("STOP", number="9", sender="mallory@evil.example", In_Reply_To="<1@client.example>"))
    deliver()
    assert other != talk
    assert talk.contact.consents.count() == 0


def test_a_number_or_an_address_of_any_length_is_stored() -> None:
    mailbox()
    sender = f"{'a' * 60}@{'b' * 60}.{'c' * 60}.example"
    talk = comes(letter("Hello", number="x" * 230, sender=sender))
    assert talk.reply_to == sender
