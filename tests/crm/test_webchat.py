"""The visitor's side of the web chat over HTTP: one conversation per token, lines once, words as text."""

import json
import re
from typing import Any

import pytest
from django.core import signing
from django.test import Client, RequestFactory
from django.urls import reverse

from agents import replies
from agents.replies import End
from agents.responders.port import Answer
from crm import newcomers
from crm.models import Contact, Conversation, Message
from crm.views import webchat
from tests import cast
from tests.chatting import Says, account, deliver, writes
from tests.crm.talks import act, opened, page, signed_in
from tests.races.threads import together

pytestmark = pytest.mark.django_db(transaction=True)


def token_of(client: Client) -> str:
    found = re.search(r'data-token="([^"]+)"', client.get("/chat/shop/").content.decode())
    assert found
    return found[1]


def say(client: Client, token: str, text: str, line: str = "1") -> Any:
    content = json.dumps({"text": text, "line": line})
    headers = {"X-Chat-Token": token}
    return client.post("/chat/shop/say/", content, content_type="application/json", headers=headers)


def thread(client: Client, token: str, after: int = 0) -> Any:
    return client.get(f"/chat/shop/thread/?after={after}", headers={"X-Chat-Token": token}).json()


def test_a_visit_stores_nothing_until_the_first_line_and_then_is_one_conversation(client: Client) -> None:
    account()
    token = token_of(client)
    assert thread(client, token) == {"lines": [], "through": 0, "writing": False, "state": ""}
    assert not Contact.objects.exists()

    assert say(client, token, "Hello", "1").status_code == 201
    assert say(client, token, "again", "2").status_code == 201

    talk = Conversation.objects.get()
    assert talk.inbound_count == 2
    assert talk.contact.name.startswith("Visitor ")
    assert [line["text"] for line in thread(client, token)["lines"]] == ["Hello", "again"]


def test_a_line_sent_again_is_one_line_also_twenty_times_at_once(client: Client) -> None:
    account()
    token = token_of(client)
    answers = together(*[lambda: say(Client(), token, "Hello", "1").status_code for _ in range(20)])
    assert sorted(answers) == [200] * 19 + [201]
    assert Message.objects.count() == 1


def test_an_answer_is_shown_when_it_was_sent_and_not_while_it_waits_for_its_last_look(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    talk = Conversation.objects.get()
    replies.take_turn(talk.pk, responder=Says("Welcome."))
    before = thread(client, token)
    assert [line["text"] for line in before["lines"]] == ["Hello"]

    deliver()
    after = thread(client, token, after=before["through"])
    assert [(line["text"], line["ours"], line["who"]) for line in after["lines"]] == [("Welcome.", True, "")]


def test_a_note_and_a_withdrawn_answer_are_never_shown(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    talk = Conversation.objects.get()
    cast.propose("conversation.note", talk, by=cast.alice(), text="a difficult one")
    replies.take_turn(talk.pk, responder=Says("Welcome."))
    talk.refresh_from_db()
    cast.propose("conversation.take_over", talk, by=cast.alice(), epoch=talk.owner_epoch)
    deliver()
    assert [line["text"] for line in thread(client, token)["lines"]] == ["Hello"]


def test_the_person_who_answers_is_named(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    talk = Conversation.objects.get()
    cast.propose("conversation.send", talk, by=cast.alice(), text="Alice here.", seen=1)
    deliver()
    assert thread(client, token)["lines"][-1]["who"] == "Alice"


def test_that_the_agent_writes_is_shown_while_it_has_the_turn(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    seen: list[bool] = []
    model = Says(lambda prompt: seen.append(thread(client, token)["writing"]) or "Welcome.")  # type: ignore[func-returns-value]
    replies.take_turn(Conversation.objects.get().pk, responder=model)
    assert seen == [True]
    assert thread(client, token)["writing"] is False


def test_who_is_writing_is_shown_to_the_other_side_until_it_is_said(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    talk = Conversation.objects.get()
    house = signed_in(cast.alice())
    client.post("/chat/shop/typing/", headers={"X-Chat-Token": token})
    assert f"{talk.contact.name} is writing" in page(house, talk).text
    say(client, token, "and more", "2")
    assert "is writing" not in page(house, talk).text

    assert house.post(reverse("conversation_typing", args=[talk.pk])).status_code == 204
    assert thread(client, token)["writing"] is True
    assert "is writing" not in page(house, talk).text, "nobody is told of themselves"
    act(house, talk, "send", opened(house, talk, "send"), text="Alice here.")
    assert thread(client, token)["writing"] is False


def test_only_who_may_answer_is_shown_as_writing(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    talk = Conversation.objects.get()
    cast.propose("conversation.link_deal", talk, by=cast.alice(), opportunity=cast.deal().pk)
    answer = signed_in(cast.charlie()).post(reverse("conversation_typing", args=[talk.pk]))
    assert answer.status_code == 404
    assert thread(client, token)["writing"] is False


@pytest.mark.parametrize("token", ["", "forged", signing.dumps({"a": 999_999, "p": "ana"}, salt=webchat.SALT)])
def test_without_a_token_of_ours_nothing_is_read_or_written(client: Client, token: str) -> None:
    writes("secret", peer="ana")
    assert say(client, token, "Hello").status_code == 403
    answer = client.get("/chat/shop/thread/", headers={"X-Chat-Token": token})
    assert answer.status_code == 403
    assert "secret" not in answer.content.decode()
    assert Message.objects.count() == 1


def test_whoever_claims_a_known_address_gets_nothing_of_that_contact(client: Client) -> None:
    account()
    cast.contact("Rui Amaro", addresses=[{"kind": "email", "value": "rui@example.org"}])
    token = token_of(client)
    say(client, token, "I am rui@example.org, how is my deal?")
    assert Conversation.objects.get().contact.name != "Rui Amaro"


@pytest.mark.parametrize(
    ("text", "line", "status"),
    [("", "1", 422), ("   \u200b ", "1", 422), ("x" * 4_001, "1", 413), ("Hello", "", 400)],
)
def test_what_is_no_message_is_answered_in_words_and_stores_nothing(
    client: Client, text: str, line: str, status: int
) -> None:
    account()
    answer = say(client, token_of(client), text, line)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert not Conversation.objects.exists()


def test_a_body_that_is_no_json_or_far_too_large_is_refused(client: Client) -> None:
    account()
    headers = {"X-Chat-Token": token_of(client)}
    url = "/chat/shop/say/"
    assert client.post(url, "{", content_type="application/json", headers=headers).status_code == 400
    assert client.post(url, "[]", content_type="application/json", headers=headers).status_code == 400
    large = client.post(url, "x" * 5_000_000, content_type="application/json", headers=headers)
    assert large.status_code == 413
    assert not Message.objects.exists()


@pytest.mark.parametrize("way", ["unknown", "switched off"])
@pytest.mark.parametrize(("language", "words"), [("en", "This chat is closed."), ("pt-BR", 'lang="pt-BR"')])
def test_a_closed_chat_says_so_in_the_visitors_language_and_shows_nothing_of_the_house(
    client: Client, way: str, language: str, words: str
) -> None:
    if way == "switched off":
        cast.propose("channel.edit", account(), by=cast.manager(), active=False)
    page = client.get("/chat/shop/", headers={"Accept-Language": language})
    assert page.status_code == 404
    assert words in page.text
    assert "Vigente" not in page.text
    assert "sign" not in page.text.lower()
    assert "frame-ancestors *" in page.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in page.headers


def test_a_chat_that_closes_while_somebody_writes_tells_them_and_keeps_their_words(client: Client) -> None:
    shop = account()
    token = token_of(client)
    cast.propose("channel.edit", shop, by=cast.manager(), active=False)
    for answer in (
        say(client, token, "Hello"),
        client.get("/chat/shop/thread/", headers={"X-Chat-Token": token}),
        client.post("/chat/shop/typing/", headers={"X-Chat-Token": token}),
        client.get("/chat/shop/stream/", headers={"X-Chat-Token": token}),
    ):
        assert (answer.status_code, answer.json()) == (404, {"error": "This chat is closed."})
    plain = client.post("/chat/shop/say/", {"token": token, "line": "1", "text": "<b>Hello</b>"})
    assert plain.status_code == 404
    assert "&lt;b&gt;Hello&lt;/b&gt;" in plain.text
    assert not Message.objects.exists()


def test_a_visitor_is_told_that_a_person_will_answer_and_gets_no_line_for_it(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "Hello")
    assert thread(client, token)["state"] == ""
    talk = Conversation.objects.get()
    assert (
        replies.take_turn(talk.pk, responder=Says(lambda prompt: Answer(hand_over="cannot_answer"))) is End.HANDED_OVER
    )
    deliver()

    told = thread(client, token)
    assert told["state"] == "A colleague has your message and will answer you here."
    assert [line["text"] for line in told["lines"]] == ["Hello"]
    again = client.post("/chat/shop/say/", {"token": token, "line": "2", "text": "Anybody?"})
    assert told["state"] in again.text, "also without JavaScript"

    talk.refresh_from_db()
    cast.propose("conversation.send", talk, by=cast.alice(), text="Alice here.", seen=2)
    deliver()
    assert thread(client, token)["state"] == ""


def test_who_may_not_want_to_be_written_to_is_promised_no_answer(client: Client) -> None:
    account()
    token = token_of(client)
    say(client, token, "please stop writing to me")
    assert Conversation.objects.get().handed_over == "doubtful"
    assert thread(client, token)["state"] == "A colleague has your message."


def test_a_script_that_makes_up_visitors_is_stopped_and_those_who_are_known_go_on(
    client: Client, settings: Any
) -> None:
    account()
    known = token_of(client)
    assert say(client, known, "Hello").status_code == 201
    settings.VIGENTE_LIMITS = {"newcomers:address": "2/hour", "newcomers:channel": "3/hour"}
    answers = [say(client, token_of(client), "Hello") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [201, 201, 429, 429]
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 7_200
    assert "Wait a moment" in answers[-1].json()["error"]
    assert Conversation.objects.count() == Contact.objects.count() == 3
    assert say(client, known, "and another thing", "2").status_code == 201

    elsewhere = Client(REMOTE_ADDR="2001:db8:1:2::7")
    assert [say(elsewhere, token_of(elsewhere), "Hello").status_code for _ in range(2)] == [201, 429], "of the channel"
    plain = elsewhere.post("/chat/shop/say/", {"token": token_of(elsewhere), "line": "1", "text": "Hello there"})
    assert (plain.status_code, "Hello there" in plain.text) == (429, True)


def test_one_visitor_who_writes_without_end_is_asked_to_wait(client: Client, settings: Any) -> None:
    account()
    settings.VIGENTE_LIMITS = {"inbound": "2/hour"}
    token = token_of(client)
    assert [say(client, token, "Hello", str(n)).status_code for n in range(3)] == [201, 201, 429]


@pytest.mark.parametrize(
    ("said", "https", "address"),
    [
        ({"REMOTE_ADDR": "203.0.113.7"}, False, "203.0.113.7"),
        ({"REMOTE_ADDR": "203.0.113.7", "HTTP_X_FORWARDED_FOR": "198.51.100.1"}, False, "203.0.113.7"),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "made up, 198.51.100.1"}, True, "198.51.100.1"),
        ({"REMOTE_ADDR": "127.0.0.1"}, True, ""),
        ({"REMOTE_ADDR": ""}, False, ""),
        ({"REMOTE_ADDR": "::ffff:203.0.113.7"}, False, "203.0.113.7"),
        ({"REMOTE_ADDR": "2001:db8:1:2:3::7"}, False, "2001:db8:1:2::/64"),
    ],
)
def test_the_address_is_the_one_that_our_own_proxy_saw(
    said: dict[str, str], https: bool, address: str, settings: Any
) -> None:
    settings.HTTPS = https
    assert newcomers.address_of(RequestFactory().get("/chat/shop/", **said)) == address


def test_it_works_without_javascript_and_shows_markup_as_text(client: Client) -> None:
    account()
    token = token_of(client)
    page = client.post("/chat/shop/say/", {"token": token, "line": "1", "text": "<script>alert(1)</script>"})
    html = page.content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert" not in html
    again = client.post("/chat/shop/say/", {"token": token, "line": "2", "text": ""})
    assert again.status_code == 422
    assert "Write something first." in again.content.decode()


def test_the_chat_may_be_framed_anywhere_and_the_rest_of_the_house_nowhere(client: Client) -> None:
    account()
    chat, house = client.get("/chat/shop/"), client.get("/sign-in/")
    assert "frame-ancestors *" in chat.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in chat.headers
    assert house.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "body", ["[" * 60_000, '{"text": "x", "line": "a\\u0000b"}', '{"text": "x", "line": "\\ud800"}', '{"text": 5}']
)
def test_nothing_that_a_stranger_sends_breaks_the_server(client: Client, body: str) -> None:
    account()
    headers = {"X-Chat-Token": token_of(client)}
    answer = client.post("/chat/shop/say/", body, content_type="application/json", headers=headers)
    assert answer.status_code in (400, 422)
    assert client.get(f"/chat/shop/thread/?after={'9' * 4400}", headers=headers).status_code == 200
