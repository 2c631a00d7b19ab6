"""Jobs: rows that say what is to be done, in which order, and what became of it."""

import datetime as dt

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from conflicts import gate, jobs, leases, running, watching
from conflicts.exceptions import BadJob, KernelError
from conflicts.jobs import Cancelled, PutOff
from conflicts.leases import Claim
from conflicts.models import Conflict, Job, JobState, LeaseEvent
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import Activity, Opportunity
from tests import cast
from tests.conflicts.chores import CHORE, chore, doing, goes_silent, now, partition, run_all, told


def fails(job: Job, claim: Claim) -> None:
    raise ValueError("postgres://vigente:secret@host/")


@pytest.mark.django_db
class TestEnqueue:
    def test_the_same_key_and_content_is_one_job(self) -> None:
        deal = Ref.of(cast.deal())
        assert chore("once", deal, {"n": 1}).pk == chore("once", deal, {"n": 1}).pk
        assert Job.objects.count() == 1

    def test_the_same_key_with_other_content_is_refused(self) -> None:
        chore("once", payload={"n": 1})
        with pytest.raises(BadJob, match="other work"):
            chore("once", payload={"n": 2})

    @pytest.mark.parametrize("key", ["", "k" * 256])
    def test_a_key_has_bounds(self, key: str) -> None:
        with pytest.raises(BadJob, match="1 to 255"):
            chore(key)

    @pytest.mark.parametrize("after", [-1, float("nan"), float("inf")])
    def test_work_is_now_or_later(self, after: float) -> None:
        with pytest.raises(BadJob, match="not before"):
            chore("when", after=after)

    def test_an_unknown_kind_is_refused(self) -> None:
        with pytest.raises(BadJob, match="no kind"):
            jobs.enqueue("test.none", "k")

    def test_it_is_there_if_and_only_if_the_caller_commits(self) -> None:
        with transaction.atomic():
            chore("rolled back")
            transaction.set_rollback(True)
        assert not Job.objects.exists()

    def test_a_subject_numbers_its_jobs(self) -> None:
        one, other = Ref.of(cast.deal("One")), Ref.of(cast.deal("Other"))
        numbers = [chore(f"k{i}", subject).sequence for i, subject in enumerate([one, one, other, one])]
        assert numbers == [1, 2, 1, 3]

    def test_the_form_of_a_kind_is_registered_once(self) -> None:
        with pytest.raises(ValueError, match="already"):
            jobs.register(CHORE, fails)
        with pytest.raises(ValueError, match="at most"):
            jobs.register("test.endless", fails, seconds=91)


@pytest.mark.django_db
class TestOrder:
    def test_a_subject_is_served_first_come_first_served(self) -> None:
        deal = Ref.of(cast.deal())
        keys = [chore(f"k{i}", deal).key for i in range(5)]
        assert run_all() == keys
        assert set(Job.objects.values_list("state", flat=True)) == {"done"}

    def test_what_lies_in_the_future_holds_nobody_up(self) -> None:
        deal = Ref.of(cast.deal())
        chore("reminder", deal, due_at=timezone.now() + dt.timedelta(days=3))
        chore("now", deal)
        assert run_all() == ["now"]

    def test_one_that_failed_keeps_its_place(self, settings: object) -> None:
        settings.VIGENTE_BACKOFF_SECONDS = 60  # type: ignore[attr-defined]
        deal, other = Ref.of(cast.deal()), Ref.of(cast.deal("Other"))
        first, second = chore("first", deal), chore("second", deal)
        with doing(fails):
            running.run_next(partition(first))
        chore("elsewhere", other)
        assert run_all() == ["elsewhere"]  # second may rest on first; the other subject does not
        assert (now(first).state, now(second).state) == ("queued", "queued")

    def test_nobody_of_the_subject_is_claimed_while_one_runs(self) -> None:
        deal = Ref.of(cast.deal())
        first, _ = chore("first", deal), chore("second", deal)
        assert running.claim(partition(first)) is not None
        assert running.claim(partition(first)) is None

    def test_the_database_itself_lets_one_run(self) -> None:
        deal = Ref.of(cast.deal())
        chore("first", deal), chore("second", deal)
        with pytest.raises(IntegrityError), transaction.atomic():
            Job.objects.update(state=JobState.RUNNING)


@pytest.mark.django_db
class TestFailing:
    def test_the_fifth_failure_hands_it_to_a_person_and_the_later_ones_go_ahead(self) -> None:
        deal = cast.deal()
        poison, later = chore("poison", Ref.of(deal)), chore("later", Ref.of(deal))

        def only_poison(job: Job, claim: Claim) -> None:
            if job.key == "poison":
                fails(job, claim)

        with doing(only_poison):
            assert run_all() == ["poison"] * 5 + ["later"]
        poison, later = now(poison), now(later)
        assert (poison.state, poison.attempts, later.state) == ("review", 5, "done")
        record = Conflict.objects.waiting().get()
        assert (record.state, record.subject_id, record.key) == ("needs_human_decision", deal.pk, "poison")
        assert record.responsible_id == deal.owner_id
        assert "5 times" in str(record.told)
        assert record.not_done is not None
        assert record.to_do is not None

    def test_a_strangers_words_are_not_kept(self) -> None:
        """They may hold an address with a password in it."""
        job = chore("poison")
        with doing(fails):
            run_all()
        assert now(job).error == "ValueError"
        assert "secret" not in repr([record.__dict__ for record in Conflict.objects.all()])

    def test_our_own_words_are_kept(self) -> None:
        def ours(job: Job, claim: Claim) -> None:
            raise KernelError("The line is busy.")

        job = chore("busy")
        with doing(ours):
            running.run_next(partition(job))
        assert now(job).error == "KernelError: The line is busy."

    def test_the_pause_doubles_up_to_a_limit(self, settings: object) -> None:
        settings.VIGENTE_BACKOFF_SECONDS = 5  # type: ignore[attr-defined]
        assert [running.pause_after(n) for n in (1, 2, 3, 4)] == [5, 10, 20, 40]
        assert running.pause_after(20) == running.LONGEST_PAUSE

    def test_a_person_gives_it_another_five_attempts(self) -> None:
        job = chore("poison")
        with doing(fails):
            run_all()
        assert jobs.retry("poison", by=cast.SYSTEM)
        assert not jobs.retry("poison", by=cast.SYSTEM)
        assert run_all() == ["poison"]
        assert now(job).state == "done"
        assert Conflict.objects.get().resolution == "retried"

    def test_a_person_drops_it(self) -> None:
        job = chore("poison")
        with doing(fails):
            run_all()
        assert jobs.cancel("poison", by=cast.SYSTEM) is Cancelled.BEFORE
        assert now(job).state == "cancelled"
        assert Conflict.objects.get().resolution == "dropped"

    def test_put_off_is_no_attempt(self) -> None:
        def later(job: Job, claim: Claim) -> None:
            raise PutOff(60, "the line is busy")

        job = chore("later")
        with doing(later):
            assert run_all() == ["later"]
        job = now(job)
        assert (job.state, job.attempts) == ("queued", 0)
        assert job.due_at > timezone.now() + dt.timedelta(seconds=50)


@pytest.mark.django_db
class TestCancelling:
    def test_cancelled_work_is_not_done(self) -> None:
        job = chore("k")
        assert jobs.cancel("k", by=cast.SYSTEM, why="not needed") is Cancelled.BEFORE
        assert run_all() == []
        assert (now(job).state, told(job)) == ("cancelled", ["cancelled"])

    def test_what_has_ended_is_not_cancelled(self) -> None:
        job = chore("k")
        run_all()
        assert jobs.cancel("k", by=cast.SYSTEM) is Cancelled.TOO_LATE
        assert now(job).state == "done"

    def test_nothing_is_no_work(self) -> None:
        assert jobs.cancel("none", by=cast.SYSTEM) is Cancelled.UNKNOWN

    def test_running_work_writes_nothing_more_and_learns_it_at_its_end(self) -> None:
        deal = cast.deal()
        job = chore("k", Ref.of(deal))
        outcomes = []

        def write(job: Job, claim: Claim) -> None:
            outcomes.append(log(deal, claim, "before"))
            assert jobs.cancel("k", by=cast.SYSTEM) is Cancelled.DURING
            outcomes.append(log(deal, claim, "after"))

        with doing(write):
            run_all()
        assert [outcome.result for outcome in outcomes] == [Result.APPLIED, Result.REFUSED]
        assert list(Activity.objects.values_list("text", flat=True)) == ["before"]
        assert (now(job).state, told(job)) == ("cancelled", ["cancelled", "lost"])


def log(deal: Opportunity, claim: Claim, text: str, key: str = "") -> object:
    return gate.commit(
        Proposal(
            action="opportunity.log",
            by=cast.AGENT,
            params={"kind": "note", "text": text},
            basis=(Read.of(Opportunity.objects.get(pk=deal.pk)),),
            lease=claim,
            key=key,
        )
    )


@pytest.mark.django_db
class TestRecovery:
    def test_the_work_of_a_dead_worker_is_done_by_another(self) -> None:
        deal = Ref.of(cast.deal())
        job = chore("k", deal)
        assert running.claim(partition(job)) is not None
        assert watching.watch().recovered == 0  # it lives
        goes_silent(job)
        assert watching.watch().recovered == 1
        assert run_all() == ["k"]
        assert (now(job).state, now(job).attempts, told(job)) == ("done", 2, ["recovered"])
        assert LeaseEvent.objects.filter(kind="taken_over", unit="k").exists()

    def test_a_late_holder_changes_nothing_and_is_recorded(self) -> None:
        deal = cast.deal()
        job = chore("k", Ref.of(deal))
        zombie = running.claim(partition(job))
        assert zombie is not None
        goes_silent(job)
        watching.watch()
        outcomes = []
        with doing(lambda job, claim: outcomes.append(log(deal, claim, "the new one"))):
            run_all()
        outcomes.append(log(deal, zombie.grant.claim, "the zombie"))
        assert [outcome.result for outcome in outcomes] == [Result.APPLIED, Result.REFUSED]
        assert not running.failed(zombie, "too late")
        assert not running.done(zombie)
        assert not running.put_off(zombie, 1)
        assert (now(job).state, now(job).error) == ("done", "")
        assert told(job) == ["recovered", "lost", "lost", "lost"]

    def test_a_late_end_does_not_count_before_anybody_took_over(self) -> None:
        job = chore("k")
        late = running.claim(partition(job))
        assert late is not None
        goes_silent(job)
        assert not running.done(late)
        assert now(job).state == "running"
        assert watching.watch().recovered == 1

    def test_one_that_has_beaten_since_the_watch_looked_keeps_its_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        job = chore("k")
        held = running.claim(partition(job))
        assert held is not None
        monkeypatch.setattr(watching, "_ended", lambda: [job.pk])  # what it saw a moment ago
        assert watching.watch().recovered == 0
        assert running.done(held)

    def test_a_broken_claim_is_taken_up(self) -> None:
        job = chore("k")
        assert running.claim(partition(job)) is not None
        assert leases.break_(job.lane, by=cast.SYSTEM, why="it hangs")
        assert watching.watch().recovered == 1

    def test_what_kills_its_worker_five_times_waits_for_a_person(self) -> None:
        job = chore("k", Ref.of(cast.deal()))
        for _ in range(4):
            assert running.claim(partition(job)) is not None
            goes_silent(job)
            assert watching.watch().recovered == 1
        assert running.claim(partition(job)) is not None
        goes_silent(job)
        assert watching.watch().reviewed == 1
        assert now(job).state == "review"
        assert Conflict.objects.waiting().filter(key="k").count() == 1
        assert running.claim(partition(job)) is None


@pytest.mark.django_db
class TestWhatIsNotUnderstood:
    def test_a_gone_subject_ends_it(self) -> None:
        done: list[str] = []
        jobs_ = [chore("gone", Ref("crm.opportunity", 999_999)), chore("no model", Ref("crm.nothing", 1))]
        with doing(lambda job, claim: done.append(job.key)):
            assert sorted(run_all()) == ["gone", "no model"]
        assert done == []
        for job in jobs_:
            assert (now(job).state, told(job)) == ("failed", ["subject_gone"])

    @pytest.mark.parametrize("newer", [{"schema": 2}, {"kind": "test.of_tomorrow"}])
    def test_a_newer_releases_job_is_left_to_newer_workers_and_then_to_a_person(self, newer: dict[str, object]) -> None:
        deal = Ref.of(cast.deal())
        job, _ = chore("new", deal), chore("old", deal)
        Job.objects.filter(pk=job.pk).update(**newer)
        done: list[str] = []
        with doing(lambda job, claim: done.append(job.key)):
            assert run_all() == ["new"] * 5 + ["old"]
        assert done == ["old"]
        assert (now(job).state, now(job).error) == ("review", "KernelError: Not known to this release.")
