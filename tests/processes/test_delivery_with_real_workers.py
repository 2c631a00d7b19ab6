"""Deliveries by real workers, killed and stopped around the sending: arrived once, or in front of a person."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conflicts import outbox
from conflicts.models import Conflict, Job, OutboxMessage
from conflicts.refs import Ref
from tests import cast
from tests.fakes.destination_server import DestinationServer
from tests.processes.test_jobs_with_real_workers import Start, file
from tests.processes.workers import promptly

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server() -> Iterator[DestinationServer]:
    with DestinationServer() as server:
        yield server


@pytest.fixture
def start_for(start: Start, server: DestinationServer) -> Start:
    return lambda name, **more: start(name, VIGENTE_TEST_PORT=str(server.port), **more)


def post(to: str = "mailbox", **payload: object) -> OutboxMessage:
    return outbox.post(to, "hello", payload, subject=Ref.of(cast.deal()))


def is_now(state: str) -> Callable[[], bool]:
    return lambda: OutboxMessage.objects.get().state == state


def test_a_worker_killed_right_before_the_sending(start_for: Start, server: DestinationServer, place: Path) -> None:
    first = start_for("first").ready()
    post(hold=True)
    assert promptly(file(place, "sending-*"))
    first.kill()
    (place / "go").touch()
    start_for("second")
    assert promptly(is_now("sent"))
    assert (server.keys(), OutboxMessage.objects.get().attempt) == (["hello"], 2)


@pytest.mark.parametrize("minds_keys", [True, False])
def test_a_worker_killed_right_after_the_sending(
    start_for: Start, server: DestinationServer, place: Path, minds_keys: bool
) -> None:
    server.minds_keys = minds_keys
    first = start_for("first").ready()
    post(hold_after=True)
    assert promptly(file(place, "sent-*"))
    first.kill()
    (place / "noted").touch()
    start_for("second")
    assert promptly(is_now("sent"))
    assert (server.keys(), OutboxMessage.objects.get().attempt) == (["hello"], 1)


def test_where_the_destination_cannot_tell_it_waits_for_a_person(
    start_for: Start, server: DestinationServer, place: Path
) -> None:
    server.says_what_it_has = False
    first = start_for("first").ready()
    post(hold_after=True)
    assert promptly(file(place, "sent-*"))
    first.kill()
    (place / "noted").touch()
    start_for("second")
    assert promptly(lambda: Conflict.objects.waiting().exists())
    assert promptly(lambda: Job.objects.get().state == "done")
    assert (OutboxMessage.objects.get().state, server.keys()) == ("outcome_unknown", ["hello"])


def test_a_stopped_sender_that_wakes_notes_nothing_and_its_copy_is_turned_away(
    start_for: Start, server: DestinationServer, place: Path
) -> None:
    """It stands right before the line; the other one has sent; then it goes on, and the destination knows the key."""
    zombie = start_for("zombie").ready()
    post(hold=True)
    assert promptly(file(place, "sending-*"))
    zombie.send(signal.SIGSTOP)
    (place / "go").touch()
    start_for("other")
    assert promptly(is_now("sent"))
    before = OutboxMessage.objects.values().get()
    zombie.send(signal.SIGCONT)
    assert promptly(lambda: "lost" in zombie.said() or "failed" in zombie.said())
    assert (server.keys(), OutboxMessage.objects.values().get()) == (["hello"], before)


def test_one_that_can_only_overwrite_is_waited_for_after_a_kill(
    start_for: Start, server: DestinationServer, place: Path
) -> None:
    server.minds_keys = False
    server.faults.append("hold")
    first = start_for("first").ready()
    post("record")
    assert server.held.acquire(timeout=45)  # the bytes are there, the destination has not begun
    first.kill()
    start_for("second")
    assert promptly(is_now("outcome_unknown"))
    server.release.set()
    assert promptly(is_now("sent"))
    assert (server.keys(), OutboxMessage.objects.get().attempt) == (["hello"], 1)
