"""Redis is stopped for real: agents wait, people work, and what waited goes on when it is back."""

import logging
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import timezone
from redis import Redis

from config import embedded
from conflicts import destinations, limits, outbox
from conflicts.actors import person
from conflicts.models import Job, OutboxMessage
from crm.models import Message
from tests import cast
from tests.chatting import account
from tests.conflicts.chores import run_all
from tests.fakes.destination_server import DestinationServer
from tests.fakes.destinations import Mailbox

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DestinationServer]:
    monkeypatch.setattr(destinations, "_DESTINATIONS", {})
    with DestinationServer() as server:
        destinations.register(Mailbox("mailbox", server.port))
        yield server


def stop() -> None:
    embedded.redis.stop(embedded.home())


def start() -> None:
    embedded.redis.start(embedded.home(), say=lambda line: None)


@pytest.mark.parametrize("ask", [limits.of_model, limits.of_destination])
def test_agents_wait_and_people_work(broker: Redis, ask: type, caplog: pytest.LogCaptureFixture) -> None:
    alice = person(cast.alice())
    assert ask("any", by=cast.AGENT)
    stop()
    with caplog.at_level(logging.WARNING):
        waits, works = ask("any", by=cast.AGENT), ask("any", by=alice)
    assert (waits.allowed, waits.counted, waits.retry_after) == (False, False, limits.RETRY_WHEN_AWAY)
    assert (works.allowed, works.counted) == (True, False)
    assert "Redis is away" in caplog.text
    start()
    again = ask("any", by=cast.AGENT)
    assert (again.allowed, again.counted) == (True, True)


def test_an_agents_message_waits_and_a_persons_goes_out(broker: Redis, server: DestinationServer) -> None:
    stop()
    outbox.post("mailbox", "the agent's", {}, by=cast.AGENT)
    outbox.post("mailbox", "Alice's", {}, by=person(cast.alice()))
    run_all()
    assert server.keys() == ["Alice's"]
    left = OutboxMessage.objects.get(key="the agent's")
    assert (left.state, left.why and left.why.code) == ("queued", "delivery.uncounted")
    assert Job.objects.get(payload__message="the agent's").attempts == 0
    start()
    Job.objects.filter(state="queued").update(due_at=timezone.now())
    run_all()
    assert server.keys() == ["Alice's", "the agent's"]


def test_a_restarted_redis_has_forgotten_its_counts_and_goes_on_counting(broker: Redis, settings: object) -> None:
    settings.VIGENTE_LIMITS = {"model": "1/hour"}  # type: ignore[attr-defined]
    assert [bool(limits.of_model("any", by=cast.AGENT)) for _ in range(2)] == [True, False]
    stop()
    start()
    assert [bool(limits.of_model("any", by=cast.AGENT)) for _ in range(2)] == [True, False]


def test_a_customer_may_begin_a_chat_and_write(broker: Redis, settings: object) -> None:
    settings.VIGENTE_LIMITS = {"newcomers": "1/hour", "inbound": "1/hour"}  # type: ignore[attr-defined]
    account()
    stop()
    for _ in range(2):
        browser = Client()
        token = re.search(r'data-token="([^"]+)"', browser.get("/chat/shop/").text)[1]  # type: ignore[index]
        for line in ("1", "2"):
            sent = browser.post("/chat/shop/say/", {"token": token, "line": line, "text": "Hello"})
            assert sent.status_code == 200
    assert Message.objects.count() == 4
