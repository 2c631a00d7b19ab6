"""The bell and its messages: hints that may be lost, late, doubled or strange, and change nothing of what is done."""

import datetime as dt
import logging
from typing import Any

import pytest
from celery import current_app
from django.db import transaction
from django.utils import timezone

from conflicts import bell, jobs, partitions, running, tasks, watching
from conflicts.models import Job, JobEvent
from conflicts.refs import Ref
from tests import cast
from tests.conflicts.chores import CHORE, chore, doing, now, partition, run_all, told


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The messages that would have gone to the broker."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **how: sent.append({"name": name, **how}))
    monkeypatch.setattr(bell, "_quiet_until", 0.0)
    return sent


class TestPartitions:
    def test_a_subject_has_one_slot_for_ever(self) -> None:
        """Stored in rows and read by every release: this number must never change."""
        assert partitions.slot_of("crm.opportunity:1") == 23_709

    def test_subjects_are_spread(self, settings: Any) -> None:
        settings.VIGENTE_PARTITIONS = 16
        found = [partitions.partition_of(partitions.slot_of(f"crm.opportunity:{n}")) for n in range(1600)]
        assert all(60 < found.count(number) < 140 for number in range(16))

    def test_a_message_goes_to_the_queue_of_its_subject(self) -> None:
        for slot in range(8):
            where = current_app.amqp.router.route(
                {"headers": {partitions.SLOT_HEADER: slot}}, partitions.WORK, ("kind", "key"), {}
            )
            assert where["queue"].name == f"p{slot % 4}"

    def test_one_rung_by_hand_goes_to_some_partition_and_others_go_where_they_went(self) -> None:
        by_hand = partitions.route(partitions.WORK, None, None, {})
        assert by_hand is not None
        assert by_hand["queue"] in partitions.queues()
        assert partitions.route("agents.tasks.sweep", (), {}, {}) is None

    @pytest.mark.django_db
    def test_the_number_of_partitions_may_change_while_work_waits(self, settings: Any) -> None:
        keys = {chore(f"k{n}").key for n in range(40)}
        settings.VIGENTE_PARTITIONS = 3
        assert set(run_all()) == keys


@pytest.mark.django_db
class TestRinging:
    def test_after_the_commit_and_with_kind_and_key_only(
        self, rung: list[dict[str, Any]], django_capture_on_commit_callbacks: Any
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            job = chore("k", Ref.of(cast.deal()), {"secret": "not in the message"})
            assert rung == []
        (message,) = rung
        assert message["args"] == (CHORE, "k")
        assert message["headers"] == {partitions.SLOT_HEADER: job.slot}
        assert message["countdown"] is None

    def test_a_rolled_back_job_rings_for_nothing(
        self, rung: list[dict[str, Any]], django_capture_on_commit_callbacks: Any
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
            chore("k")
            transaction.set_rollback(True)
        assert rung == []

    def test_no_message_waits_longer_than_a_minute(
        self, rung: list[dict[str, Any]], django_capture_on_commit_callbacks: Any
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            chore("soon", after=30)
            chore("tomorrow", due_at=timezone.now() + dt.timedelta(days=1))
        (message,) = rung
        assert message["args"] == (CHORE, "soon")
        assert 29 < message["countdown"] <= 30 + bell.MARGIN

    def test_a_broker_that_is_away_is_asked_once_and_nothing_is_lost(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
    ) -> None:
        asked = []

        def away(name: str, **how: Any) -> None:
            asked.append(name)
            raise ConnectionError("redis://:password@host is away")

        monkeypatch.setattr(current_app, "send_task", away)
        monkeypatch.setattr(bell, "_quiet_until", 0.0)
        with caplog.at_level(logging.WARNING), django_capture_on_commit_callbacks(execute=True):
            for number in range(20):
                chore(f"k{number}")
        assert len(asked) == 1
        assert "password" not in caplog.text
        assert len(run_all()) == 20


@pytest.mark.django_db
class TestWatch:
    def test_it_rings_for_what_is_due_and_not_again_at_once(self, rung: list[dict[str, Any]]) -> None:
        chore("due")
        chore("later", after=3600)
        assert [watching.watch().rung for _ in range(3)] == [1, 0, 0]
        assert [message["args"] for message in rung] == [(CHORE, "due")]

    def test_a_bell_that_nobody_heard_is_rung_again(self, rung: list[dict[str, Any]]) -> None:
        job = chore("due")
        watching.watch()
        Job.objects.filter(pk=job.pk).update(rung_at=timezone.now() - dt.timedelta(seconds=11))
        assert watching.watch().rung == 1

    def test_a_long_queue_gets_few_bells(self, rung: list[dict[str, Any]]) -> None:
        for number in range(100):
            chore(f"k{number}")
        assert watching.watch().rung == watching.BELLS * partitions.count()

    def test_it_does_not_ring_for_who_has_to_wait_for_another(self, rung: list[dict[str, Any]]) -> None:
        deal = Ref.of(cast.deal())
        first, _ = chore("first", deal), chore("second", deal)
        running.claim(partition(first))
        assert watching.watch().rung == 0

    def test_what_is_lost_is_found_within_45_seconds(self) -> None:
        """A claim, two rounds of the watch: the largest values that the settings take leave room."""
        longest_claim, longest_round = 20, 15
        assert longest_claim + longest_round < 45


@pytest.mark.django_db
class TestMessages:
    def test_one_brings_a_worker_who_does_all_that_is_due_in_the_partition(self, settings: Any) -> None:
        settings.VIGENTE_PARTITIONS = 1
        for number in range(3):
            chore(f"k{number}")
        tasks.work(CHORE, "k2")
        assert set(Job.objects.values_list("state", flat=True)) == {"done"}

    def test_who_has_no_more_time_tells_somebody_to_go_on(self, rung: list[dict[str, Any]], settings: Any) -> None:
        settings.VIGENTE_PARTITIONS = 1
        chore("first"), chore("second")
        assert running.drain(0, seconds=0) == 0
        assert [message["args"] for message in rung] == [(CHORE, "first")]

    def test_late_ones_are_counted_and_do_nothing(self) -> None:
        job = chore("k")
        tasks.work(CHORE, "k")
        for _ in range(3):
            tasks.work(CHORE, "k")
        assert (now(job).state, now(job).attempts, now(job).late_bells) == ("done", 1, 3)

    def test_one_that_comes_again_while_the_first_runs_does_nothing(self) -> None:
        job = chore("k", Ref.of(cast.deal()))
        runs: list[int] = []

        def again(job: Job, claim: object) -> None:
            runs.append(job.attempts)
            tasks.work(CHORE, "k")

        with doing(again):
            tasks.work(CHORE, "k")
        assert (runs, now(job).state, now(job).late_bells) == ([1], "done", 1)

    def test_one_for_cancelled_work_is_recorded(self) -> None:
        job = chore("k")
        jobs.cancel("k", by=cast.SYSTEM)
        tasks.work(CHORE, "k")
        assert (now(job).state, told(job)) == ("cancelled", ["cancelled", "late_message"])

    @pytest.mark.parametrize(
        ("kind", "key"),
        [(CHORE, "never was"), ("test.other", "k"), (None, None), ({}, ["x"]), ("\x00", "a\x00b" * 999)],
    )
    def test_one_for_what_is_not_there_is_recorded(self, kind: Any, key: Any) -> None:
        job = chore("k")
        tasks.work(kind, key)
        assert JobEvent.objects.get().kind == "unknown_message"
        assert now(job).state == "queued"

    def test_one_from_a_newer_release_still_rings(self) -> None:
        job = chore("k")
        tasks.work(CHORE, "k", 7, {"x": 1}, priority="high", **{"a\x00": 1})
        assert now(job).state == "done"
        assert JobEvent.objects.get().detail == {"kind": CHORE, "fields": ["a", "priority"], "more": 2}

    def test_an_empty_one_is_recorded(self) -> None:
        tasks.work()
        assert JobEvent.objects.get().kind == "unknown_message"
