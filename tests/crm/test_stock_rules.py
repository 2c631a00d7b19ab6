"""One unit, one promise: said by the action in words, and held by the database whoever writes."""

import datetime as dt

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from conflicts import actors, guard
from conflicts.exceptions import BadParams
from conflicts.models import Conflict, Job
from conflicts.outcomes import Outcome, Result
from crm.models import Reservation, StockItem
from crm.models.stock import ReservationState
from tests import cast, papers
from tests.conflicts import samples
from tests.conflicts.chores import run_all
from tests.governed import item, reserve, soon

pytestmark = pytest.mark.django_db


def told(outcome: Outcome) -> str:
    return str(outcome.sentence)


def fresh(of: StockItem) -> StockItem:
    return StockItem.objects.get(pk=of.pk)


def test_what_is_promised_is_no_longer_free() -> None:
    sensors = item(on_hand=3)
    reserve(sensors, 2)
    now = fresh(sensors)
    assert (now.on_hand, now.held, now.free) == (3, 2, 1)
    assert now.version == 2, "a promise is a change of the item"


def test_more_than_is_free_is_not_promised_and_the_sentence_says_how_many_are() -> None:
    sensors = item(on_hand=3)
    reserve(sensors, 2)
    outcome = cast.propose(
        "stock.reserve", sensors, by=cast.bob(), quantity=2, opportunity=cast.deal().pk, until=soon()
    )
    assert outcome.result is Result.REFUSED
    assert told(outcome) == "2 are wanted, and 1 are free. Nothing was reserved."


def test_who_read_them_as_free_is_told_who_was_faster() -> None:
    read = item(on_hand=1)
    reserve(fresh(read), 1)
    outcome = cast.propose("stock.reserve", read, by=cast.bob(), quantity=1, opportunity=cast.deal().pk, until=soon())
    assert outcome.result is Result.REFUSED
    assert told(outcome).startswith("Alice Amaral was faster: 1 are wanted, and 0 are free now.")
    assert Conflict.objects.get(pk=outcome.record).state == "version_conflict"


def test_a_promise_on_a_newer_version_is_made_while_there_are_enough() -> None:
    read = item(on_hand=3)
    reserve(fresh(read), 1)
    outcome = cast.propose("stock.reserve", read, by=cast.bob(), quantity=2, opportunity=cast.deal().pk, until=soon())
    assert outcome.result is Result.REBASED
    assert fresh(read).free == 0


def test_handing_out_takes_them_off_the_shelf_and_giving_back_frees_them() -> None:
    sensors = item(on_hand=5)
    given, kept = reserve(sensors, 2), reserve(sensors, 1)
    assert cast.propose("stock.consume", sensors, by=cast.bob(), reservation=given.pk).written
    assert cast.propose("stock.release", fresh(sensors), by=cast.bob(), reservation=kept.pk).written
    now = fresh(sensors)
    assert (now.on_hand, now.held, now.free) == (3, 0, 3)


def test_a_promise_ends_once() -> None:
    sensors = item()
    made = reserve(sensors, 1)
    cast.propose("stock.release", sensors, by=cast.alice(), reservation=made.pk)
    again = cast.propose("stock.release", sensors, by=cast.bob(), reservation=made.pk)
    assert again.result is Result.SUPERSEDED
    assert told(again) == "This reservation is given back since Alice Amaral changed it. Nothing was written."
    other = cast.propose("stock.consume", sensors, by=cast.bob(), reservation=made.pk)
    assert (other.result, other.state) == (Result.REFUSED, "terminal_state_found")
    assert fresh(sensors).on_hand == 3


def test_an_agent_ends_no_promise_that_a_person_made() -> None:
    sensors = item()
    made = reserve(sensors, 1)
    outcome = cast.propose("stock.release", sensors, by=cast.AGENT, reservation=made.pk)
    assert (outcome.result, outcome.state) == (Result.REFUSED, "manual_action_detected")
    assert told(outcome).startswith("Alice Amaral made this reservation.")
    own = reserve(sensors, 1, by=cast.AGENT)
    assert cast.propose("stock.release", sensors, by=cast.AGENT, reservation=own.pk).written


def test_two_who_correct_the_count_by_a_difference_are_both_counted() -> None:
    """Ten on the shelf; Alice finds two more, Bob finds three missing: nine."""
    read = item(on_hand=10)
    cast.propose("stock.count", read, by=cast.alice(), on_hand=12)
    outcome = cast.propose("stock.count", read, by=cast.bob(), on_hand=7)
    assert outcome.result is Result.MERGED
    assert fresh(read).on_hand == 9


def test_two_who_each_found_one_missing_found_two() -> None:
    read = item(on_hand=10)
    cast.propose("stock.count", read, by=cast.alice(), on_hand=9)
    cast.propose("stock.count", read, by=cast.bob(), on_hand=9)
    assert fresh(read).on_hand == 8


def test_no_count_goes_below_what_is_promised_not_even_two_together() -> None:
    sensors = item(on_hand=5)
    reserve(sensors, 3)
    read = fresh(sensors)
    assert cast.propose("stock.count", read, by=cast.alice(), on_hand=4).written
    outcome = cast.propose("stock.count", read, by=cast.bob(), on_hand=3)
    assert outcome.result is Result.REFUSED
    assert told(outcome).startswith("2 were counted, and 3 are promised.")
    assert fresh(sensors).on_hand == 4


def test_an_end_lies_ahead_and_within_a_year() -> None:
    sensors, deal = item(), cast.deal()
    for until in (timezone.now() - dt.timedelta(minutes=1), soon(400)):
        outcome = cast.propose("stock.reserve", sensors, by=cast.alice(), quantity=1, opportunity=deal.pk, until=until)
        assert outcome.result is Result.REFUSED
    with pytest.raises(BadParams):
        cast.propose(
            "stock.reserve", sensors, by=cast.alice(), quantity=1, opportunity=deal.pk, until="2031-06-10T12:00"
        )


def test_it_is_for_a_deal_that_one_may_change_and_that_is_not_lost() -> None:
    sensors, deal = item(), cast.deal()
    with pytest.raises(BadParams, match="a deal or a contract"):
        cast.propose("stock.reserve", sensors, by=cast.alice(), quantity=1, until=soon())
    outcome = cast.propose("stock.reserve", sensors, by=cast.charlie(), quantity=1, opportunity=deal.pk, until=soon())
    assert told(outcome) == "This deal belongs to North. Nothing was written."
    cast.propose("opportunity.move", deal, by=cast.alice(), stage=cast.stage("Lost").pk, reason="price")
    outcome = cast.propose("stock.reserve", sensors, by=cast.alice(), quantity=1, opportunity=deal.pk, until=soon())
    assert outcome.result is Result.REFUSED


def test_there_is_one_item_of_a_name() -> None:
    item("Door sensor")
    outcome = cast.propose("stock.create", by=cast.bob(), name="DOOR-SENSOR")
    assert told(outcome) == "There is an item of that name already. Nothing was written."


# --- what runs out ----------------------------------------------------------------------------------------------------


def run_out(*reservations: Reservation) -> None:
    """Their time has passed: the clock cannot be moved, so their end is."""
    item = reservations[0].item
    with transaction.atomic():
        guard.sign(actors.SYSTEM)
        item.refresh_from_db()
        item.save()
        for reservation in reservations:
            Reservation.objects.filter(pk=reservation.pk).update(until=timezone.now() - dt.timedelta(seconds=1))
    Job.objects.update(due_at=timezone.now() - dt.timedelta(seconds=1))


def test_each_promise_has_a_job_that_is_due_when_it_runs_out() -> None:
    sensors = item()
    made = reserve(sensors, 1)
    job = Job.objects.get(kind="stock.expire")
    assert (job.due_at, job.subject) == (made.until, f"crm.stockitem:{sensors.pk}")


def test_what_has_run_out_is_ended_once_and_the_units_are_free() -> None:
    sensors = item(on_hand=3)
    first, second, kept = reserve(sensors, 1), reserve(sensors, 1), reserve(sensors, 1)
    run_out(first, second)
    assert len(run_all()) == 3
    states = dict(Reservation.objects.values_list("pk", "state"))
    assert states == {first.pk: "expired", second.pk: "expired", kept.pk: "held"}
    now = fresh(sensors)
    assert (now.held, now.free) == (1, 2)
    assert now.author.same_as(cast.SYSTEM)


def test_what_was_held_longer_does_not_run_out_at_its_first_end() -> None:
    sensors = item()
    made = reserve(sensors, 1)
    assert cast.propose("stock.extend", sensors, by=cast.alice(), reservation=made.pk, until=soon(20)).written
    Job.objects.update(due_at=timezone.now() - dt.timedelta(seconds=1))
    assert len(run_all()) == 2
    assert Reservation.objects.get().state == ReservationState.HELD
    assert not Conflict.objects.exists(), "a job that came for nothing is no news"


def test_who_moves_the_end_has_seen_it_as_it_is() -> None:
    sensors = item()
    made = reserve(sensors, 1)
    read = fresh(sensors)
    cast.propose("stock.extend", read, by=cast.alice(), reservation=made.pk, until=soon(20))
    outcome = cast.propose("stock.extend", read, by=cast.bob(), reservation=made.pk, until=soon(10))
    assert outcome.result is Result.CONFLICT
    assert told(outcome) == "Alice Amaral changed this reservation meanwhile. Nothing was written."


# --- beside the gate --------------------------------------------------------------------------------------------------


def sql(*statements: str) -> None:
    """As a script would: with the version raised, so that the other guards have nothing to say."""
    with transaction.atomic():
        for statement in statements:
            samples.execute(statement)
        samples.execute("SET CONSTRAINTS ALL IMMEDIATE")


RAISE = "UPDATE crm_stockitem SET version = version + 1"


def test_no_script_promises_more_than_there_is() -> None:
    sensors = item(on_hand=3)
    reserve(sensors, 3)
    with pytest.raises(DatabaseError, match="promised_is_on_hand"):
        sql(f"{RAISE}, held = 4")
    with pytest.raises(DatabaseError, match="promised_is_on_hand"):
        sql(f"{RAISE}, on_hand = 2")


@pytest.mark.parametrize(
    "statements",
    [
        (f"{RAISE}, held = 1",),
        (RAISE, "UPDATE crm_reservation SET quantity = 3"),
        (RAISE, "UPDATE crm_reservation SET state = 'released', ended_at = now()"),
        (
            RAISE,
            "INSERT INTO crm_reservation (item_id, opportunity_id, quantity, made_by, until, state, note, changed_by,"
            " subject_version) SELECT item_id, opportunity_id, 1, '', now(), 'held', '', '', 0 FROM crm_reservation",
        ),
    ],
    ids=["the sum alone", "a quantity alone", "an end alone", "another promise"],
)
def test_no_script_parts_the_sum_from_the_promises(statements: tuple[str, ...]) -> None:
    sensors = item(on_hand=5)
    reserve(sensors, 2)
    with pytest.raises(DatabaseError, match="its reservations say") as caught:
        sql(*statements)
    assert samples.sqlstate(caught.value) == guard.RULE_BROKEN
    assert fresh(sensors).held == 2


def test_without_the_guard_the_same_script_goes_through() -> None:
    """The mutation: what refuses it is the guard of the promises and nothing else."""
    sensors = item(on_hand=5)
    reserve(sensors, 2)
    samples.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE 'pgtrigger_promise%%' AND tgconstraint <> 0")
        assert len(cursor.fetchall()) == 2
    try:
        samples.execute("ALTER TABLE crm_stockitem DISABLE TRIGGER USER")
        samples.execute("ALTER TABLE crm_stockitem ENABLE TRIGGER pgtrigger_guard_" + _guard_of("crm_stockitem"))
        sql(f"{RAISE}, held = 1")
        assert fresh(sensors).held == 1
    finally:
        samples.execute("UPDATE crm_stockitem SET version = version + 1, held = 2")
        samples.execute("ALTER TABLE crm_stockitem ENABLE TRIGGER USER")


def _guard_of(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE 'pgtrigger_guard_%%'", [table]
        )
        return str(cursor.fetchone()[0]).removeprefix("pgtrigger_guard_")


# --- what it is promised to -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["decline", "cancel"])
def test_nothing_is_promised_to_a_contract_that_came_to_nothing(verb: str) -> None:
    sensors, contract = item(on_hand=3), papers.offered()
    ended = {"reason": "No money"}
    if verb == "decline":
        assert papers.say("decline", contract, **ended).written
    else:
        assert cast.propose("contract.cancel", contract, by=cast.alice(), **ended).written
    for more in ({}, {"opportunity": cast.deal().pk}):
        said = {"quantity": 1, "contract": contract.pk, "until": soon(), **more}
        outcome = cast.propose("stock.reserve", fresh(sensors), by=cast.alice(), **said)
        assert outcome.result is Result.REFUSED
        assert told(outcome).endswith("nothing is kept for it. Nothing was reserved.")
    assert fresh(sensors).held == 0


def test_nothing_is_promised_to_a_contract_of_another_team() -> None:
    sensors, contract = item(on_hand=3), papers.offered()
    said = {"quantity": 1, "contract": contract.pk, "until": soon()}
    outcome = cast.propose("stock.reserve", sensors, by=cast.charlie(), **said)
    assert outcome.result is Result.REFUSED
    assert told(outcome).startswith("This belongs to North.")
    assert cast.propose("stock.reserve", fresh(sensors), by=cast.alice(), **said).written
