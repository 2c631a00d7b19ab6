"""A ticket that a person took is that person's; what was closed is opened again by a decision, never by a note."""

import pytest

from conflicts.exceptions import BadParams
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from crm.models import Ticket, TicketNote
from crm.models.ticket import TicketState
from crm.tickets import take_next
from tests import cast
from tests.governed import company, ticket

pytestmark = pytest.mark.django_db

SYNC = cast.actors.integration("helpdesk", "Help desk")


def told(outcome: Outcome) -> str:
    return str(outcome.sentence)


def fresh(of: Ticket) -> Ticket:
    return Ticket.objects.get(pk=of.pk)


def taken_by_alice() -> Ticket:
    made = ticket()
    assert cast.propose("ticket.claim", made, by=cast.alice()).written
    return fresh(made)


@pytest.mark.parametrize("machine", [cast.AGENT, SYNC], ids=["an agent", "another system"])
@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("ticket.move", {"state": "closed", "resolution": "No answer"}),
        ("ticket.move", {"state": "waiting"}),
        ("ticket.assign", {"assignee": None}),
        ("ticket.assign", {"team": None}),
    ],
)
def test_a_machine_leaves_a_ticket_alone_that_a_person_took(
    machine: cast.Actor, action: str, params: dict[str, object]
) -> None:
    mine = taken_by_alice()
    outcome = cast.propose(action, mine, by=machine, **params)
    assert outcome.result is Result.REFUSED
    assert "Alice Amaral has taken this ticket" in told(outcome)
    record = Conflict.objects.get(pk=outcome.record)
    assert record.state == "manual_action_detected"
    assert record.subject_id == mine.pk
    assert fresh(mine).version == mine.version
    assert fresh(mine).claimed_by == cast.alice()


def test_a_machine_may_correct_what_a_taken_ticket_says_and_it_stays_whose_it_is() -> None:
    mine = taken_by_alice()
    assert cast.propose("ticket.edit", mine, by=cast.AGENT, name="Door 3 does not close", tags=["doors"]).written
    now = fresh(mine)
    assert (now.name, now.claimed_by, now.state) == ("Door 3 does not close", cast.alice(), mine.state)
    assert now.assignee == cast.alice()


def test_an_agent_that_read_it_free_is_refused_when_a_person_took_it_meanwhile() -> None:
    read = ticket()
    cast.propose("ticket.claim", fresh(read), by=cast.bob())
    outcome = cast.propose("ticket.move", read, by=cast.AGENT, state="closed", resolution="Solved")
    assert outcome.result is Result.REFUSED
    assert outcome.state == "manual_action_detected"
    assert told(outcome).startswith("Bob Borges has taken this ticket.")
    assert fresh(read).state == TicketState.IN_PROGRESS


def test_an_agent_closes_and_gives_on_what_nobody_took() -> None:
    free = ticket()
    assert cast.propose("ticket.assign", free, by=cast.AGENT, assignee=cast.bob().pk).written
    assert cast.propose("ticket.move", fresh(free), by=cast.AGENT, state="closed", resolution="Answered").written
    assert fresh(free).state == TicketState.CLOSED


def test_whoever_is_second_is_told_who_took_it() -> None:
    read = ticket()
    assert cast.propose("ticket.claim", read, by=cast.alice()).written
    outcome = cast.propose("ticket.claim", read, by=cast.bob())
    assert outcome.result is Result.REFUSED
    assert told(outcome) == "Alice Amaral has taken this ticket first. Nothing was written."


def test_taking_what_is_ones_own_changes_nothing() -> None:
    mine = taken_by_alice()
    assert cast.propose("ticket.claim", mine, by=cast.alice()).result is Result.SUPERSEDED
    assert fresh(mine).version == mine.version


def test_only_people_take_tickets() -> None:
    outcome = cast.propose("ticket.claim", ticket(), by=cast.AGENT)
    assert (outcome.result, told(outcome)) == (Result.REFUSED, "Only people take tickets. Nothing was written.")


def test_a_colleague_hands_on_what_alice_took_and_it_is_free_again() -> None:
    mine = taken_by_alice()
    assert cast.propose("ticket.assign", mine, by=cast.manager(), assignee=cast.bob().pk).written
    now = fresh(mine)
    assert (now.assignee, now.claimed_by, now.state) == (cast.bob(), None, TicketState.OPEN)


def test_it_is_given_back_by_who_has_it_or_by_a_manager() -> None:
    mine = taken_by_alice()
    outcome = cast.propose("ticket.release", mine, by=cast.bob())
    assert outcome.result is Result.REFUSED
    assert told(outcome).startswith("Alice Amaral has this ticket; they or a manager")
    assert cast.propose("ticket.release", mine, by=cast.manager()).written
    assert fresh(mine).claimed_by is None
    assert cast.propose("ticket.release", fresh(mine), by=cast.alice()).result is Result.SUPERSEDED


def test_another_team_changes_nothing_in_this_queue() -> None:
    outcome = cast.propose("ticket.claim", ticket(), by=cast.charlie())
    assert (outcome.result, told(outcome)) == (
        Result.REFUSED,
        "This ticket waits in the queue of North. Nothing was written.",
    )
    assert cast.propose("ticket.claim", ticket("Everybody's", team=None), by=cast.charlie()).written


def test_it_is_closed_with_a_word_on_how_it_ended() -> None:
    made = ticket()
    assert cast.propose("ticket.move", made, by=cast.alice(), state="closed").result is Result.REFUSED
    assert cast.propose("ticket.move", made, by=cast.alice(), state="closed", resolution="New battery").written
    now = fresh(made)
    assert (now.state, now.resolution) == (TicketState.CLOSED, "New battery")
    assert now.closed_at is not None


def test_two_who_close_it_at_once_close_it_once_and_the_second_is_told_by_whom() -> None:
    read = ticket()
    cast.propose("ticket.move", read, by=cast.alice(), state="closed", resolution="New battery")
    outcome = cast.propose("ticket.move", read, by=cast.bob(), state="closed", resolution="Replaced")
    assert outcome.result is Result.SUPERSEDED
    assert told(outcome) == "Alice Amaral has closed this ticket already. Nothing was written."
    assert fresh(read).resolution == "New battery"


def test_closing_what_somebody_has_just_set_aside_is_a_persons_choice() -> None:
    read = ticket()
    cast.propose("ticket.move", read, by=cast.alice(), state="waiting")
    outcome = cast.propose("ticket.move", read, by=cast.bob(), state="closed", resolution="Done")
    assert outcome.result is Result.CONFLICT
    assert [(d.field, d.current, d.proposed) for d in outcome.differences] == [("state", "waiting", "closed")]


def closed() -> Ticket:
    made = ticket()
    cast.propose("ticket.move", made, by=cast.alice(), state="closed", resolution="New battery")
    return fresh(made)


def test_a_customers_note_leaves_it_closed_and_says_that_they_wrote() -> None:
    done = closed()
    outcome = cast.propose("ticket.note", done, by=SYNC, text="It is silent again", from_customer=True)
    assert outcome.written
    now = fresh(done)
    assert now.state == TicketState.CLOSED
    assert now.answered_after_closing
    assert TicketNote.objects.get().from_customer


def test_it_is_opened_again_by_a_decision_alone() -> None:
    done = closed()
    for state in ("open", "in_progress", "waiting"):
        outcome = cast.propose("ticket.move", done, by=cast.bob(), state=state)
        assert outcome.result is Result.REFUSED
        assert "has closed this ticket. It has to be opened again first" in told(outcome)
    assert cast.propose("ticket.reopen", done, by=cast.AGENT).result is Result.REFUSED, "closed is the end for agents"
    assert cast.propose("ticket.reopen", done, by=cast.bob(), reason="Silent again").written
    now = fresh(done)
    assert (now.state, now.closed_at) == (TicketState.OPEN, None)
    assert TicketNote.objects.get().text == "Silent again"
    assert cast.propose("ticket.reopen", now, by=cast.alice()).result is Result.SUPERSEDED


def test_what_waited_for_the_customer_goes_on_when_they_write() -> None:
    mine = taken_by_alice()
    cast.propose("ticket.move", mine, by=cast.alice(), state="waiting")
    cast.propose("ticket.note", fresh(mine), by=SYNC, text="Here is the number", from_customer=True)
    assert fresh(mine).state == TicketState.IN_PROGRESS


def test_independent_edits_are_both_kept_and_tags_are_put_together() -> None:
    read = ticket(tags=["sensor"])
    cast.propose("ticket.edit", read, by=cast.alice(), tags=["sensor", "warranty"], priority=4)
    outcome = cast.propose("ticket.edit", read, by=cast.bob(), tags=["sensor", "recall"], text="Since Monday")
    assert outcome.result is Result.MERGED
    now = fresh(read)
    assert (now.tags, now.priority, now.text) == (["sensor", "warranty", "recall"], 4, "Since Monday")


def test_a_persons_priority_beats_an_agents() -> None:
    read = ticket()
    cast.propose("ticket.edit", read, by=cast.alice(), priority=4)
    outcome = cast.propose("ticket.edit", read, by=cast.AGENT, priority=1)
    assert outcome.result is Result.SUPERSEDED
    assert fresh(read).priority == 4


def test_it_is_always_somebodys() -> None:
    with pytest.raises(BadParams, match="a company or a contact"):
        cast.propose("ticket.create", by=cast.alice(), name="Whose?")
    outcome = cast.propose("ticket.edit", ticket(), by=cast.alice(), company=None)
    assert outcome.result is Result.REFUSED


def test_it_takes_the_company_of_its_contact() -> None:
    person = cast.contact("Rui Amaro", company=company().pk)
    assert ticket(company=None, contact=person.pk).company == company()


def test_nobody_links_a_deal_that_they_may_not_change() -> None:
    deal = cast.deal()
    outcome = cast.propose("ticket.create", by=cast.charlie(), name="Peek", company=company().pk, opportunity=deal.pk)
    assert (outcome.result, told(outcome)) == (Result.REFUSED, "This deal belongs to North. Nothing was written.")


def test_the_next_one_is_the_most_urgent_then_the_oldest_of_the_own_queue() -> None:
    ticket("Of the South", team=cast.team("South").pk, priority=4)
    first, urgent, everybodys = ticket("First"), ticket("Urgent", priority=4), ticket("Everybody's", team=None)
    names = [taken.ticket.name for taken in (take_next(cast.bob()) for _ in range(3)) if taken.ticket]
    assert names == [urgent.name, first.name, everybodys.name]
    assert take_next(cast.bob()).ticket is None


def test_pressing_twice_with_one_form_takes_one_ticket() -> None:
    ticket("First")
    ticket("Second")
    once, twice = take_next(cast.bob(), key="form-1"), take_next(cast.bob(), key="form-1")
    assert once.ticket == twice.ticket
    assert Ticket.objects.filter(claimed_by=cast.bob()).count() == 1
    assert take_next(cast.bob(), key="form-2").ticket != once.ticket
