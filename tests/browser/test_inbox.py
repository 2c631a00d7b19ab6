"""The inbox in a browser: two people in one conversation, the agent's clock and pen, a take-over in the middle of a
draft, and every page of it for everybody."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Page, expect

from agents import replies
from agents.responders.port import Prompt
from crm.models import Conversation
from tests import cast
from tests.browser.conftest import wait_live
from tests.browser.test_everybody import PHONE, serious
from tests.chatting import Says, account, writes
from tests.crm.talks import fresh, said, taken, talk_of

Visit = Callable[..., Page]


def at(talk: Conversation) -> str:
    return f"/inbox/{talk.pk}/"


class Pen:
    """A responder that is writing until the test lets it end."""

    def __init__(self, text: str) -> None:
        self.text, self.began, self.may_end = text, threading.Event(), threading.Event()

    def answer(self, prompt: Prompt) -> Any:
        self.began.set()
        assert self.may_end.wait(60)
        return Says(self.text).answer(prompt)

    name = "pen"


@contextmanager
def writing(talk: Conversation, text: str) -> Iterator[Pen]:
    """The agent writes in a worker of its own; it has ended when the block is left."""
    pen = Pen(text)

    def turn() -> None:
        try:
            replies.take_turn(talk.pk, responder=pen)
        finally:
            connections.close_all()

    worker = threading.Thread(target=turn)
    worker.start()
    try:
        assert pen.began.wait(30)
        yield pen
    finally:
        pen.may_end.set()
        worker.join(60)


def test_two_people_in_one_conversation_see_each_other_and_answer_once(visit: Visit) -> None:
    talk = writes("What does it cost?", to=account(quiet_seconds=600, cap_seconds=600), name="Ana")
    alice, bob = visit(cast.alice(), at(talk)), visit(cast.bob(), at(talk))
    wait_live(alice)
    wait_live(bob)

    # Both begin to write; each sees that the other does.
    alice.fill("#say", "It costs 45")
    expect(bob.locator("#presence [data-busy]")).to_have_attribute("title", "Alice Amaral is writing to the customer")
    bob.fill("#say", "It costs 40")

    # Bob is first: Alice sees at once that it is his, and what she types stays.
    bob.keyboard.press("Control+Enter")
    expect(bob.locator("#talking")).to_contain_text("It costs 40")
    expect(bob.locator("#say")).to_have_value("")
    expect(bob.locator("#say")).to_be_focused()
    expect(alice.locator("#talk-head")).to_contain_text("Bob Borges has it")
    expect(alice.locator("#talking")).to_contain_text("It costs 40")
    expect(alice.locator("#say")).to_have_value("It costs 45")

    # She sends: nothing goes out, his answer stands beside hers, and she decides.
    alice.click("[data-sends]")
    expect(alice.locator(".meanwhile")).to_contain_text("Bob Borges answered while you were writing")
    expect(alice.locator("#say")).to_have_value("It costs 45")
    assert said(talk) == ["It costs 40"]
    writes("Hello?")  # news leave alone what came back
    expect(alice.locator("#talking")).to_contain_text("Hello?")
    expect(alice.locator("#say")).to_have_value("It costs 45")
    alice.click("text=Send as well")
    expect(alice.locator("#talking")).to_contain_text("It costs 45")
    expect(alice.locator("#say")).to_have_value("")
    assert said(talk) == ["It costs 40", "It costs 45"]


def test_the_agents_clock_runs_and_taking_over_stops_it_for_everybody(visit: Visit) -> None:
    talk = writes("Hello", to=account(quiet_seconds=600, cap_seconds=600), name="Ana")
    alice, bob = visit(cast.alice(), at(talk)), visit(cast.bob(), "/inbox/")
    wait_live(alice)
    wait_live(bob)
    clock = alice.locator("#turn [data-words]")
    expect(clock).to_contain_text("The agent answers in")
    first = clock.inner_text()
    expect(clock).not_to_have_text(first)  # it counts
    expect(bob.locator(f"#row-{talk.pk} .state")).to_contain_text("The agent answers in")

    alice.keyboard.press("t")

    expect(alice.locator("#talk-head")).to_contain_text("Yours")
    expect(alice.locator("#turn [data-words]")).to_have_count(0)
    expect(bob.locator(f"#row-{talk.pk} .state")).to_contain_text("Waits for Alice Amaral")
    assert fresh(talk).owner == cast.alice()


def test_a_person_takes_over_in_the_middle_of_a_draft(visit: Visit) -> None:
    talk = writes("Hello", name="Ana")
    alice = visit(cast.alice(), at(talk))
    wait_live(alice)
    with writing(talk, "Dear Ana, shall I book Thursday?"):
        expect(alice.locator("#turn")).to_contain_text("The agent is writing")
        alice.click("#turn button")
        expect(alice.locator("#talk-head")).to_contain_text("Yours")
        alice.fill("#say", "Hello Ana, Alice here")
    draft = alice.locator(".dropped")
    expect(draft).to_contain_text("Draft not sent")
    expect(draft).to_contain_text("Dear Ana, shall I book Thursday?")
    expect(alice.locator("#say")).to_have_value("Hello Ana, Alice here")
    draft.locator("[data-use]").click()
    expect(alice.locator("#say")).to_have_value("Hello Ana, Alice here\n\nDear Ana, shall I book Thursday?")
    alice.click("[data-sends]")
    expect(alice.locator("#say")).to_have_value("")
    assert said(talk) == ["Hello Ana, Alice here\n\nDear Ana, shall I book Thursday?"]


def test_a_draft_that_is_dropped_and_the_answer_to_everything_appear_by_themselves(visit: Visit) -> None:
    talk = writes("send the code", name="Ana")
    alice = visit(cast.alice(), at(talk))
    wait_live(alice)
    with writing(talk, "Which one?"):
        expect(alice.locator("#turn")).to_contain_text("The agent is writing")
        writes("it is ABC")
    expect(alice.locator(".dropped")).to_contain_text("The customer wrote on while the agent was writing")
    replies.take_turn(talk.pk, responder=Says("Here is ABC."))
    expect(alice.locator(".msg[data-from=us]")).to_contain_text("Here is ABC.")
    expect(alice.locator("#heard")).to_contain_text("Here is ABC.")
    expect(alice.locator("#turn .bar")).to_have_count(1)  # the way to take over, without a clock


def test_what_was_seen_for_a_moment_is_answered_by_the_message(visit: Visit) -> None:
    talk = taken(cast.alice())
    alice = visit(cast.alice(), at(talk))
    wait_live(alice)
    alice.fill("#say", "40 each, by Friday")
    writes("And by when?")
    expect(alice.locator("#talking")).to_contain_text("And by when?")
    expect(alice.locator("#composer [name=seen]")).to_have_value("2")
    alice.click("[data-sends]")
    expect(alice.locator("#say")).to_have_value("")
    assert fresh(talk).unanswered == 0


def test_the_keys_go_through_the_list_and_to_the_form(visit: Visit) -> None:
    first, second = taken(cast.alice(), peer="ana"), taken(cast.alice(), peer="bea")
    alice = visit(cast.alice(), "/")
    alice.keyboard.press("g")
    alice.keyboard.press("i")
    alice.wait_for_url("**/inbox/")
    alice.keyboard.press("j")
    expect(alice.locator(f"#row-{first.pk}")).to_be_focused()
    alice.keyboard.press("j")
    expect(alice.locator(f"#row-{second.pk}")).to_be_focused()
    alice.keyboard.press("k")
    alice.keyboard.press("Enter")
    alice.wait_for_url(f"**{at(first)}*")
    alice.keyboard.press("r")
    expect(alice.locator("#say")).to_be_focused()
    alice.keyboard.type("jkt")
    expect(alice.locator("#say")).to_have_value("jkt")
    alice.locator("#main").focus()
    alice.keyboard.press("n")
    expect(alice.locator("#note-text")).to_be_focused()
    alice.keyboard.type("Wants a discount")
    alice.keyboard.press("Control+Enter")
    expect(alice.locator(".msg[data-note]")).to_contain_text("Wants a discount")
    expect(alice.locator("#say")).to_have_value("jkt")


def test_a_template_is_put_into_the_form_after_what_was_typed(visit: Visit) -> None:
    talk = taken(cast.alice())
    cast.propose(
        "template.create", by=cast.manager(), slug="hi", name="Warm words", text="Hello {contact}", language="en"
    )
    alice = visit(cast.alice(), at(talk))
    alice.fill("#say", "Good morning.")
    alice.click("[popovertarget=templates]")
    alice.click("text=Warm words")
    expect(alice.locator("#say")).to_have_value("Good morning.\n\nHello ana")


def test_without_javascript_everything_can_be_done(visit: Visit) -> None:
    talk = writes("Hello", to=account(quiet_seconds=600, cap_seconds=600))
    cast.propose(
        "template.create", by=cast.manager(), slug="hi", name="Warm words", text="Hello {contact}", language="en"
    )
    alice = visit(cast.alice(), f"{at(talk)}?template=hi", java_script_enabled=False)
    expect(alice.locator("#say")).to_have_value("Hello ana")
    alice.click("[data-sends]")
    expect(alice.locator(".msg[data-from=us]")).to_contain_text("Hello ana")
    alice.goto(f"{at(talk)}?do=note")
    alice.fill("#note-text", "Careful")
    alice.click("text=Save the note")
    expect(alice.locator(".msg[data-note]")).to_contain_text("Careful")
    alice.goto(f"{at(talk)}?do=assign")
    alice.select_option("#assign-to", label="Alice Amaral")
    assert said(talk) == ["Hello ana"]


# ------------------------------------------------------------------------------------------------- for everybody


def rich() -> Conversation:
    """A conversation with everything that one can have."""
    talk = talk_of(cast.deal("Cold rooms"), text="<b>Hello</b> שלום")
    replies.take_turn(talk.pk, responder=Says("How can I help? " + "long" * 60))
    writes("x" * 300, media=({"kind": "image", "name": "y" * 80 + ".png", "id": "1"},))
    writes("Out of office", automatic=True)

    def meanwhile(prompt: Prompt) -> str:
        writes("and quickly")
        return "Which one?"

    replies.take_turn(talk.pk, responder=Says(meanwhile))
    cast.propose("conversation.note", fresh(talk), by=cast.bob(), text="Careful " * 30)
    cast.propose(
        "template.create", by=cast.manager(), slug="hi", name="Warm words", text="Hello {contact}", language="en"
    )
    return fresh(talk)


def clash(page: Page, talk: Conversation) -> None:
    page.goto(at(talk))
    page.fill("#say", "Mine")
    now = fresh(talk)
    cast.propose("conversation.send", now, by=cast.bob(), text="Theirs", seen=now.inbound_count, said=10**9)
    page.click("[data-sends]")
    expect(page.locator(".meanwhile")).to_be_visible()


def states(page: Page, talk: Conversation) -> list[tuple[str, Callable[[], object]]]:
    return [
        ("list", lambda: page.goto("/inbox/")),
        ("nothing fits", lambda: page.goto("/inbox/?q=nobody")),
        ("thread", lambda: page.goto(at(talk))),
        ("menu", lambda: (page.goto(at(talk)), page.click("[popovertarget=talk-menu]"))),
        ("templates", lambda: (page.goto(at(talk)), page.click("[popovertarget=templates]"))),
        ("note", lambda: page.goto(f"{at(talk)}?do=note")),
        ("give", lambda: page.goto(f"{at(talk)}?do=assign")),
        ("channels", lambda: page.goto("/inbox/channels/")),
        ("a channel", lambda: page.goto(f"/inbox/channels/{talk.account_id}/")),
        ("meanwhile", lambda: clash(page, talk)),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [True, False])
def test_axe_finds_nothing_serious_in_the_inbox(visit: Visit, scheme: str, wide: bool) -> None:
    talk = rich()
    page = visit(
        cast.alice(),
        "/preferences/",
        color_scheme=scheme,
        reduced_motion="reduce",
        viewport={"width": 1400, "height": 1000} if wide else PHONE,
    )
    faults = {}
    for name, reach in states(page, talk):
        reach()
        if found := serious(page):
            faults[name] = found
    assert not faults, faults


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_page_of_the_inbox_scrolls_sideways(visit: Visit, width: int) -> None:
    talk = rich()
    page = visit(cast.alice(), "/preferences/", viewport={"width": width, "height": 740})
    for name, go in states(page, talk):
        go()
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, (name, over)


def test_on_a_phone_list_and_thread_are_two_places(visit: Visit) -> None:
    talk = taken(cast.alice())
    page = visit(cast.alice(), "/inbox/", viewport=PHONE, has_touch=True, is_mobile=True)
    expect(page.locator("#inbox-list")).to_be_visible()
    page.tap(f"#row-{talk.pk}")
    expect(page.locator("#say")).to_be_in_viewport()
    expect(page.locator("#inbox-list")).to_be_hidden()
    page.tap(".back")
    expect(page.locator("#inbox-list")).to_be_visible()
