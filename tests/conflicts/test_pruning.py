"""`manage.py prune`: what is old goes; nothing outside is done twice for it, no token and no number begins anew."""

import datetime as dt
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from conflicts import actions, actors, claims, gate, jobs, leases, pruning, running
from conflicts.actions import Action
from conflicts.models import Conflict, Job, JobEvent, JobState, Lease, LeaseEvent, LedgerEntry, OutboxMessage
from conflicts.models.job import JobEventKind
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.pruning import Pruned
from conflicts.refs import Ref
from conflicts.work import Work
from crm.actions.fields import Params
from crm.models import Opportunity
from tests import cast
from tests.conflicts.chores import CHORE, chore, doing, partition, run_all

pytestmark = pytest.mark.django_db
DAYS = 90
GREET, REMIND = "opportunity.test_greet_outside", "opportunity.test_remind"


def greet(work: Work) -> None:
    work.send("mailbox", {"text": "Hello"}, key=work.proposal.key)


def remind(work: Work) -> None:
    work.later(CHORE, {}, key=f"after:{work.proposal.key}")


@pytest.fixture(autouse=True)
def _effects() -> Iterator[None]:
    """An action whose effect is outside, and one whose effect is not."""
    for name, apply in ((GREET, greet), (REMIND, remind)):
        actions._ACTIONS[name] = Action(
            name=name,
            subject=Opportunity,
            params=Params,
            words="Greet",
            apply=apply,
            writes_aspects=frozenset({"activities"}),
        )
    yield
    for name in (GREET, REMIND):
        del actions._ACTIONS[name]


def wish(name: str, deal: Opportunity, key: str) -> Proposal:
    return Proposal(action=name, by=cast.AGENT, key=key, basis=(Read.of(deal),))


def do(name: str, deal: Opportunity, key: str) -> Outcome:
    return gate.commit(wish(name, deal, key))


def make_old(*, days: int = DAYS + 1) -> None:
    """The time passes: what the clock would do, done to the rows."""
    then = timezone.now() - dt.timedelta(days=days)
    LedgerEntry.objects.update(written_at=then)
    Job.objects.update(created_at=then)
    Job.objects.exclude(finished_at=None).update(finished_at=then)
    for model in (JobEvent, LeaseEvent):
        model.objects.update(at=then)


def prune(**how: Any) -> Pruned:
    return pruning.prune(**{"days": DAYS, **how})


class TestTheLedger:
    def test_the_key_of_an_effect_outside_answers_for_ever_and_others_may_run_anew(self) -> None:
        greeting, reminder = wish(GREET, cast.deal("One"), "greeting"), wish(REMIND, cast.deal("Two"), "reminder")
        assert gate.commit(greeting).written
        assert gate.commit(reminder).written
        make_old()

        assert prune().ledger_entries == 1
        assert gate.commit(greeting).result is Result.DUPLICATE
        assert OutboxMessage.objects.count() == 1
        assert gate.commit(reminder).result is not Result.DUPLICATE

    def test_an_answer_that_wrote_nothing_outside_is_not_kept_for_it(self) -> None:
        deal = cast.deal()
        stale = Proposal(action=GREET, by=cast.AGENT, key="late", basis=(Read.of(deal, "amount"),))
        assert cast.propose("opportunity.edit", deal, by=cast.bob(), amount="7").written
        assert not gate.commit(stale).written
        deal.refresh_from_db()
        assert do(GREET, deal, "in time").written
        deal.refresh_from_db()
        assert do(REMIND, deal, "reminder").written

        flags = dict(LedgerEntry.objects.values_list("key", "outbound"))
        assert flags == {"late": False, "in time": True, "reminder": False}

    def test_the_young_stay(self) -> None:
        do(REMIND, cast.deal(), "reminder")
        make_old(days=DAYS - 1)

        assert prune() == Pruned()
        assert LedgerEntry.objects.count() == 1

    @pytest.mark.parametrize("state", [JobState.QUEUED, JobState.REVIEW])
    def test_what_unfinished_work_has_done_so_far_is_not_forgotten(self, state: JobState) -> None:
        """Its first attempt wrote under a key of its own; the next one must find that."""
        job = chore("long")
        do(REMIND, cast.deal(), "step 1 of long")
        make_old()
        then = timezone.now() - dt.timedelta(days=DAYS + 2)
        Job.objects.filter(pk=job.pk).update(state=state, created_at=then, started_at=then)

        assert prune().ledger_entries == 0

        Job.objects.filter(pk=job.pk).update(state=JobState.DONE, finished_at=then)
        assert prune().ledger_entries == 1


class TestJobsAndLeases:
    def test_ended_jobs_go_with_their_leases_and_events_and_open_ones_stay(self) -> None:
        with doing(lambda job, claim: None):
            done = chore("done")
            run_all()
        chore("open", after=3600)
        jobs.tell("done", JobEventKind.LATE_MESSAGE)
        make_old()

        gone = prune()

        assert (gone.jobs, gone.leases, gone.job_events, gone.lease_events) == (1, 1, 1, 2)
        assert list(Job.objects.values_list("key", flat=True)) == ["open"]
        assert not Lease.objects.filter(key=f"job:{done.pk}").exists()
        assert not LeaseEvent.objects.exists()

    def test_a_holder_from_before_is_still_refused_when_its_lease_is_gone(self) -> None:
        job = chore("once")
        held = jobs_claim(job)
        assert jobs.cancel("once", by=cast.AGENT) == jobs.Cancelled.DURING
        make_old()
        assert prune().leases == 1

        assert leases.in_force([held]) == set()

    def test_no_token_and_no_number_of_a_subject_begins_anew(self) -> None:
        subject = Ref.of(cast.deal())
        for number in range(3):
            chore(f"k{number}", subject)
        run_all()
        fence = Lease.objects.get(key=f"work:{subject}").fence
        make_old()

        assert prune().jobs == 2, "the last one keeps the number"
        assert prune().jobs == 0
        new = chore("k3", subject)
        run_all()

        assert new.sequence == 4
        assert Lease.objects.get(key=f"work:{subject}").fence == fence + 1 == 4

    def test_leases_of_other_things_stay(self) -> None:
        grant = leases.acquire("to:mailbox", by=cast.AGENT, unit="u", reason="r", seconds=10)
        assert isinstance(grant, leases.Grant)
        leases.release(grant)
        make_old()

        assert prune() == Pruned(lease_events=2)
        assert Lease.objects.get().fence == 1

    def test_a_reviewers_claim_goes_with_its_conflict_and_one_that_waits_or_is_held_keeps_it(self) -> None:
        records = [clash(f"Deal {number}") for number in range(4)]
        settled, waits, held, young = records
        for record in records:
            assert not isinstance(claims.take(record, by=actors.person(cast.manager())), claims.Holder)
            if record != held:
                assert claims.give_back(record, by=actors.person(cast.manager()))
        then = timezone.now() - dt.timedelta(days=DAYS + 1)
        Conflict.objects.filter(pk__in=[settled, held]).update(closed_at=then)
        Conflict.objects.filter(pk=young).update(closed_at=timezone.now())

        assert prune(dry_run=True).leases == prune().leases == 1
        assert set(Lease.objects.values_list("key", flat=True)) == {claims.key_of(pk) for pk in (waits, held, young)}

    def test_batches_take_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pruning, "BATCH", 2)
        for number in range(5):
            chore(f"k{number}")
        run_all()
        make_old()
        parts: list[Pruned] = []

        gone = prune(progress=parts.append)

        assert (gone.jobs, gone.leases, gone.lease_events) == (5, 5, 10)
        assert [part.jobs for part in parts if part.jobs] == [2, 2, 1]
        assert not Job.objects.exists()

    def test_a_dry_run_says_the_same_and_takes_nothing(self) -> None:
        for number in range(3):
            chore(f"k{number}")
        run_all()
        make_old()

        # The events of a job go once the job has gone; there are none here.
        told = prune(dry_run=True)

        assert Job.objects.count() == 3
        assert told == prune() == Pruned(jobs=3, leases=3, lease_events=6)


class TestTheCommand:
    def test_it_speaks_in_numbers(self) -> None:
        chore("k")
        run_all()
        make_old()
        out = io.StringIO()

        call_command("prune", "--dry-run", stdout=out)
        assert "Older than 90 days, would go:" in out.getvalue()
        assert "jobs: 1" in out.getvalue()

        out = io.StringIO()
        call_command("prune", "--days=90", "--json", stdout=out)
        assert json.loads(out.getvalue()) == {
            "days": 90,
            "dry_run": False,
            "ledger_entries": 0,
            "jobs": 1,
            "leases": 1,
            "lease_events": 2,
            "job_events": 0,
        }

    @pytest.mark.parametrize("days", ["1", "0", "-5", "1000000000"])
    def test_the_last_day_is_never_taken(self, days: str) -> None:
        with pytest.raises(CommandError, match="between 2 and"):
            call_command("prune", f"--days={days}")


def clash(name: str) -> int:
    """Bob means another amount than Alice has just saved."""
    deal = cast.deal(name, amount="100")
    cast.propose("opportunity.edit", deal, by=cast.alice(), amount="110")
    outcome = cast.propose("opportunity.edit", deal, by=cast.bob(), amount="120")
    assert outcome.record is not None
    return outcome.record


def jobs_claim(job: Job) -> leases.Claim:
    held = running.claim(partition(job))
    assert held is not None
    return held.grant.claim


def test_the_clock_is_the_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that lives a year ahead takes nothing that is young."""
    do(REMIND, cast.deal(), "reminder")
    monkeypatch.setattr(timezone, "now", lambda: dt.datetime(2099, 1, 1, tzinfo=dt.UTC))

    assert prune() == Pruned()
