"""What is done in a conversation: each form, once, on what its author had seen; and nothing typed is ever lost."""

import pytest
from django.urls import reverse

from agents import replies
from conflicts.models import Conflict
from crm.models import Message
from crm.models.conversation import Direction, Owner
from tests import cast
from tests.chatting import Says, due_in, writes
from tests.crm.deal_pages import signed_in, text, words
from tests.crm.talks import act, fresh, opened, page, said, taken, talk_of

pytestmark = pytest.mark.django_db(transaction=True)

EVERY = ("send", "note", "take_over", "give_back", "assign", "status", "deal")


@pytest.mark.parametrize("htmx", [False, True], ids=["form", "htmx"])
def test_a_message_is_queued_once_and_the_conversation_is_its_authors(htmx: bool) -> None:
    talk = writes("Hello")
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "send") | {"text": "Good morning"}
    for _ in range(2):  # a double click
        assert act(alice, talk, "send", fields, htmx=htmx).status_code == (200 if htmx else 302)
    assert said(talk) == ["Good morning"]
    talk = fresh(talk)
    assert (talk.owner_kind, talk.owner, talk.unanswered) == (Owner.PERSON, cast.alice(), 0)
    assert due_in(talk) is None, "the agent's clock is stopped"


@pytest.mark.parametrize("htmx", [False, True], ids=["form", "htmx"])
def test_when_a_colleague_answers_meanwhile_the_message_comes_back_with_theirs(htmx: bool) -> None:
    talk = taken(cast.alice())
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "send")
    cast.propose("conversation.send", talk, by=cast.bob(), text="It costs 40", seen=1, said=0)

    answer = act(alice, talk, "send", fields, text="It costs 45", htmx=htmx)

    assert answer.status_code == 409
    assert said(talk) == ["It costs 40"]
    told = words(answer)
    assert "Bob Borges answered while you were writing" in told
    assert "Send as well" in told
    assert ">It costs 45</textarea>" in text(answer)
    again = dict(fields) | {
        name: str(getattr(answer.context["composer"], name)) for name in ("version", "seen", "said", "settles")
    }
    cast.propose("conversation.send", fresh(talk), by=cast.bob(), text="And 5 more", seen=1, said=10**6)
    third = act(alice, talk, "send", again | {"key": "second"}, text="It costs 45")
    assert third.status_code == 409, "what was said after that is shown again"
    again |= {name: str(getattr(third.context["composer"], name)) for name in ("version", "said", "settles")}
    assert act(alice, talk, "send", again | {"key": "third"}, text="It costs 45").status_code == 302
    assert said(talk) == ["It costs 40", "And 5 more", "It costs 45"]


def test_the_agents_answer_meanwhile_is_shown_too_and_one_may_leave_it_at_that() -> None:
    talk = writes("Hello")
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "send")
    replies.take_turn(talk.pk, responder=Says("How can I help?"))
    answer = act(alice, talk, "send", fields, text="Hi there")
    assert "Reply agent answered while you were writing" in words(answer)
    record = Conflict.objects.waiting().get()
    left = {"leave": "1", "settles": str(record.pk)}
    assert act(signed_in(cast.bob()), talk, "send", left).status_code == 302
    assert Conflict.objects.waiting().exists(), "it is hers"
    assert act(alice, talk, "send", left).status_code == 302
    assert not Conflict.objects.waiting().exists()
    assert said(talk) == ["How can I help?"]


def test_what_the_customer_wrote_after_the_page_was_opened_stays_unanswered() -> None:
    talk = taken(cast.alice())
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "send")
    writes("And by when?")
    assert act(alice, talk, "send", fields, text="40 each").status_code == 302
    assert (fresh(talk).unanswered, said(talk)) == (1, ["40 each"])


@pytest.mark.parametrize(("typed", "status"), [("", 409), ("   ", 409), ("x" * 20_001, 422)])
def test_a_message_that_cannot_be_sent_comes_back_as_it_was_typed(typed: str, status: int) -> None:
    talk = taken(cast.alice())
    alice = signed_in(cast.alice())
    answer = act(alice, talk, "send", opened(alice, talk, "send"), text=typed)
    assert answer.status_code == status
    assert answer.context["composer"].text == typed
    assert answer.context["composer"].fault
    assert said(talk) == []


def test_html_in_a_message_of_ours_is_text_too() -> None:
    talk = taken(cast.alice())
    alice = signed_in(cast.alice())
    act(alice, talk, "send", opened(alice, talk, "send"), text="<b>bold</b>")
    assert "<b>bold</b>" not in text(page(alice, talk))
    assert "&lt;b&gt;bold&lt;/b&gt;" in text(page(alice, talk))


def test_a_note_is_for_colleagues_and_takes_nothing_over() -> None:
    talk = writes("Hello")
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "note")
    for _ in range(2):
        act(alice, talk, "note", fields, text="Careful with this one")
    assert Message.objects.filter(direction=Direction.NOTE).count() == 1
    assert fresh(talk).is_agents
    empty = act(alice, talk, "note", opened(alice, talk, "note"), text=" ")
    assert empty.status_code == 409
    assert "The message has no text" in words(empty)


def test_take_over_give_back_and_give_to_a_colleague() -> None:
    talk = writes("Hello")
    alice = signed_in(cast.alice())
    act(alice, talk, "take_over", opened(alice, talk, "take_over"))
    assert fresh(talk).owner == cast.alice()
    fields = opened(alice, talk, "assign") | {"owner": str(cast.bob().pk)}
    act(alice, talk, "assign", fields)
    assert fresh(talk).owner == cast.bob()
    act(alice, talk, "give_back", opened(alice, talk, "give_back"))
    assert fresh(talk).is_agents
    assert due_in(talk) is not None, "what is unanswered is the agent's to answer"


def test_who_comes_second_is_told_who_has_it_and_can_take_it_from_there() -> None:
    talk = writes("Hello")
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "take_over")
    cast.propose("conversation.take_over", talk, by=cast.bob(), epoch=talk.owner_epoch)
    answer = act(alice, talk, "take_over", fields)
    assert answer.status_code == 409
    assert "Bob Borges has changed who answers" in words(answer)
    assert fresh(talk).owner == cast.bob()
    assert not Conflict.objects.waiting().exists(), "being told is all there is to it"
    act(alice, talk, "take_over", opened(alice, talk, "take_over"))
    assert fresh(talk).owner == cast.alice()


def test_nobody_is_given_what_they_may_not_see() -> None:
    talk = talk_of(cast.deal("Cold rooms"))
    cast.charlie()
    alice = signed_in(cast.alice())
    assert cast.charlie() not in page(alice, talk).context["people"]
    fields = opened(alice, talk, "assign") | {"owner": str(cast.charlie().pk)}
    assert act(alice, talk, "assign", fields).status_code == 422
    assert fresh(talk).is_agents


def test_closing_rests_on_what_the_customer_had_said_and_they_open_it_again() -> None:
    talk = taken(cast.alice())
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "status")
    writes("One more thing")
    assert act(alice, talk, "status", fields).status_code == 409
    assert fresh(talk).status == "open"
    act(alice, talk, "status", opened(alice, talk, "status"))
    assert (fresh(talk).status, fresh(talk).unanswered) == ("closed", 0)
    act(alice, talk, "status", opened(alice, talk, "status", to="open"))
    assert fresh(talk).status == "open"
    act(alice, talk, "status", opened(alice, talk, "status"))
    writes("Hello again")
    assert fresh(talk).status == "open"


def test_a_deal_is_chosen_among_those_of_the_contact_that_one_sees() -> None:
    talk = taken(cast.alice())
    mine = cast.deal("Mine", contact=talk.contact_id)
    hidden = cast.deal("Hidden", owner=cast.charlie(), contact=talk.contact_id)
    alice = signed_in(cast.alice())
    shown = page(alice, talk)
    assert "Mine" in words(shown)
    assert "Hidden" not in words(shown)
    fields = opened(alice, talk, "deal")
    assert act(alice, talk, "deal", fields, opportunity=str(hidden.pk)).status_code == 422
    assert act(alice, talk, "deal", fields, opportunity=str(mine.pk)).status_code == 302
    assert fresh(talk).opportunity == mine
    assert "You said it is about “Mine”" in words(page(alice, talk))


@pytest.mark.parametrize("name", EVERY)
def test_charlie_finds_no_form_of_another_teams_conversation(name: str) -> None:
    talk = talk_of(cast.deal("Cold rooms"))
    before = fresh(talk).version
    fields = {"version": str(talk.version), "seen": "1", "said": "0", "epoch": "1", "text": "x", "owner": "1"}
    assert act(signed_in(cast.charlie()), talk, name, fields).status_code == 404
    assert fresh(talk).version == before


@pytest.mark.parametrize("name", EVERY)
def test_a_form_without_what_it_was_shown_with_writes_nothing(name: str) -> None:
    talk = taken(cast.alice())
    alice, before = signed_in(cast.alice()), fresh(talk).version
    assert act(alice, talk, name, {"text": "x", "owner": str(cast.bob().pk)}).status_code == 428
    for fields in ({"version": "1"}, {"version": "1", "seen": "x", "epoch": "-1"}):
        assert act(alice, talk, name, fields, text="").status_code in (400, 409, 422)
    assert fresh(talk).version == before


def test_a_template_is_filled_in_and_can_be_edited_before_it_is_sent() -> None:
    talk = taken(cast.alice())
    cast.propose("template.create", by=cast.manager(), slug="hi", name="Hi", text="Hello {contact}", language="en")
    alice = signed_in(cast.alice())
    assert 'data-fill="Hello ana"' in text(page(alice, talk))
    shown = page(alice, talk, "?template=hi")
    assert ">Hello ana</textarea>" in text(shown)
    assert 'data-editing="message"' in text(shown), "live news leave it alone"
    fields = {name: str(getattr(shown.context["composer"], name)) for name in ("version", "seen", "said")}
    act(alice, talk, "send", fields, text="Hello ana, and welcome")
    assert said(talk) == ["Hello ana, and welcome"]


def test_the_review_queue_leads_back_to_the_conversation() -> None:
    talk = taken(cast.alice())
    alice = signed_in(cast.alice())
    fields = opened(alice, talk, "send")
    cast.propose("conversation.send", talk, by=cast.bob(), text="It costs 40", seen=1, said=0)
    act(alice, talk, "send", fields, text="It costs 45")
    record = Conflict.objects.waiting().get()
    administrator = signed_in(cast.administrator())
    shown = administrator.get(reverse("admin:conflicts_conflict_change", args=[record.pk]))
    assert shown.status_code == 200
    assert reverse("conversation", args=[talk.pk]) in text(shown)
