"""A customer on the web chat, a worker that answers, a salesperson: one answer to five lines, none over a person."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agents.models import Turn, TurnState
from config.embedded.processes import until
from conflicts import partitions
from crm.models import ChannelAccount, Conversation, Message
from crm.models.conversation import Direction
from tests import cast
from tests.browser.conftest import wait_live
from tests.chatting import account, deliver
from tests.processes.workers import Worker

Visit = Callable[..., Page]


@pytest.fixture
def worker(tmp_path: Path, visit: Visit) -> Iterator[Worker]:
    """One that answers conversations and delivers, with a model that waits for a file (tests/fakes/model.py)."""
    place, model = tmp_path, "tests.fakes.model.Held"
    queues = ",".join(["agents", "default", *partitions.queues()])
    one = Worker("chat", place=place, concurrency=2, queues=queues, VIGENTE_RESPONDER=model)
    try:
        yield one.ready()
    finally:
        one.end()


def types(page: Page, *lines: str) -> None:
    for line in lines:
        page.fill("#text", line)
        page.press("#text", "Enter")


def ours(page: Page) -> list[str]:
    return page.locator("#lines li[data-from=us] p").all_inner_texts()


def test_five_lines_typed_fast_get_one_answer_and_a_person_who_takes_over_is_not_spoken_over(
    visit: Visit, worker: Worker, tmp_path: Path
) -> None:
    account(quiet_seconds=1.5, cap_seconds=10)
    customer = visit(None, "/chat/shop/")
    types(customer, "hi", "I have a", "question", "about the", "PT-1000 sensor")
    expect(customer.locator("#lines li[data-from=you]")).to_have_count(5)

    # The model has been asked once, about all five, and the customer sees that somebody writes.
    assert until((tmp_path / "asked-5").exists, seconds=30), worker.said()
    expect(customer.locator("#writing")).to_be_visible()
    assert ours(customer) == []
    (tmp_path / "say-5").touch()
    expect(customer.locator("#lines li[data-from=us]")).to_have_count(1)
    assert ours(customer) == ["One answer to 5 lines."]
    expect(customer.locator("#writing")).to_be_hidden()
    assert Turn.objects.count() == 1

    # The next question: the agent is in the middle of its draft when Alice takes the conversation over.
    types(customer, "and does it work at -40?")
    assert until((tmp_path / "asked-6").exists, seconds=30), worker.said()
    talk = Conversation.objects.get()
    alice = visit(cast.alice(), f"/inbox/{talk.pk}/")
    wait_live(alice)
    expect(alice.locator("#thread")).to_contain_text("and does it work at -40?")
    expect(alice.locator("#turn")).to_contain_text("The agent is writing")
    alice.click("#turn button:has-text('Take over now')")
    expect(alice.locator("#talk-head")).to_contain_text("Yours")
    alice.fill("#say", "Alice here. Down to -50.")
    alice.click("#composer [data-sends]")
    expect(customer.locator("#lines li[data-from=us]")).to_have_count(2)
    (tmp_path / "say-6").touch()

    # The draft is kept with its reason, for those who work here; the customer never sees it.
    assert until(lambda: Turn.objects.filter(state=TurnState.SUPERSEDED).exclude(text="").exists(), seconds=30)
    expect(alice.locator("#talking")).to_contain_text("Down to -50.")
    expect(alice.locator("#talking")).to_contain_text("One answer to 1 lines.")
    assert ours(customer) == ["One answer to 5 lines.", "Alice here. Down to -50."]
    sent = Message.objects.filter(direction=Direction.OUT, withdrawn=False)
    assert sorted(sent.values_list("text", flat=True)) == ["Alice here. Down to -50.", "One answer to 5 lines."]


def test_a_line_written_while_the_connection_is_cut_is_kept_and_sent_once(visit: Visit) -> None:
    account(quiet_seconds=60, cap_seconds=60)
    customer = visit(None, "/chat/shop/")
    types(customer, "before")
    expect(customer.locator("#lines li small")).to_have_count(0)
    customer.route("**/say/", lambda route: route.abort())
    types(customer, "in the tunnel")
    expect(customer.locator("#error")).to_contain_text("No connection.")
    expect(customer.locator("#lines li").last).to_contain_text("being sent")
    customer.unroute("**/say/")
    expect(customer.locator("#lines li small")).to_have_count(0)
    assert sorted(Message.objects.values_list("text", flat=True)) == ["before", "in the tunnel"]


def test_a_customer_sees_that_a_person_will_answer_and_when_the_chat_is_closed(visit: Visit) -> None:
    shop = account()
    customer = visit(None, "/chat/shop/")
    types(customer, "I want to talk to a person")
    expect(customer.locator("#state")).to_have_text("A colleague has your message and will answer you here.")
    assert ours(customer) == []

    talk = Conversation.objects.get()
    alice = visit(cast.alice(), f"/inbox/{talk.pk}/")
    wait_live(alice)
    customer.locator("#text").press_sequentially("are you")
    expect(alice.locator("#talking")).to_contain_text("is writing")
    customer.press("#text", "Enter")
    expect(alice.locator("#talking")).to_contain_text("are you")
    expect(alice.locator("#talking")).not_to_contain_text("is writing")
    alice.locator("#say").press_sequentially("Alice here.")
    expect(customer.locator("#writing")).to_be_visible()
    alice.click("#composer [data-sends]")
    expect(alice.locator("#talking")).to_contain_text("Alice here.")
    deliver()
    expect(customer.locator("#lines li[data-from=us]")).to_have_count(1)
    expect(customer.locator("#state")).to_be_hidden()

    cast.propose("channel.edit", shop, by=cast.manager(), active=False)
    expect(customer.locator("#error")).to_have_text("This chat is closed.")
    types(customer, "hello?")
    expect(customer.locator("#lines li").last).to_contain_text("not sent")
    cast.propose("channel.edit", ChannelAccount.objects.get(pk=shop.pk), by=cast.manager(), active=True)
    customer.get_by_role("button", name="Send again").click()
    expect(customer.locator("#lines li small")).to_have_count(0)
    expect(customer.locator("#error")).to_be_hidden()
    assert sorted(Message.objects.filter(direction=Direction.IN).values_list("text", flat=True)) == [
        "I want to talk to a person",
        "are you",
        "hello?",
    ]


def test_the_conversation_is_still_there_when_the_customer_comes_back(visit: Visit) -> None:
    account(quiet_seconds=60, cap_seconds=60)
    customer = visit(None, "/chat/shop/")
    types(customer, "<b>bold</b> & מימין")
    expect(customer.locator("#lines li small")).to_have_count(0)
    customer.reload()
    expect(customer.locator("#lines li[data-from=you] p")).to_have_text("<b>bold</b> & מימין")
    assert Conversation.objects.count() == 1
