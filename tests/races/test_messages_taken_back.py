"""A message is taken back at the moment it is sent: one of the two wins, and the person is told which."""

from collections import Counter
from collections.abc import Iterator

import pytest

from conflicts import delivery, destinations, outbox
from conflicts.models import OutboxMessage
from conflicts.outbox import Dropped
from conflicts.refs import Ref
from tests import cast
from tests.conflicts.chores import run_all
from tests.fakes.destination_server import DestinationServer
from tests.fakes.destinations import Mailbox
from tests.races.threads import Meeting, together

pytestmark = pytest.mark.django_db(transaction=True)

TOLD = {"sent": {Dropped.SENDING, Dropped.TOO_LATE}, "failed": {Dropped.BEFORE}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DestinationServer]:
    monkeypatch.setattr(destinations, "_DESTINATIONS", {})
    with DestinationServer() as server:
        destinations.register(Mailbox("mailbox", server.port))
        yield server


def test_of_a_person_and_a_worker_one_wins(server: DestinationServer, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: Counter[str] = Counter()
    deal = Ref.of(cast.deal())
    for number in range(20):
        key = f"m{number}"
        outbox.post("mailbox", key, {}, subject=deal)
        meeting = Meeting()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(delivery.Sending, "send", meeting.at(delivery.Sending.send))

            def person(key: str = key, meeting: Meeting = meeting) -> Dropped:
                meeting.wait()
                return outbox.drop(key, by=cast.AGENT, why="no")

            told, _ = together(person, run_all)
        message = OutboxMessage.objects.get(key=key)
        assert told in TOLD[message.state]
        sent = server.keys()
        assert (key in sent) == (message.state == "sent")
        ends[message.state] += 1
    assert sum(ends.values()) == 20


def test_two_people_take_back_one_message() -> None:
    outbox.post("mailbox", "once", {})
    answers = together(*[lambda: outbox.drop("once", by=cast.AGENT, why="no")] * 4)
    assert sorted(answers) == sorted([Dropped.BEFORE, *[Dropped.TOO_LATE] * 3])
