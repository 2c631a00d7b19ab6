"""The outbox in the admin: what was said to the world; where nobody can tell what became of it, a person does, once."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conflicts import destinations, limits, outbox
from conflicts.destinations import Destination, Missing, ReadBack
from conflicts.models import Conflict, Delivery, Job, OutboxMessage
from conflicts.models.outbox import OutboxMessage as Message
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from tests import cast
from tests.admin.conftest import signed_in
from tests.conflicts.chores import run_all

pytestmark = pytest.mark.django_db

LIST = "admin:conflicts_outboxmessage_changelist"


class Silent:
    """Takes a message, gives no answer, and cannot be asked."""

    name = "silent"
    conditional = True
    settles_in = 0.0

    def send(self, key: str, payload: dict[str, Any]) -> str:
        raise TimeoutError

    def read_back(self, key: str) -> ReadBack:
        return Missing.CANNOT_TELL

    def last_look(self, message: Message) -> Sentence | None:
        return None


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch) -> Destination:
    monkeypatch.setattr(destinations, "_DESTINATIONS", {})
    one: Destination = Silent()
    destinations.register(one)
    return one


def doubtful(key: str = "hello", subject: Ref | None = None) -> OutboxMessage:
    message = outbox.post("silent", key, {"text": "Olá, Rui"}, subject=subject, by=cast.AGENT)
    run_all()
    assert now(message).state == Delivery.OUTCOME_UNKNOWN
    return now(message)


def now(message: OutboxMessage) -> OutboxMessage:
    return OutboxMessage.objects.get(pk=message.pk)


def page(client: Client, message: OutboxMessage) -> str:
    answer = client.get(reverse("admin:conflicts_outboxmessage_change", args=[message.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def press(client: Client, message: OutboxMessage, do: str, **said: Any) -> Any:
    sent = {"do": do, "seen": now(message).conflict_id} | said
    address = reverse("admin:conflicts_outboxmessage_decide", args=[message.pk])
    return client.post(address, {name: value for name, value in sent.items() if value is not None})


def test_it_is_seen_what_was_said_to_whom_and_what_became_of_it(manuela: Client) -> None:
    message = doubtful()
    listed = manuela.get(reverse(LIST)).content.decode()
    for words in ("hello", "silent", "outcome unknown"):
        assert words in listed, words
    text = page(manuela, message)
    for words in (
        "Nobody can tell whether the message to silent arrived",
        "Olá, Rui",
        "Follow-up agent",
        "It was sent",
    ):
        assert words in text, words
    assert reverse("admin:conflicts_job_change", args=[Job.objects.get().pk]) in text


@pytest.mark.parametrize(
    ("do", "state", "resolution"),
    [("arrived", "sent", "arrived"), ("again", "queued", "again"), ("drop", "failed", "dropped")],
)
def test_the_persons_word_is_taken_and_kept(manuela: Client, do: str, state: str, resolution: str) -> None:
    message = doubtful()
    assert press(manuela, message, do).status_code == 302
    assert now(message).state == state
    record = Conflict.objects.get(key="hello", rule=outbox.UNKNOWN)
    assert (record.resolution, record.closed_by.split(":")[2]) == (resolution, "Manuela Moraes")
    text = page(manuela, message)
    assert "Manuela Moraes" in text
    assert "It was sent" not in text
    assert Job.objects.count() == (2 if do == "again" else 1)


def test_of_two_people_the_second_is_told_who_was_faster(manuela: Client, ada: Client) -> None:
    message = doubtful()
    seen = message.conflict_id
    press(manuela, message, "arrived", seen=seen)
    answer = press(ada, message, "drop", seen=seen)
    assert answer.status_code == 409
    assert "Manuela Moraes was faster; its state is now: sent" in answer.content.decode()
    assert now(message).state == Delivery.SENT


def test_a_word_is_about_the_doubt_that_was_seen(manuela: Client, ada: Client) -> None:
    """Sent again by a colleague, and in doubt again: what Ada saw at the destination was before that."""
    message = doubtful()
    seen = message.conflict_id
    press(manuela, message, "again")
    run_all()
    assert now(message).state == Delivery.OUTCOME_UNKNOWN
    assert press(ada, message, "drop", seen=seen).status_code == 409
    assert now(message).state == Delivery.OUTCOME_UNKNOWN


def test_while_the_destination_is_being_asked_nobody_is(manuela: Client, silent: Destination) -> None:
    message = doubtful()
    OutboxMessage.objects.filter(pk=message.pk).update(conflict=None)
    text = page(manuela, message)
    assert "The destination is being asked" in text
    assert "It was sent" not in text
    assert press(manuela, message, "arrived", seen="None").status_code == 409
    assert now(message).state == Delivery.OUTCOME_UNKNOWN


@pytest.mark.parametrize(
    ("said", "status"), [({"seen": None}, 428), ({"seen": "0"}, 409), ({"seen": "²"}, 409), ({"do": "burn"}, 422)]
)
def test_a_form_that_says_something_else_does_nothing(manuela: Client, said: dict[str, Any], status: int) -> None:
    message = doubtful()
    assert press(manuela, message, **({"do": "arrived"} | said)).status_code == status
    assert now(message).state == Delivery.OUTCOME_UNKNOWN


def test_others_meet_a_403_and_another_teams_message_is_not_met(manuela: Client) -> None:
    ours = doubtful()
    theirs = doubtful("theirs", Ref.of(cast.deal("Theirs", owner=cast.charlie())))
    assert press(signed_in(cast.alice()), ours, "drop").status_code == 403
    assert press(manuela, theirs, "drop").status_code == 404
    assert {row.key for row in manuela.get(reverse(LIST)).context["cl"].result_list} == {"hello"}
    assert now(ours).state == now(theirs).state == Delivery.OUTCOME_UNKNOWN


def test_its_record_in_the_review_queue_leads_to_it(manuela: Client) -> None:
    message = doubtful(subject=Ref.of(cast.deal()))
    text = manuela.get(reverse("admin:conflicts_conflict_change", args=[message.conflict_id])).content.decode()
    assert reverse("admin:conflicts_outboxmessage_change", args=[message.pk]) in text
    assert "Open the work to decide on it" in text


def waiting_message(key: str = "hello") -> OutboxMessage:
    return outbox.post("silent", key, {"text": "Olá, Rui"}, by=cast.AGENT)


def test_what_waits_is_taken_back_with_the_reason(manuela: Client) -> None:
    message = waiting_message()
    assert "Take it back" in page(manuela, message)
    assert press(manuela, message, "take_back", seen="queued", why="Rui called").status_code == 302
    assert now(message).state == Delivery.FAILED
    text = page(manuela, message)
    assert "Manuela Moraes took it back before it was sent: Rui called" in text
    assert "Take it back" not in text


def test_to_take_back_needs_a_reason(manuela: Client) -> None:
    message = waiting_message()
    assert press(manuela, message, "take_back", seen="queued", why=" ").status_code == 422
    assert now(message).state == Delivery.QUEUED


@pytest.mark.parametrize(
    ("states", "words"),
    [
        (["sending"], "on its way already and cannot be taken back"),
        (["sending", "sent"], "was sent already and cannot be taken back"),
        (["failed"], "had ended already and was not sent"),
    ],
)
def test_who_takes_back_too_late_is_told_so(manuela: Client, states: list[str], words: str) -> None:
    message = waiting_message()
    for state in states:
        OutboxMessage.objects.filter(pk=message.pk).update(state=state)
    answer = press(manuela, message, "take_back", seen="queued", why="Rui called")
    assert answer.status_code == 409
    assert words in answer.content.decode()
    assert now(message).state == states[-1]


def test_a_salesperson_takes_nothing_back(manuela: Client) -> None:
    message = waiting_message()
    answer = press(signed_in(cast.alice()), message, "take_back", seen="queued", why="no")
    assert answer.status_code == 403
    assert now(message).state == Delivery.QUEUED


def test_a_message_that_waits_for_room_says_so_and_until_when(manuela: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    full = limits.Allowance(allowed=False, retry_after=90)
    monkeypatch.setattr(limits, "of_destination", lambda name, *, by: full)
    message = waiting_message()
    run_all()
    text = page(manuela, message)
    assert "has been sent as much as it may get for now" in text
    assert "Due" in text
