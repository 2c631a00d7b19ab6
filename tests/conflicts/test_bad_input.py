"""What cannot be done is refused by its kind and kept where an operator finds it; nothing crashes and nothing loops.

The six of the design: a lease for a time it cannot have, a token from another key, a release by a stranger, an
idempotency key that no row can hold, work for a subject that is gone, a message from a newer release.
"""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conflicts import gate, jobs, leases, tasks
from conflicts.exceptions import BadLease
from conflicts.leases import Grant
from conflicts.models import Conflict, Job, JobEvent, LeaseEvent, LedgerEntry
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from tests import cast
from tests.admin.conftest import signed_in
from tests.conflicts.chores import CHORE, chore, now, run_all
from tests.conflicts.wishes import wish

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Client:
    return signed_in(cast.administrator())


def take(key: str = "room", *, seconds: float = 30) -> Grant:
    got = leases.acquire(key, by=cast.AGENT, unit="test", reason="test", seconds=seconds)
    assert isinstance(got, Grant)
    return got


def listed(client: Client, model: str) -> str:
    answer = client.get(reverse(f"admin:conflicts_{model}_changelist"))
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("seconds", [0.001, 601, float("nan")])
def test_a_lease_for_a_time_it_cannot_have(ada: Client, seconds: float) -> None:
    with pytest.raises(BadLease):
        take(seconds=seconds)
    event = LeaseEvent.objects.get()
    assert (event.kind, event.key, event.by) == ("refused", "room", str(cast.AGENT))
    assert "A lease lasts 0.05 to 600" in listed(ada, "leaseevent")


def test_a_renewal_for_a_time_it_cannot_have(ada: Client) -> None:
    grant = take()
    with pytest.raises(BadLease):
        leases.renew(grant, seconds=601)
    assert LeaseEvent.objects.filter(kind="refused", unit="test").count() == 1


def test_a_lease_under_a_name_it_cannot_have() -> None:
    with pytest.raises(BadLease):
        take("k" * 300)
    assert LeaseEvent.objects.get().kind == "refused"


def test_a_token_from_another_key(ada: Client) -> None:
    deal, other = cast.deal(), take("another")
    take(str(Ref.of(deal)))
    stolen = leases.Claim(key=str(Ref.of(deal)), holder=other.claim.holder, fence=other.claim.fence)
    refused = gate.commit(
        Proposal(action="opportunity.edit", by=cast.AGENT, params={"amount": "1"}, basis=(Read.of(deal),), lease=stolen)
    )
    assert (refused.result, refused.state) == (Result.REFUSED, "lease_expired")
    assert Conflict.objects.get().state == "lease_expired"
    assert LeaseEvent.objects.filter(key=str(Ref.of(deal)), kind="lost").count() == 1


def test_a_release_by_a_stranger(ada: Client) -> None:
    mine = take()
    stranger = Grant(
        claim=leases.Claim(key="room", holder="somebody", fence=mine.claim.fence),
        unit="strange", actor="agent:x:Stranger", seconds=30, asked_at=0,
    )  # fmt: skip
    assert not leases.release(stranger)
    assert leases.in_force([mine.claim]) == {mine.claim}
    assert LeaseEvent.objects.filter(kind="lost", unit="strange", by="agent:x:Stranger").count() == 1
    assert "Stranger" in listed(ada, "leaseevent")


@pytest.mark.parametrize("key", ["k" * 300, "k" * 256, "a\x00b"])
def test_an_idempotency_key_that_no_row_can_hold(ada: Client, key: str) -> None:
    deal = cast.deal()
    refused = gate.commit(wish("opportunity.edit", deal, by=cast.alice(), key=key, amount="10"))
    assert refused.result is Result.REFUSED
    assert refused.sentence is not None
    assert refused.sentence.code == "key_unusable"
    record = Conflict.objects.get()
    assert (record.rule, record.key) == ("key_unusable", key.replace("\x00", "")[:255])
    assert not LedgerEntry.objects.exists()
    deal.refresh_from_db()
    assert deal.version == 1
    assert (
        "The key of this request has more than 255 characters"
        in ada.get(reverse("admin:conflicts_conflict_change", args=[record.pk])).content.decode()
    )


def test_a_key_of_255_characters_is_one() -> None:
    edit = wish("opportunity.edit", cast.deal(), by=cast.alice(), key="k" * 255, amount="10")
    assert [gate.commit(edit).result for _ in range(2)] == [Result.APPLIED, Result.DUPLICATE]


def test_one_such_key_among_many_proposals_stops_nobody() -> None:
    deals = [cast.deal(f"Deal {number}") for number in range(3)]
    keys = ["one", "k" * 300, "three"]
    wishes = [
        wish("opportunity.edit", deal, by=cast.alice(), key=key, amount="10")
        for deal, key in zip(deals, keys, strict=True)
    ]
    assert [outcome.result.value for outcome in gate.commit_many(wishes)] == ["applied", "refused", "applied"]


def test_work_for_a_subject_that_is_gone(ada: Client) -> None:
    job = jobs.enqueue(CHORE, "orphan", Ref("crm.opportunity", 404))
    run_all()
    assert (now(job).state, now(job).attempts) == ("failed", 1)
    assert JobEvent.objects.get().kind == "subject_gone"
    assert "its subject is gone" in listed(ada, "jobevent")
    assert run_all() == []


@pytest.mark.parametrize(
    ("args", "more", "kind"),
    [((CHORE, "known", 7), {"priority": "high"}, "unknown_fields"), ((CHORE, "never was"), {}, "unknown_message")],
)
def test_a_message_from_a_newer_release(ada: Client, args: Any, more: Any, kind: str) -> None:
    job = chore("known")
    tasks.work(*args, **more)
    assert JobEvent.objects.get().kind == kind
    assert str(JobEvent.objects.get().get_kind_display()) in listed(ada, "jobevent")
    assert Job.objects.get(pk=job.pk).state == ("done" if kind == "unknown_fields" else "queued")


def test_an_events_page_is_only_to_be_read(ada: Client) -> None:
    with pytest.raises(BadLease):
        take(seconds=0)
    page = reverse("admin:conflicts_leaseevent_change", args=[LeaseEvent.objects.get().pk])
    assert ada.get(page).status_code == 200
    assert ada.post(page, {"kind": "granted"}).status_code == 403
