"""Jobs in the admin: what waits and what failed; a person retries or cancels what was shown, and nothing else."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conflicts import jobs, outbox, running
from conflicts.leases import Claim
from conflicts.models import Conflict, Job, JobState
from conflicts.refs import Ref
from tests import cast
from tests.admin.conftest import signed_in
from tests.conflicts.chores import chore, doing, now, partition, told

pytestmark = pytest.mark.django_db

LIST = "admin:conflicts_job_changelist"


def fails(job: Job, claim: Claim) -> None:
    raise ValueError("a bad day")


def poisoned(job: Job) -> Job:
    """Tried as often as it is tried at all."""
    with doing(fails):
        for _ in range(running.MOST_ATTEMPTS):
            Job.objects.filter(pk=job.pk).update(due_at="2000-01-01T00:00Z")
            running.run_next(partition(job))
    assert now(job).state == JobState.REVIEW
    return now(job)


def page(client: Client, job: Job) -> str:
    answer = client.get(reverse("admin:conflicts_job_change", args=[job.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def shown(client: Client, job: Job) -> str:
    """What the form carries."""
    seen: str = client.get(reverse("admin:conflicts_job_change", args=[job.pk])).context["seen"]
    return seen


def press(client: Client, job: Job, do: str, **said: Any) -> Any:
    sent = {"do": do, "seen": shown(client, job)} | said
    address = reverse("admin:conflicts_job_decide", args=[job.pk])
    return client.post(address, {name: value for name, value in sent.items() if value is not None})


def test_it_is_seen_what_failed_how_often_and_why(manuela: Client) -> None:
    job = poisoned(chore("rebuild-7", Ref.of(cast.deal("Cold rooms")), {"n": 7}))
    assert "rebuild-7" in manuela.get(reverse(LIST)).content.decode()
    text = page(manuela, job)
    for words in (
        "Cold rooms",
        "waits for a person",
        "ValueError",
        "Handed to a person",
        "Try again",
        "Cancel this work",
    ):
        assert words in text, words
    assert f"work:{job.subject}" == job.lane
    assert reverse("admin:conflicts_lease_changelist") in text


@pytest.mark.parametrize(("query", "found"), [({}, {"a", "b"}), ({"state__exact": "queued"}, {"a"})])
def test_filter_by_state(ada: Client, query: dict[str, str], found: set[str]) -> None:
    chore("a")
    jobs.cancel(chore("b").key, by=cast.SYSTEM)
    assert {job.key for job in ada.get(reverse(LIST), query).context["cl"].result_list} == found


def test_retry_gives_it_another_chance_and_closes_its_record(manuela: Client) -> None:
    job = poisoned(chore("k"))
    assert press(manuela, job, "retry").status_code == 302
    assert (now(job).state, now(job).attempts) == (JobState.QUEUED, 0)
    assert told(job)[-1] == "retried"
    record = Conflict.objects.get(key="k")
    assert (record.resolution, record.closed_by.split(":")[2]) == ("retried", "Manuela Moraes")
    assert "it was given another chance" in page(manuela, job)


def test_cancel_ends_it_and_closes_its_record(manuela: Client) -> None:
    job = poisoned(chore("k"))
    assert press(manuela, job, "cancel", why="Not needed").status_code == 302
    assert now(job).state == JobState.CANCELLED
    assert Conflict.objects.get(key="k").resolution == "dropped"
    text = page(manuela, job)
    assert "Not needed" in text
    assert "Cancel this work" not in text


def test_queued_work_is_cancelled_and_not_retried(manuela: Client) -> None:
    job = chore("k")
    assert "Try again" not in page(manuela, job)
    assert press(manuela, job, "retry").status_code == 422
    assert now(job).state == JobState.QUEUED
    assert press(manuela, job, "cancel").status_code == 302
    assert now(job).state == JobState.CANCELLED


def test_of_two_people_the_second_is_told_who_was_faster(manuela: Client, ada: Client) -> None:
    job = poisoned(chore("k"))
    seen = shown(ada, job)
    press(manuela, job, "retry")
    answer = press(ada, job, "cancel", seen=seen)
    assert answer.status_code == 409
    assert "Manuela Moraes was faster; its state is now: queued" in answer.content.decode()
    assert now(job).state == JobState.QUEUED


def test_a_cancel_does_not_reach_work_that_began_meanwhile(manuela: Client) -> None:
    job = chore("k")
    seen = shown(manuela, job)
    held = running.claim(partition(job))
    assert held is not None
    answer = press(manuela, job, "cancel", seen=seen)
    assert answer.status_code == 409
    assert "its state is now: running" in answer.content.decode()
    assert now(job).state == JobState.RUNNING


def test_a_retry_is_for_the_failure_that_was_seen(manuela: Client, ada: Client) -> None:
    """In review again, after a colleague's retry: somebody must have looked at the newer failure."""
    job = poisoned(chore("k", Ref.of(cast.deal())))
    seen = shown(ada, job)
    press(manuela, job, "retry")
    poisoned(job)
    assert press(ada, job, "retry", seen=seen).status_code == 409
    assert now(job).state == JobState.REVIEW


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"seen": None}, 428),
        ({"seen": "x"}, 409),
        ({"do": "explode"}, 422),
        ({"why": "a\x00"}, 400),
        ({"why": "x" * 201}, 422),
    ],
)
def test_a_form_that_says_something_else_does_nothing(manuela: Client, said: dict[str, Any], status: int) -> None:
    job = chore("k")
    assert press(manuela, job, **({"do": "cancel"} | said)).status_code == status
    assert now(job).state == JobState.QUEUED


def test_a_delivery_is_not_cancelled_for_its_message_would_be_forgotten(manuela: Client) -> None:
    message = outbox.post("nowhere", "hello", {"text": "Hello"}, by=cast.AGENT)
    job = Job.objects.get(kind=outbox.DELIVER)
    assert reverse("admin:conflicts_outboxmessage_change", args=[message.pk]) in page(manuela, job)
    assert press(manuela, job, "cancel").status_code == 422
    assert now(job).state == JobState.QUEUED


def test_others_meet_a_403_and_another_teams_work_is_not_met(manuela: Client) -> None:
    job = chore("ours")
    theirs = chore("theirs", Ref.of(cast.deal("Theirs", owner=cast.charlie())))
    address = reverse("admin:conflicts_job_decide", args=[job.pk])
    assert signed_in(cast.alice()).post(address, {"do": "cancel", "seen": "queued"}).status_code == 403
    hidden = reverse("admin:conflicts_job_decide", args=[theirs.pk])
    assert manuela.post(hidden, {"do": "cancel", "seen": "queued"}).status_code == 404
    assert manuela.get(address).status_code == 405
    assert {row.key for row in manuela.get(reverse(LIST)).context["cl"].result_list} == {"ours"}
    assert now(job).state == now(theirs).state == JobState.QUEUED


def test_its_record_in_the_review_queue_leads_to_it(manuela: Client) -> None:
    job = poisoned(chore("k", Ref.of(cast.deal())))
    record = Conflict.objects.get(key="k")
    text = manuela.get(reverse("admin:conflicts_conflict_change", args=[record.pk])).content.decode()
    assert reverse("admin:conflicts_job_change", args=[job.pk]) in text
    assert "Open the work to decide on it" in text
