"""Writing first: from a contact's page, where channel and contact allow it; begun once, however often it is pressed."""

import pytest
from django.urls import reverse

from conflicts.models import OutboxMessage
from crm.models import ChannelAccount, Contact, Conversation, Message
from crm.models.conversation import Owner
from tests import cast
from tests.chatting import account, writes
from tests.crm.deal_pages import form, signed_in, text, words

pytestmark = pytest.mark.django_db

NEW = "/inbox/new/"


def mailbox() -> ChannelAccount:
    return account(address="sales@x.org", name="Sales", provider="mail", medium="email")


def rui(**more: object) -> Contact:
    points = [{"kind": "email", "value": "rui@example.org"}, {"kind": "phone", "value": "+5511955500131"}]
    return cast.contact("Rui Amaro", addresses=points, **more)


def test_a_person_begins_a_conversation_once_and_it_is_theirs() -> None:
    mailbox()
    contact = rui()
    alice = signed_in(cast.alice())
    assert f"{NEW}?contact={contact.pk}" in text(alice.get(reverse("contact", args=[contact.pk])))
    fields = form(alice.get(NEW, {"contact": contact.pk}), NEW) | {"text": "Good morning, Rui"}
    for _ in range(2):
        answer = alice.post(NEW, fields)
        assert answer.status_code == 302
    talk = Conversation.objects.get()
    assert answer["Location"].startswith(reverse("conversation", args=[talk.pk]))
    assert (talk.owner_kind, talk.owner, talk.contact, talk.reply_to) == (
        Owner.PERSON,
        cast.alice(),
        contact,
        "rui@example.org",
    )
    assert [one.text for one in Message.objects.all()] == ["Good morning, Rui"]
    assert OutboxMessage.objects.get().payload["to"] == "rui@example.org"


def test_of_several_ways_one_is_chosen_and_a_chat_on_a_site_is_none() -> None:
    account()
    mailbox()
    account(address="100", name="WhatsApp", provider="whatsapp", medium="whatsapp")
    contact = rui()
    shown = words(signed_in(cast.alice()).get(NEW, {"contact": contact.pk}))
    assert "How do you write to Rui Amaro?" in shown
    assert "WhatsApp, +55" in shown
    assert "web chat" not in shown


def test_who_has_a_conversation_there_is_led_to_it() -> None:
    number = account(address="100", provider="whatsapp", medium="whatsapp")
    contact = rui()
    talk = writes("Oi", to=number, peer="5511955500131", phone="+5511955500131")
    assert talk.contact == contact
    answer = signed_in(cast.alice()).get(NEW, {"contact": contact.pk})
    assert answer["Location"] == reverse("conversation", args=[talk.pk])


def test_without_an_address_or_a_channel_the_page_says_so() -> None:
    contact = cast.contact("Rui Amaro")
    mailbox()
    assert "No channel leads there" in words(signed_in(cast.alice()).get(NEW, {"contact": contact.pk}))
    assert signed_in(cast.alice()).get(NEW, {"contact": 10**6}).status_code == 404
    assert signed_in(cast.alice()).get(NEW).status_code == 404


@pytest.mark.parametrize("rule", ["refused", "blocked"])
def test_what_the_contact_does_not_want_is_not_begun(rule: str) -> None:
    mailbox()
    contact = rui(blocked=rule == "blocked")
    if rule == "refused":
        cast.propose("contact.state_consent", contact, by=cast.alice(), channel="email", status="refused", source="x")
    alice = signed_in(cast.alice())
    shown = alice.get(NEW, {"contact": contact.pk})
    assert "Nothing was sent." in words(shown)
    fields = form(shown, NEW) | {"text": "Hello anyway"}
    answer = alice.post(NEW, fields)
    assert answer.status_code == 409
    assert not Conversation.objects.exists()


def test_on_whatsapp_a_person_begins_with_an_approved_template() -> None:
    account(address="100", name="WhatsApp", provider="whatsapp", medium="whatsapp")
    contact = rui()
    values = {"name": "Back", "text": "Hello {contact}", "language": "en"}
    cast.propose("template.create", by=cast.manager(), slug="back", approved_as="back_1", **values)
    cast.propose("template.create", by=cast.manager(), slug="free", **values)
    alice = signed_in(cast.alice())
    shown = alice.get(NEW, {"contact": contact.pk})
    assert "template=back" in text(shown)
    assert "template=free" not in text(shown)
    assert alice.post(NEW, form(shown, NEW) | {"text": "Hi"}).status_code == 409
    chosen = alice.get(NEW, {"contact": contact.pk, "template": "back"})
    assert alice.post(NEW, form(chosen, NEW) | {"key": "k"}).status_code == 302
    assert OutboxMessage.objects.get().payload["template"] == "back_1"


def test_an_empty_message_begins_nothing() -> None:
    mailbox()
    contact = rui()
    alice = signed_in(cast.alice())
    answer = alice.post(NEW, form(alice.get(NEW, {"contact": contact.pk}), NEW) | {"text": "  "})
    assert answer.status_code == 422
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    ("provider", "medium", "peer"),
    [
        ("whatsapp", "whatsapp", "5511955500131"),
        ("twilio", "whatsapp", "whatsapp:+5511955500131"),
        ("twilio", "sms", "+5511955500131"),
    ],
)
def test_the_customers_answer_will_find_the_conversation(provider: str, medium: str, peer: str) -> None:
    number = account(address="100", provider=provider, medium=medium)
    contact = rui()
    values = {"slug": "back", "name": "Back", "text": "Hello", "language": "en", "approved_as": "back_1"}
    cast.propose("template.create", by=cast.manager(), **values)
    alice = signed_in(cast.alice())
    fields = form(alice.get(NEW, {"contact": contact.pk, "template": "back"}), NEW)
    assert alice.post(NEW, {"text": "Hello"} | fields | {"key": "k"}).status_code == 302
    talk = writes("Oi", to=number, peer=peer, phone="+5511955500131")
    assert Conversation.objects.get() == talk
    assert talk.reply_to == peer
