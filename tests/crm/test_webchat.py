"""The visitor's side of the web chat over HTTP: one conversation per token, lines once, words as text."""

import json
import re
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from agents import replies
from crm.models import Contact, Conversation, Message
from crm.views import webchat
from tests import cast
from tests.chatting import Says, account, deliver, writes
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
    assert thread(client, token) == {"lines": [], "through": 0, "writing": False}
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


def test_an_unknown_chat_and_one_out_of_use_are_not_there(client: Client) -> None:
    assert client.get("/chat/nowhere/").status_code == 404
    shop = account()
    cast.propose("channel.edit", shop, by=cast.manager(), active=False)
    assert client.get("/chat/shop/").status_code == 404


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
