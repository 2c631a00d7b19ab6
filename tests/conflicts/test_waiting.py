"""What waits for a person beside the gate is shown in the same queue, whatever it is about."""

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from conflicts import actors, waiting
from conflicts.models import Conflict
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.waiting import Matter
from tests import cast

pytestmark = pytest.mark.django_db


def matter(subject: str, key: str = "k") -> Matter:
    return Matter(
        key=key, subject=subject, action="job:test.chore", params={"n": 1}, by=str(cast.AGENT), source="job:1"
    )


def opened(subject: str, key: str = "k") -> Conflict:
    return waiting.open_for_a_person(
        matter(subject, key),
        Sentence("job.poison", {"attempts": 5, "error": "ValueError"}),
        avoided=Sentence("job.poison.avoided"),
        next_step=Sentence("next.retry_or_drop"),
    )


@pytest.mark.parametrize("subject", ["", "crm.opportunity:999999", "crm.nothing:1", "nonsense"])
def test_a_record_without_a_subject_that_is_there_is_shown(client: Client, subject: str) -> None:
    record = opened(subject)
    client.force_login(cast.administrator())
    queue = client.get(reverse("admin:conflicts_conflict_changelist"))
    page = client.get(reverse("admin:conflicts_conflict_change", args=[record.pk]))
    assert (queue.status_code, page.status_code) == (200, 200)
    assert "tried 5 times" in queue.content.decode()


def test_a_record_about_a_deal_is_shown_with_it(client: Client) -> None:
    deal = cast.deal()
    record = opened(str(Ref.of(deal)))
    assert (record.subject_label, record.responsible_id) == (deal.name, deal.owner_id)
    client.force_login(cast.administrator())
    page = client.get(reverse("admin:conflicts_conflict_change", args=[record.pk]))
    assert page.status_code == 200
    assert deal.name in page.content.decode()


def test_one_matter_waits_once_and_again_after_it_was_settled() -> None:
    first = opened("")
    assert opened("").pk == first.pk
    waiting.close("k", rule="job.poison", by=cast.SYSTEM, resolution="dropped")
    assert opened("").pk != first.pk


def test_a_refusal_that_needs_nobody_is_closed_as_it_is_written() -> None:
    note = waiting.note(matter(""), Sentence("not_allowed", {"who": "Ana"}))
    assert (note.result, note.resolution) == ("refused", "refused")
    assert not Conflict.objects.waiting().exists()


def test_there_is_no_value_to_choose_in_it(client: Client) -> None:
    """The page on which two values of a field are settled is for what was at the gate."""
    deal = cast.deal()
    mine = Matter(
        key="k",
        subject=str(Ref.of(deal)),
        action="send:mailbox",
        params={"text": "Hello"},
        by=str(actors.person(cast.alice())),
        source="outbox:1",
    )
    sentence = Sentence("delivery.unknown", {"destination": "mailbox"})
    record = waiting.open_for_a_person(
        mine, sentence, avoided=Sentence("delivery.unknown.avoided"), next_step=Sentence("next.look_there")
    )
    client.force_login(cast.alice())
    assert client.get(reverse("settle"), {"record": record.pk}).status_code == 404
    assert client.get(reverse("deal", args=[deal.pk]), {"edit": "all", "typed": record.pk}).status_code == 200


def test_the_record_of_a_matter_is_found_by_its_key() -> None:
    """By an index: the table holds every conflict there ever was."""
    opened("crm.opportunity:1")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        # As asked on its page, in `open_for_a_person` and in `close`.
        for which in ({"key": "k", "action": "job:test.chore"}, {"key": "k", "rule": "job.poison", "closed_at": None}):
            assert "conflict_of_key" in Conflict.objects.filter(**which).order_by().explain()
