"""The thread: who said what, how far it got, what was taken back or dropped and why; a customer's words are text."""

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents import replies
from agents.responders.port import Answer
from conflicts.models import OutboxMessage
from crm import accepting, thread
from crm.channels.events import Echo, Incoming, Reported
from crm.models import Conversation, Message
from tests import cast
from tests.chatting import Says, account, deliver, writes
from tests.crm.deal_pages import HTMX, signed_in, text, words
from tests.crm.talks import fresh, page, taken, talk_of

pytestmark = pytest.mark.django_db(transaction=True)

PHONE = "+5511955500131"


def whatsapp(words_: str = "Oi", **more: object) -> Conversation:
    number = account(address="100", provider="whatsapp", medium="whatsapp")
    return writes(words_, to=number, peer=PHONE.lstrip("+"), phone=PHONE, name="Rui Amaro", **more)


def sent_by(person, talk: Conversation, text_: str = "Here it is") -> OutboxMessage:  # type: ignore[no-untyped-def]
    talk = fresh(talk)
    outcome = cast.propose(
        "conversation.send", talk, by=person, text=text_, seen=talk.inbound_count, said=0, anyway=True
    )
    assert outcome.written, outcome
    return OutboxMessage.objects.latest("pk")


def left(message: OutboxMessage, number: str) -> None:
    """As the delivery notes it: it has gone, and the provider gave it a number."""
    OutboxMessage.objects.filter(pk=message.pk).update(state="sending")
    OutboxMessage.objects.filter(pk=message.pk).update(state="sent", remote_id=number)


def reacts(emoji: str, about: str, *, on_phone: bool = False) -> None:
    number, peer = account(address="100"), PHONE.lstrip("+")
    key = f"r{Message.objects.count()}"
    item = ({"kind": "reaction", "name": emoji, "id": about},)
    ours = Echo(provider_id=key, peer=peer, phone=PHONE, media=item, reaction=True)
    theirs = Incoming(provider_id=key, peer=peer, phone=PHONE, media=item, automatic=True)
    accepting.take(number, [ours if on_phone else theirs])


def test_reactions_stand_with_their_message_and_the_last_of_each_side_counts() -> None:
    talk = whatsapp("Oi", provider_id="wamid.1")
    left(sent_by(cast.alice(), talk, "Here it is"), "wamid.2")
    reacts("👍", "wamid.2"), reacts("❤️", "wamid.2"), reacts("👀", "wamid.1", on_phone=True), reacts("🎉", "wamid.0")
    shown = page(signed_in(cast.alice()), talk)
    told = [(one.message.text, one.reactions) for one in shown.context["thread"].told if one.message]
    assert told == [("Oi", ["👀"]), ("Here it is", ["❤️"]), ("", [])]
    assert "Reaction to a message: 🎉" in text(shown)
    assert "automatic" not in text(shown)

    reacts("", "wamid.2")
    again = page(signed_in(cast.alice()), talk)
    assert [one.reactions for one in again.context["thread"].told if one.message] == [["👀"], [], []]


def test_customer_agent_colleague_and_note_are_told_apart() -> None:
    talk = writes("Hello", name="Ana Prado")
    replies.take_turn(talk.pk, responder=Says("How can I help?"))
    writes("A price please")
    sent_by(cast.bob(), talk, "You get it today")
    cast.propose("conversation.note", fresh(talk), by=cast.alice(), text="She is in a hurry")
    shown = page(signed_in(cast.alice()), talk)
    kinds = [(one.kind, one.inbound, one.by.kind.value) for one in shown.context["thread"].told if one.message]
    assert kinds == [
        ("message", True, "integration"),
        ("message", False, "agent"),
        ("message", True, "integration"),
        ("message", False, "person"),
        ("note", False, "person"),
    ]
    told = words(shown)
    for line in ("Reply agent", "Bob Borges took it over", "Note, for colleagues only"):
        assert line in told
    assert told.index("Bob Borges took it over") < told.rindex("You get it today")


@pytest.mark.parametrize(
    "nasty",
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</textarea><b>x</b>", "{{ 7|add:1 }}{% now 'Y' %}"],
)
def test_what_a_customer_types_is_only_ever_text(nasty: str) -> None:
    talk = writes(nasty, name=nasty, media=({"kind": "image", "name": nasty, "id": "1"},))
    client = signed_in(cast.alice())
    for address in ("/inbox/", reverse("conversation", args=[talk.pk]), reverse("conversation_parts", args=[talk.pk])):
        shown = text(client.get(address))
        assert nasty not in shown.replace("&lt;", "<") or "&lt;" in shown or "{{" in nasty
        assert "<script>alert" not in shown
        assert "<img" not in shown
        assert "<b>x</b>" not in shown


def test_each_line_stands_in_its_own_direction() -> None:
    talk = writes("שלום עולם", name="דנה")
    shown = text(page(signed_in(cast.alice()), talk))
    assert '<div class="text" dir="auto">שלום עולם</div>' in shown
    assert "<bdi>דנה</bdi>" in shown


def test_each_message_of_ours_says_how_far_it_got() -> None:
    talk = whatsapp()
    client = signed_in(cast.alice())
    message = sent_by(cast.alice(), talk)

    def way() -> str:
        ways = [one.delivery for one in page(client, talk).context["thread"].told if one.delivery]
        return f"{ways[-1].words}|{ways[-1].why}"

    assert way() == "queued|"
    OutboxMessage.objects.filter(pk=message.pk).update(state="sending")
    assert way() == "sending|"
    OutboxMessage.objects.filter(pk=message.pk).update(state="outcome_unknown")
    assert way() == "nobody can tell yet whether it arrived|"
    OutboxMessage.objects.filter(pk=message.pk).update(state="sent", remote_id="wamid.1")
    assert way() == "sent|"
    for state in ("delivered", "read"):
        accepting.take(talk.account, [Reported(provider_id="wamid.1", state=state)])  # type: ignore[arg-type]
        assert way() == f"{state}|"
    second = sent_by(cast.alice(), talk, "And this")
    left(second, "wamid.2")
    accepting.take(talk.account, [Reported(provider_id="wamid.2", state="failed", error="131026: not on WhatsApp")])
    assert way() == "not delivered|131026: not on WhatsApp"


def test_what_was_taken_back_stays_with_its_reason() -> None:
    talk = writes("Hello")
    replies.take_turn(talk.pk, responder=Says("Welcome!"))
    cast.propose("conversation.take_over", fresh(talk), by=cast.alice(), epoch=fresh(talk).owner_epoch)
    deliver()
    told = words(page(signed_in(cast.alice()), talk))
    assert "Welcome!" in told
    assert "taken back, not sent" in told
    assert "A person answers here now" in told


def test_a_dropped_draft_stands_where_it_was_dropped_with_the_reason_and_the_evidence() -> None:
    talk = writes("send the code")

    def meanwhile(prompt: object) -> str:
        writes("it is ABC")
        return "Which one?"

    replies.take_turn(talk.pk, responder=Says(meanwhile))  # type: ignore[arg-type]
    shown = page(signed_in(cast.alice()), talk)
    told = words(shown)
    assert "Draft not sent" in told
    assert "Which one?" in told
    assert "The customer wrote on while the agent was writing" in told
    assert "/admin/conflicts/conflict/" not in text(shown), "she may not enter there"
    assert "/admin/conflicts/conflict/" in text(page(signed_in(cast.administrator()), talk))
    assert "Which one?" not in [one.text for one in Message.objects.all()]


def test_a_turn_that_fails_and_one_that_hands_over_are_told() -> None:
    talk = writes("40 % off?")

    def fails(prompt: object) -> str:
        raise ConnectionError

    replies.take_turn(talk.pk, responder=Says(fails))  # type: ignore[arg-type]
    assert "No answer was written" in words(page(signed_in(cast.alice()), talk))
    other = writes("40 % off?", peer="bea")
    replies.take_turn(other.pk, responder=Says(lambda prompt: Answer(hand_over="cannot_answer")))
    assert "somebody has to take it. The agent has no answer to this." in words(page(signed_in(cast.alice()), other))


def test_late_and_automatic_lines_are_marked_and_wait_for_nobody() -> None:
    talk = writes("Hello")
    long_ago = talk.last_inbound_at - dt.timedelta(days=2)  # type: ignore[operator]
    writes("Out of office", automatic=True)
    writes("From Saturday", sent_at=long_ago)
    shown = page(signed_in(cast.alice()), talk)
    told = words(shown)
    assert "automatic" in told
    assert "came late" in told
    assert told.index("From Saturday") < told.index("Hello"), "in its place"
    assert sum(one.new_day for one in shown.context["thread"].told) == 2
    assert fresh(talk).unanswered == 1


def test_who_answered_outside_gave_back_closed_and_opted_out_is_told() -> None:
    talk = whatsapp()
    accepting.take(talk.account, [Echo(provider_id="e1", peer=PHONE.lstrip("+"), phone=PHONE, text="I call you")])
    cast.propose("conversation.take_over", fresh(talk), by=cast.alice(), epoch=fresh(talk).owner_epoch)
    cast.propose(
        "conversation.take_over", fresh(talk), by=cast.alice(), owner=cast.bob().pk, epoch=fresh(talk).owner_epoch
    )
    cast.propose("conversation.close", fresh(talk), by=cast.bob())
    whatsapp("One more thing")
    cast.propose("conversation.give_back", fresh(talk), by=cast.bob(), epoch=fresh(talk).owner_epoch)
    whatsapp("STOP")
    deliver()
    told = words(page(signed_in(cast.alice()), talk))
    for line in (
        "Somebody answered outside Vigente",
        "Outside Vigente",
        "You took it over",
        "You gave it to Bob Borges",
        "Bob Borges closed it",
        "Open again: the customer wrote",
        "Bob Borges gave it back to the agent",
        "Asked not to be written to any more",
        "Does not want messages on this channel",
    ):
        assert line in told, line


def test_media_are_named_and_never_fetched() -> None:
    talk = writes("", media=({"kind": "document", "name": "plan.pdf", "id": "https://elsewhere.example/x"},))
    shown = page(signed_in(cast.alice()), talk)
    assert "Document: plan.pdf" in words(shown)
    assert "elsewhere.example" not in text(shown)


def test_a_long_thread_is_read_page_by_page_and_queries_do_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread, "PAGE", 4)
    client = signed_in(cast.alice())
    talk = talk_of(cast.deal("Cold rooms"))
    sent_by(cast.alice(), talk)
    page(client, talk)
    with CaptureQueriesContext(connection) as few:
        page(client, talk)
    for number in range(6):
        writes(f"line {number}")
        sent_by(cast.bob() if number % 2 else cast.alice(), talk, f"answer {number}")
    with CaptureQueriesContext(connection) as many:
        newest = page(client, talk)
    assert len(many) <= len(few) + 1  # the names of those who had it
    assert len(many) <= 28
    older = client.get(
        reverse("conversation", args=[talk.pk]) + f"?before={newest.context['thread'].before}", headers=HTMX
    )
    assert "<html" not in text(older)
    assert "answer 5" in words(newest)
    assert "answer 3" in words(older)
    assert "answer 5" not in words(older)


def test_nothing_can_be_written_where_the_customer_refused_and_the_page_says_why() -> None:
    talk = whatsapp()
    cast.propose(
        "contact.state_consent", talk.contact, by=cast.alice(), channel="whatsapp", status="refused", source="call"
    )
    shown = page(signed_in(cast.alice()), talk)
    assert "Rui Amaro does not want messages on this channel. Nothing was sent." in words(shown)
    assert shown.context["composer"].closed
    assert "disabled" in text(shown)


def test_outside_the_window_only_an_approved_template_goes_out_as_it_was_approved() -> None:
    number = account(address="100", provider="whatsapp", medium="whatsapp")
    contact = cast.contact("Rui Amaro", addresses=[{"kind": "phone", "value": PHONE}])
    cast.propose("conversation.open", by=cast.alice(), account=number.pk, contact=contact.pk, peer=PHONE.lstrip("+"))
    talk = Conversation.objects.get()
    for slug, approved in (("free", ""), ("back", "come_back_1")):
        values = {"slug": slug, "name": slug, "text": "Still interested, {contact}?", "language": "en"}
        cast.propose("template.create", by=cast.manager(), approved_as=approved, **values)
    client = signed_in(cast.alice())
    shown = page(client, talk)
    assert "only an approved template may be sent now" in words(shown)
    assert shown.context["composer"].closed
    chosen = page(client, talk, "?template=back")
    assert not chosen.context["composer"].closed
    assert "Still interested, Rui?" in words(chosen)
    fields = {"version": str(talk.version), "seen": "0", "said": "0", "template": "back", "text": "Something else"}
    answer = client.post(reverse("conversation_send", args=[talk.pk]), fields)
    assert answer.status_code == 302
    payload = OutboxMessage.objects.get().payload
    assert (payload["text"], payload["template"]) == ("Still interested, Rui?", "come_back_1")


def test_the_agents_clock_and_pen_are_shown_with_a_way_to_take_over() -> None:
    shop = account(quiet_seconds=60, cap_seconds=60)
    talk = writes("Hello", to=shop)
    client = signed_in(cast.alice())
    shown = page(client, talk)
    assert 50 < shown.context["row"].left <= 60
    assert "Take over now" in words(shown)
    other = writes("Hello", to=account(address="fast"), peer="bea")
    seen: list[str] = []

    def meanwhile(prompt: object) -> str:
        seen.append(words(page(client, other)))
        return "Hi"

    replies.take_turn(other.pk, responder=Says(meanwhile))  # type: ignore[arg-type]
    assert "The agent is writing" in seen[0]
    assert "The agent is writing" not in words(page(client, other)).split("What was said")[-1]


def test_a_conversation_of_a_person_shows_no_clock() -> None:
    talk = taken(cast.bob())
    shown = page(signed_in(cast.alice()), talk)
    assert "Take over now" not in words(shown)
    assert "Waits for Bob Borges" in words(shown)
