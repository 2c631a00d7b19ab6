"""Leases: one holder by the database's clock, a token that only grows, and nothing left for whoever lost it."""

import time

import pytest
from django.db import connection, transaction

from conflicts import gate, leases
from conflicts.exceptions import BadLease, LeaseLost
from conflicts.models import Conflict, Lease, LeaseEvent
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from tests import cast
from tests.races.threads import in_a_thread, together

KEY = "crm.opportunity:1"


def take(key: str = KEY, *, seconds: float = 30, unit: str = "unit") -> leases.Grant | leases.Busy:
    return leases.acquire(key, by=cast.AGENT, unit=unit, reason="a test", seconds=seconds)


def granted(key: str = KEY, *, seconds: float = 30, unit: str = "unit") -> leases.Grant:
    grant = take(key, seconds=seconds, unit=unit)
    assert isinstance(grant, leases.Grant), grant
    return grant


def end_of(key: str = KEY) -> None:
    """The lease's time passes: what the clock would do, done to the row."""
    Lease.objects.filter(key=key).update(expires_at="2000-01-01T00:00Z")


@pytest.mark.django_db
class TestOneHolder:
    def test_a_second_one_is_told_who_holds_it_and_for_how_long(self) -> None:
        granted(unit="the first")
        busy = take()
        assert isinstance(busy, leases.Busy)
        assert busy.unit == "the first"
        assert 0 < busy.seconds_left <= 30

    def test_after_a_release_the_next_one_gets_a_larger_token(self) -> None:
        first = granted()
        assert leases.release(first)
        assert granted().claim.fence == first.claim.fence + 1

    def test_after_expiry_the_takeover_is_recorded(self) -> None:
        first = granted(unit="went silent")
        end_of()
        second = granted()
        assert second.claim.fence > first.claim.fence
        assert Lease.objects.get(key=KEY).recovery["unit"] == "went silent"
        assert LeaseEvent.objects.filter(kind="taken_over", fence=second.claim.fence).exists()

    def test_a_holder_is_an_acquisition_and_not_a_name(self) -> None:
        first = granted()
        end_of()
        assert granted().claim.holder != first.claim.holder

    def test_a_lease_that_cannot_be_is_refused_in_words(self) -> None:
        for seconds in (0, -1, 0.001, 601, float("nan"), float("inf")):
            with pytest.raises(BadLease, match="seconds"):
                take(seconds=seconds)
        with pytest.raises(BadLease, match="200 characters"):
            take("k" * 201)
        assert not Lease.objects.exists()


@pytest.mark.django_db
class TestLosingIt:
    def test_a_stranger_cannot_release_it(self) -> None:
        old = granted()
        end_of()
        new = granted()
        assert not leases.release(old)
        assert leases.in_force([new.claim]) == {new.claim}

    def test_a_late_holder_cannot_renew(self) -> None:
        late = granted()
        end_of()
        with pytest.raises(LeaseLost):
            leases.renew(late)
        assert LeaseEvent.objects.filter(kind="lost").exists()

    def test_a_renewal_gives_the_whole_time_again(self) -> None:
        before = granted(seconds=20)
        until = Lease.objects.get(key=KEY).expires_at
        leases.renew(before, seconds=40)
        assert (Lease.objects.get(key=KEY).expires_at - until).total_seconds() >= 19.9

    def test_a_broken_lease_is_lost_and_recorded(self) -> None:
        grant = granted()
        assert leases.break_(KEY, by=cast.SYSTEM, why="it hangs")
        assert leases.in_force([grant.claim]) == set()
        assert LeaseEvent.objects.get(kind="broken").detail["why"] == "it hangs"
        assert not leases.break_(KEY, by=cast.SYSTEM, why="again")

    def test_a_claim_with_anothers_token_holder_or_key_is_not_in_force(self) -> None:
        claim = granted().claim
        other = granted("crm.opportunity:2").claim
        forged = [
            leases.Claim(key=claim.key, holder=claim.holder, fence=claim.fence + 1),
            leases.Claim(key=claim.key, holder=other.holder, fence=claim.fence),
            leases.Claim(key=other.key, holder=claim.holder, fence=claim.fence),
            leases.Claim(key="nothing", holder=claim.holder, fence=claim.fence),
        ]
        assert leases.in_force([claim, *forged]) == {claim}

    def test_a_holder_stops_itself_at_two_thirds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        grant = granted(seconds=30)
        monkeypatch.setattr(time, "monotonic", lambda: grant.asked_at + 19.9)
        assert not grant.must_stop
        monkeypatch.setattr(time, "monotonic", lambda: grant.asked_at + 20.1)
        assert grant.must_stop


@pytest.mark.django_db(transaction=True)
class TestAtTheGate:
    def propose(self, lease: leases.Claim) -> Proposal:
        deal = cast.deal()
        return Proposal(
            action="opportunity.edit",
            by=cast.AGENT,
            params={"decision": "Friday"},
            basis=(Read.of(deal),),
            lease=lease,
        )

    def test_the_holder_writes(self) -> None:
        assert gate.commit(self.propose(granted().claim)).result is Result.APPLIED

    def test_a_late_holder_is_refused_though_everything_else_still_fits(self) -> None:
        grant = granted()
        proposal = self.propose(grant.claim)
        end_of()
        outcome = gate.commit(proposal)
        assert (outcome.result, outcome.state) == (Result.REFUSED, "lease_expired")
        assert Conflict.objects.get(pk=outcome.record).state == "lease_expired"

    def test_the_clock_is_the_one_of_now_and_not_of_the_transactions_start(self) -> None:
        """`now()` stands still in a transaction: a lease that ends meanwhile would still look valid."""
        with transaction.atomic():
            grant = granted(seconds=leases.SHORTEST)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(%s)", [leases.SHORTEST * 2])
                cursor.execute("SELECT expires_at > now(), expires_at > clock_timestamp() FROM conflicts_lease")
                assert cursor.fetchone() == (True, False)
            assert leases.in_force([grant.claim]) == set()

    def test_a_holder_that_waited_for_the_row_while_it_was_taken_over_is_refused(self) -> None:
        old = granted()
        end_of()
        with transaction.atomic():
            new = granted()
            # The old holder asks on a connection of its own: it waits for the row, and must then see the new holder.
            waiting = in_a_thread_while_locked(old.claim)
        assert waiting() == set()
        assert leases.in_force([new.claim]) == {new.claim}


def in_a_thread_while_locked(claim: leases.Claim):  # type: ignore[no-untyped-def]
    """Start asking for `claim` and come back when PostgreSQL says that the question waits for a lock."""
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connections

    def ask() -> set[leases.Claim]:
        try:
            with transaction.atomic():
                return leases.in_force([claim])
        finally:
            connections.close_all()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(ask)
    for _ in range(3000):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                break
            cursor.execute("SELECT pg_sleep(0.01)")
    else:
        raise AssertionError("nobody waited for the row")

    def answer() -> set[leases.Claim]:
        pool.shutdown()
        return future.result(timeout=30)

    return answer


@pytest.mark.django_db(transaction=True)
def test_of_twenty_that_ask_at_once_one_gets_it() -> None:
    answers = together(*[take] * 20)
    assert sum(isinstance(answer, leases.Grant) for answer in answers) == 1
    assert Lease.objects.get(key=KEY).fence == 1


@pytest.mark.django_db(transaction=True)
def test_of_twenty_that_take_over_at_once_one_gets_it() -> None:
    granted()
    end_of()
    answers = together(*[take] * 20)
    assert sum(isinstance(answer, leases.Grant) for answer in answers) == 1
    assert Lease.objects.get(key=KEY).fence == 2


@pytest.mark.django_db(transaction=True)
def test_a_lease_ends_with_the_block_also_when_it_fails() -> None:
    def fails() -> None:
        with leases.holding(KEY, by=cast.AGENT, unit="u", reason="r", seconds=5) as got:
            assert isinstance(got, leases.Grant)
            raise ValueError("it fails")

    with pytest.raises(ValueError, match="it fails"):
        fails()
    assert isinstance(in_a_thread(take), leases.Grant)
