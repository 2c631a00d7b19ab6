"""What we send goes over real HTTP to a provider with faults, and never twice; what becomes of it comes back so too.

The provider is a local server that speaks its protocol (tests/fakes); its statuses reach us at a live server of ours.
"""

import datetime as dt
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import RequestFactory

from agents import replies
from agents.replies import End
from conflicts.models import Conflict, Delivery, Job, OutboxMessage
from conflicts.models.job import JobState
from crm import accepting
from crm.channels import http, specimens
from crm.channels.events import Echo, Reported
from crm.models import ChannelAccount, Conversation, Message, MessageReport
from crm.models.conversation import Direction, Owner
from crm.thread import thread
from tests import cast
from tests.chatting import Says, account, deliver, due_in, writes
from tests.fakes.provider_server import ProviderServer
from tests.fakes.twilio_server import TwilioServer
from tests.fakes.whatsapp_server import WhatsAppServer, tell

pytestmark = pytest.mark.django_db(transaction=True)
ANA = "5584987654321"


@pytest.fixture
def meta(settings: Any) -> Iterator[WhatsAppServer]:
    with WhatsAppServer() as server:
        settings.VIGENTE_WHATSAPP_URL = server.url
        yield server


@pytest.fixture
def twilio(settings: Any) -> Iterator[TwilioServer]:
    with TwilioServer() as server:
        settings.VIGENTE_TWILIO_URL = server.url
        yield server


def whatsapp_number() -> ChannelAccount:
    return account(provider="whatsapp", medium="whatsapp", address="101", name="WhatsApp")


def sms_number() -> ChannelAccount:
    return account(provider="twilio", medium="sms", address="+558433330001", name="SMS")


def answered(to: ChannelAccount, *, peer: str = ANA, text: str = "Hello Ana") -> Conversation:
    """A customer has written and the agent's answer is queued."""
    talk = writes("Hi", to=to, peer=peer)
    assert replies.take_turn(talk.pk, responder=Says(text)) is End.QUEUED
    return talk


def outgoing() -> OutboxMessage:
    return OutboxMessage.objects.get()


def deliver_now() -> None:
    """As the workers would after the pauses; twice, for work that makes work."""
    for _ in range(2):
        Job.objects.filter(state=JobState.QUEUED).update(due_at=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        deliver()


class Channel:
    """Either provider, as the tests below need it."""

    def __init__(self, server: ProviderServer, number: Callable[[], ChannelAccount], peer: str, tell: Any) -> None:
        self.server, self.number, self.peer, self.tell = server, number, peer, tell


@pytest.fixture(params=["whatsapp", "twilio"])
def channel(request: pytest.FixtureRequest, live_server: Any, settings: Any) -> Channel:
    settings.VIGENTE_PUBLIC_URL = live_server.url
    if request.param == "whatsapp":
        meta: WhatsAppServer = request.getfixturevalue("meta")

        def by_webhook(number: int, state: str) -> int:
            return tell(
                live_server.url, meta.status(number, state, errors=[{"code": 131026, "title": "Undeliverable"}])
            )

        return Channel(meta, whatsapp_number, ANA, by_webhook)
    server: TwilioServer = request.getfixturevalue("twilio")
    server.lists = False  # its list lags behind: only a status can tell
    return Channel(server, sms_number, f"+{ANA}", server.tell_status)


# ---- what is sent


def test_whatsapp_gets_the_text_and_our_key(meta: WhatsAppServer) -> None:
    answered(whatsapp_number(), text="Olá <b>Ana</b> 👋")
    deliver()
    [taken] = meta.taken
    assert taken == {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": ANA,
        "type": "text",
        "text": {"body": "Olá <b>Ana</b> 👋", "preview_url": False},
        "biz_opaque_callback_data": outgoing().key,
        "from": "101",
    }
    assert (outgoing().state, outgoing().remote_id) == (Delivery.SENT, "wamid.1")


def test_a_customer_without_a_number_is_written_to_by_their_id(meta: WhatsAppServer) -> None:
    answered(whatsapp_number(), peer="BR.13491208655302741918")
    deliver()
    assert meta.taken[0]["recipient"] == "BR.13491208655302741918"
    assert "to" not in meta.taken[0]


def test_outside_the_window_an_approved_template_is_sent(meta: WhatsAppServer) -> None:
    talk = writes("Hi", to=whatsapp_number(), peer=ANA)
    for number, approved in enumerate(("welcome_back", "welcome_back:en_US")):
        given = {"slug": f"back-{number}", "name": "Back", "language": "en", "text": "Welcome back"}
        cast.propose("template.create", by=cast.manager(), approved_as=approved, **given)
    for template in ("", "welcome_back", "welcome_back:en_US"):
        said = {"text": "Welcome back", "seen": 1, "said": 0, "anyway": True, "template": template}
        cast.propose("conversation.send", talk, by=cast.alice(), **said)
        talk.refresh_from_db()
    deliver()
    kinds = [m.get("template") for m in meta.taken]
    assert kinds == [
        None,
        {"name": "welcome_back", "language": {"code": "en"}},
        {"name": "welcome_back", "language": {"code": "en_US"}},
    ]


def test_twilio_gets_a_form_with_an_address_for_the_status(twilio: TwilioServer, settings: Any) -> None:
    settings.VIGENTE_PUBLIC_URL = "https://crm.example.org"
    answered(sms_number(), peer=f"+{ANA}")
    deliver()
    key = outgoing().key.replace(":", "%3A")
    assert twilio.taken == [
        {
            "To": f"+{ANA}",
            "From": "+558433330001",
            "Body": "Hello Ana",
            "StatusCallback": f"https://crm.example.org/webhooks/twilio/status/?key={key}",
        }
    ]
    assert (outgoing().state, outgoing().remote_id) == (Delivery.SENT, "SM1")


@pytest.mark.parametrize(
    ("number", "peer", "settings_that_are_missing"),
    [
        (whatsapp_number, ANA, {"VIGENTE_WHATSAPP_TOKEN": ""}),
        (sms_number, f"+{ANA}", {"VIGENTE_TWILIO_ACCOUNT_SID": ""}),
        (sms_number, f"+{ANA}", {"VIGENTE_TWILIO_AUTH_TOKEN": []}),
    ],
)
def test_a_channel_that_is_not_set_up_says_which_setting_is_missing(
    number: Any, peer: str, settings_that_are_missing: dict[str, Any], settings: Any
) -> None:
    for name, value in settings_that_are_missing.items():
        setattr(settings, name, value)
    talk = answered(number(), peer=peer)
    deliver()
    assert outgoing().state == Delivery.FAILED
    [name] = settings_that_are_missing
    assert name in str(outgoing().why)
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.handed_over) == (Owner.PERSON, "undelivered")


# ---- how a sending can end


def test_what_the_provider_will_never_take_comes_before_a_person(channel: Channel) -> None:
    channel.server.faults.append("refuse")
    talk = answered(channel.number(), peer=channel.peer)
    deliver()
    deliver_now()
    assert (outgoing().state, channel.server.taken) == (Delivery.FAILED, [])
    assert outgoing().why is not None
    assert outgoing().why.code == "delivery.refused"  # type: ignore[union-attr]
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.owner, talk.handed_over, talk.unanswered) == (Owner.PERSON, None, "undelivered", 1)
    assert talk.waiting_since is not None, "it waits in the list of the unanswered"
    assert due_in(talk) is None, "the agent does not try again what the channel refuses"
    assert channel.server.requests == 1


@pytest.mark.parametrize("fault", ["throttle", "away"])
def test_what_was_surely_not_taken_waits_and_is_sent_once(channel: Channel, fault: str, settings: Any) -> None:
    settings.VIGENTE_BACKOFF_SECONDS = 60
    channel.server.faults.append(fault)
    answered(channel.number(), peer=channel.peer)
    deliver()
    assert (outgoing().state, channel.server.taken) == (Delivery.QUEUED, [])
    job = Job.objects.get(kind="outbox.deliver")
    assert job.attempts == (0 if fault == "throttle" else 1), "when it said how long, waiting is no attempt"
    deliver_now()
    assert (outgoing().state, len(channel.server.taken)) == (Delivery.SENT, 1)


def test_where_nobody_listens_nothing_has_left(settings: Any) -> None:
    settings.VIGENTE_BACKOFF_SECONDS = 60
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.VIGENTE_WHATSAPP_URL = f"http://127.0.0.1:{closed.getsockname()[1]}"
        answered(whatsapp_number())
        deliver()
    assert outgoing().state == Delivery.QUEUED
    with WhatsAppServer() as server:
        settings.VIGENTE_WHATSAPP_URL = server.url
        deliver_now()
        assert (outgoing().state, len(server.taken)) == (Delivery.SENT, 1)


def test_a_name_that_nobody_can_resolve_is_no_lost_answer(settings: Any) -> None:
    settings.VIGENTE_BACKOFF_SECONDS = 60
    settings.VIGENTE_WHATSAPP_URL = "http://nowhere.invalid"
    answered(whatsapp_number())
    deliver()
    assert outgoing().state == Delivery.QUEUED


LOST = ["cut", "half", "error_before", "error_after", "nonsense", "slow"]


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_waits_for_a_person_and_is_never_sent_again(
    channel: Channel, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "READ", 0.5)
    channel.server.faults.append(fault)
    answered(channel.number(), peer=channel.peer)
    deliver()
    deliver_now()
    assert outgoing().state == Delivery.OUTCOME_UNKNOWN
    assert len(channel.server.taken) == (0 if fault == "error_before" else 1)
    record = Conflict.objects.waiting().get()
    assert record.rule == "delivery.unknown"
    assert channel.server.requests == 1


@pytest.mark.parametrize(("fault", "state"), [("cut", "sent"), ("error_after", "read")])
def test_a_status_that_carries_our_key_settles_what_nobody_could_tell(channel: Channel, fault: str, state: str) -> None:
    channel.server.faults.append(fault)
    talk = answered(channel.number(), peer=channel.peer)
    deliver()
    assert outgoing().state == Delivery.OUTCOME_UNKNOWN

    for again in ("delivered", "sent", state, state):
        assert channel.tell(1, again) == 200
    deliver_now()

    message = outgoing()
    number = MessageReport.objects.get().provider_id
    assert (message.state, message.remote_id, message.reason) == (Delivery.SENT, number, {})
    assert Conflict.objects.waiting().count() == 0, "nobody has to look any more"
    assert len(channel.server.taken) == 1
    talk.refresh_from_db()
    assert (talk.owner_kind, talk.unanswered) == (Owner.AGENT, 0)


def test_a_status_that_comes_before_the_answer_is_lost_is_proof_enough(channel: Channel) -> None:
    """It overtakes the answer: the sender finds it when it looks for what became of its message."""
    channel.server.faults.append("cut")
    accepted = channel.server.accepted

    def and_tell(number: int) -> Any:
        assert channel.tell(number, "sent") == 200
        return accepted(number)

    channel.server.accepted = and_tell  # type: ignore[method-assign]
    answered(channel.number(), peer=channel.peer)
    deliver()
    assert outgoing().state == Delivery.SENT
    assert Conflict.objects.count() == 0


def test_twilio_finds_in_its_list_what_it_took_though_its_answer_was_lost(twilio: TwilioServer) -> None:
    twilio.faults.append("cut")
    answered(sms_number(), peer=f"+{ANA}")
    deliver()
    assert (outgoing().state, outgoing().remote_id, len(twilio.taken)) == (Delivery.SENT, "SM1", 1)


def test_two_messages_in_twilios_list_that_fit_are_no_proof(twilio: TwilioServer) -> None:
    twilio.faults.append("cut")
    talk = answered(sms_number(), peer=f"+{ANA}")
    twilio.take({"To": f"+{ANA}", "From": "+558433330001", "Body": "Hello Ana"})
    deliver()
    assert outgoing().state == Delivery.OUTCOME_UNKNOWN
    assert talk.unanswered == 1


# ---- what became of it


def test_an_answer_that_did_not_arrive_comes_before_a_person_once(channel: Channel) -> None:
    talk = answered(channel.number(), peer=channel.peer)
    deliver()
    assert outgoing().state == Delivery.SENT

    state = "failed"
    for again in ("sent", state, state, "sent"):
        assert channel.tell(1, again) == 200
    deliver_now()
    deliver_now()

    talk.refresh_from_db()
    assert (talk.owner_kind, talk.handed_over, talk.unanswered) == (Owner.PERSON, "undelivered", 1)
    assert Message.objects.get(direction=Direction.OUT).withdrawn
    assert MessageReport.objects.get().error.startswith("131026") or MessageReport.objects.get().error == ""
    assert due_in(talk) is None
    assert len(channel.server.taken) == 1
    assert Job.objects.filter(kind="message.undelivered").count() == 1


def test_a_failure_of_what_nobody_could_tell_of_settles_it_and_comes_before_a_person(channel: Channel) -> None:
    channel.server.faults.append("cut")
    talk = answered(channel.number(), peer=channel.peer)
    deliver()
    assert channel.tell(1, "failed") == 200
    deliver_now()
    talk.refresh_from_db()
    assert (outgoing().state, talk.handed_over, talk.unanswered) == (Delivery.SENT, "undelivered", 1)
    assert Conflict.objects.waiting().count() == 0


def test_a_person_whose_words_did_not_arrive_has_it_in_the_list_again(channel: Channel) -> None:
    talk = writes("Hi", to=channel.number(), peer=channel.peer)
    cast.propose("conversation.send", talk, by=cast.alice(), text="I have it.", seen=1, said=0)
    deliver()
    assert channel.tell(1, "failed") == 200
    deliver_now()
    talk.refresh_from_db()
    assert (talk.owner, talk.handed_over, talk.unanswered) == (cast.alice(), "", 1)


def test_a_failure_after_somebody_else_has_answered_reopens_nothing(channel: Channel) -> None:
    talk = answered(channel.number(), peer=channel.peer)
    deliver()
    said = Message.objects.get(direction=Direction.OUT)
    talk.refresh_from_db()
    writes("And?", to=channel.number(), peer=channel.peer)
    talk.refresh_from_db()
    cast.propose("conversation.send", talk, by=cast.alice(), text="I have it.", seen=2, said=said.pk, anyway=True)
    channel.tell(1, "failed")
    deliver_now()
    talk.refresh_from_db()
    assert (talk.owner, talk.unanswered, talk.handed_over) == (cast.alice(), 0, "")


def test_a_failure_of_what_was_said_on_the_phone_or_elsewhere_is_nobodys_work(meta: WhatsAppServer) -> None:
    number = whatsapp_number()
    accepting.take(number, [Echo(provider_id="wamid.phone", peer=ANA, text="Hi", phone=f"+{ANA}")])
    accepting.take(number, [Reported(provider_id="wamid.phone", state="failed", error="131026")])
    accepting.take(number, [Reported(provider_id="wamid.elsewhere", state="failed", error="131026")])
    deliver_now()
    jobs = dict(Job.objects.filter(kind="message.reported").values_list("key", "state"))
    assert jobs == {
        f"reported:{number.pk}:failed:wamid.phone": JobState.DONE,
        f"reported:{number.pk}:failed:wamid.elsewhere": JobState.QUEUED,  # its message may not be noted yet
    }


def test_the_customers_words_come_in_and_the_answer_goes_out_over_http_both_ways(
    meta: WhatsAppServer, live_server: Any
) -> None:
    whatsapp_number()
    for n, line in enumerate(("hi", "I have", "a question")):
        body = specimens.whatsapp_message(line, number="101", sender=ANA, message_id=f"in.{n}", at=int(time.time()))
        assert tell(live_server.url, body) == 200
    talk = Conversation.objects.get()
    assert replies.take_turn(talk.pk, responder=Says("Ask away.")) is End.QUEUED
    deliver()
    assert [m["text"]["body"] for m in meta.taken] == ["Ask away."]
    for state in ("read", "delivered", "sent"):
        assert tell(live_server.url, meta.status(1, state)) == 200
    assert MessageReport.objects.get(key=outgoing().key).state == "read"
    assert Job.objects.exclude(state=JobState.DONE).count() == 0


def test_the_thread_says_that_it_did_not_arrive_and_not_that_we_took_it_back(meta: WhatsAppServer) -> None:
    request = RequestFactory().get("/")
    request.user = cast.alice()
    number = whatsapp_number()
    failed = answered(number)
    deliver()
    accepting.take(number, [Reported(provider_id="wamid.1", state="failed", error="131026 Undeliverable")])
    meta.faults.append("refuse")
    refused = answered(number, peer="5584911112222")
    deliver_now()
    ways = []
    for talk in (failed, refused):
        talk.refresh_from_db()
        ways += [one.delivery for one in thread(request, talk).told if one.delivery]
    assert [(way.state, way.tone) for way in ways] == [("failed", "bad"), ("failed", "bad")]
    assert ways[0].why == "131026 Undeliverable"
    assert ways[1].why == "WhatsApp Cloud API did not take the message (131026 Message undeliverable)."
