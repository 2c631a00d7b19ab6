"""A worker is killed while its model writes: another one answers, soon and once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agents.models import Turn, TurnState
from config.embedded.processes import until
from conflicts import partitions
from crm.models import Conversation, Message
from crm.models.conversation import Direction
from tests.chatting import account, writes
from tests.processes.workers import Worker, promptly

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]

QUEUES = ",".join(["agents", "default", *partitions.queues()])
MODEL = {"queues": QUEUES, "VIGENTE_RESPONDER": "tests.fakes.model.Held"}


def test_the_turn_of_a_worker_that_was_killed_is_taken_by_another_and_answered_once(
    start: Callable[..., Worker], place: Path
) -> None:
    account()
    first = start("first", **MODEL).ready()
    talk = writes("Hello")
    assert until((place / "asked-1").exists, seconds=30), first.said()
    second = start("second", **MODEL).ready()

    first.kill()
    (place / "say-1").touch()

    answered = Conversation.objects.filter(pk=talk.pk, answered_count=1)
    assert promptly(answered.exists), second.said()
    said = Message.objects.filter(conversation=talk, direction=Direction.OUT, withdrawn=False)
    assert list(said.values_list("text", flat=True)) == ["One answer to 1 lines."]
    lost, other = Turn.objects.order_by("pk")
    assert (lost.state, lost.why and lost.why.code, other.state) == (TurnState.FAILED, "turn.lost", TurnState.QUEUED)
