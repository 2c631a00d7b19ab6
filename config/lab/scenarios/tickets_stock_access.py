"""Tickets, stock and access: one unit and one promise, one ticket and one person, one yes to what was examined."""

import datetime as dt
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db.models import Sum
from django.utils import timezone

from config.lab import naive
from config.lab.crew import WAIT
from config.lab.rounds import Round, wish
from config.lab.scenario import Judgement, Scenario, register
from config.lab.scenarios.parts import lines, updates
from config.lab.world import AGENT, World, person
from conflicts import gate
from conflicts.actors import Actor
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm import tickets
from crm.models import AccessRequest, Reservation, StockItem, Team, Ticket, User
from crm.models.access import AccessState
from crm.models.ticket import TicketState
from crm.models.user import Role


def _made(action: str, by: Actor, wishes: list[dict[str, Any]]) -> list[Ref]:
    outcomes = gate.commit_many([Proposal(action=action, by=by, params=params) for params in wishes])
    return [outcome.subject for outcome in outcomes if outcome.subject]


def _administrator(username: str, first: str) -> User:
    return User.objects.create(username=username, first_name=first, role=Role.ADMINISTRATOR)


# --- the last unit ----------------------------------------------------------------------------------------------------


def _items(world: World, count: int) -> list[Round]:
    [deal] = world.deals(1)
    made = _made(
        "stock.create",
        person(world.alice),
        [{"name": f"Sensor {number}", "on_hand": 1} for number in range(count)],
    )
    return [Round(number, world, item, facts={"deal": deal.pk}) for number, item in enumerate(made)]


def _until() -> dt.datetime:
    return timezone.now() + dt.timedelta(days=3)


def _promise_naively(one: Round, user: User) -> Generator[str]:
    item = naive.load(one.deal)
    free = item.free
    yield "after reading"
    if free >= 1:
        Reservation.objects.create(
            item=item, opportunity_id=one.facts["deal"], quantity=1, made_by=str(person(user)), until=_until()
        )
        item.held += 1
        naive.save(item)


def _promise(one: Round, user: User) -> Generator[str]:
    item = StockItem.objects.get(pk=one.deal.pk)
    yield "after reading"
    one.commit(
        "",
        wish(
            "stock.reserve",
            Read.of(item),
            by=person(user),
            quantity=1,
            opportunity=one.facts["deal"],
            until=_until(),
        ),
    )


def _both(contestant: Callable[[Round, User], Generator[str]], *, at_once: bool = False) -> Callable[[Round], None]:
    """Alice and Bob do the same."""

    def run(one: Round) -> None:
        world = one.world
        one.race(lambda: contestant(one, world.alice), lambda: contestant(one, world.bob), at_once=at_once)

    return run


def _one_unit_one_promise(one: Round) -> Judgement:
    item = StockItem.objects.get(pk=one.deal.pk)
    held = Reservation.objects.filter(item=item, state="held")
    promised = held.aggregate(n=Sum("quantity"))["n"] or 0
    return Judgement(
        effects=held.count(),
        wrong=lines(
            (promised > item.on_hand, f"{promised} promised of {item.on_hand}"),
            (promised == 0, "nobody has it"),
            (promised != item.held, f"the item says {item.held}, its promises {promised}"),
        ),
    )


register(
    Scenario(
        slug="last_unit_promised_twice",
        title="two people reserve the last unit",
        prepare=_items,
        naive=_both(_promise_naively),
        guarded=_both(_promise, at_once=True),
        judge=_one_unit_one_promise,
    )
)

# --- the next ticket --------------------------------------------------------------------------------------------------


def _queues(world: World, count: int) -> list[Round]:
    """A queue with two tickets for each round; whoever asks sees them all."""
    people = (_administrator("iris", "Iris"), _administrator("jonas", "Jonas"))
    teams = Team.objects.bulk_create([Team(name=f"Queue {number}") for number in range(count)])
    [company] = _made("company.create", person(world.alice), [{"name": "Cold Chain Ltd"}])
    made = _made(
        "ticket.create",
        person(world.alice),
        [{"name": f"Ticket {n}", "company": company.pk, "team": team.pk} for team in teams for n in (1, 2)],
    )
    pairs = zip(made[::2], made[1::2], strict=True)
    return [
        Round(number, world, first, (second,), facts={"team": teams[number].pk, "people": people})
        for number, (first, second) in enumerate(pairs)
    ]


class Both:
    """Both have looked which one is next before either takes it; once in each round."""

    def __init__(self) -> None:
        self.meet()

    def meet(self) -> None:
        self._barrier, self._left, self._lock = threading.Barrier(2, timeout=WAIT), 2, threading.Lock()

    def after(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def looked(*args: Any) -> Any:
            found = function(*args)
            with self._lock:
                mine, self._left = self._left > 0, self._left - 1
            if mine:
                self._barrier.wait()
            return found

        return looked


@contextmanager
def _both_look_first() -> Iterator[Both]:
    both = Both()
    with patch.object(tickets, "_first_free", both.after(tickets._first_free)):
        yield both


def _next_naively(one: Round) -> None:
    def press(user: User) -> Generator[str]:
        found = Ticket.objects.free().filter(team=one.facts["team"]).in_turn().first()
        yield "after looking"
        if found:
            found.claimed_by, found.state = user, TicketState.IN_PROGRESS
            naive.save(found)
            one.facts.setdefault("told", []).append(found.pk)

    one.race(*[lambda user=user: press(user) for user in one.facts["people"]])


def _next_guarded(one: Round) -> None:
    one.stage.meet()

    def press(user: User) -> Generator[str]:
        yield "before pressing"
        taken = tickets.take_next(user, key=f"press-{one.number}", team=one.facts["team"])
        if taken.ticket:
            one.facts.setdefault("told", []).append(taken.ticket.pk)

    one.race(*[lambda user=user: press(user) for user in one.facts["people"]], at_once=True)


def _each_has_their_own(one: Round) -> Judgement:
    told = one.facts.get("told", [])
    holders = set(Ticket.objects.filter(team=one.facts["team"]).values_list("claimed_by", flat=True))
    return Judgement(
        effects=updates(one),
        wrong=lines(
            (len(told) != len(set(told)), "two people were given the same ticket"),
            (holders != {user.pk for user in one.facts["people"]}, "somebody who asked has none"),
        ),
    )


register(
    Scenario(
        slug="take_next_ticket_twice",
        title="two people press “take the next one” at once",
        prepare=_queues,
        naive=_next_naively,
        guarded=_next_guarded,
        judge=_each_has_their_own,
        stage=_both_look_first,
    )
)

# --- an agent and a person at one ticket ------------------------------------------------------------------------------


def _tickets(world: World, count: int) -> list[Round]:
    [company] = _made("company.create", person(world.alice), [{"name": "Cold Chain Ltd"}])
    wishes = [{"name": f"Ticket {number}", "company": company.pk} for number in range(count)]
    return [Round(number, world, ref) for number, ref in enumerate(_made("ticket.create", person(world.alice), wishes))]


def _close_naively(one: Round) -> None:
    def agent() -> Generator[str]:
        ticket = naive.load(one.deal)
        yield "the agent thinks"
        ticket.state, ticket.resolution, ticket.closed_at = TicketState.CLOSED, "Answered", timezone.now()
        naive.save(ticket)
        one.facts["closed"] = True

    def bob() -> Generator[str]:
        ticket = naive.load(one.deal)
        yield "Bob reads"
        ticket.claimed_by, ticket.state = one.world.bob, TicketState.IN_PROGRESS
        naive.save(ticket)
        one.facts["claimed"] = True

    one.race(agent, bob)


def _close_guarded(one: Round) -> None:
    def agent() -> Generator[str]:
        ticket = Ticket.objects.get(pk=one.deal.pk)
        yield "the agent thinks"
        read = Read.of(ticket)
        outcome = one.commit("", wish("ticket.move", read, by=AGENT, state="closed", resolution="Answered"))
        one.facts["closed"] = outcome.done

    def bob() -> Generator[str]:
        ticket = Ticket.objects.get(pk=one.deal.pk)
        yield "Bob reads"
        one.facts["claimed"] = one.commit("", wish("ticket.claim", Read.of(ticket), by=person(one.world.bob))).done

    one.race(agent, bob)


def _what_a_person_took_is_theirs(one: Round) -> Judgement:
    ticket = Ticket.objects.get(pk=one.deal.pk)
    closed, mine = ticket.state == TicketState.CLOSED, ticket.claimed_by_id == one.world.bob.pk
    return Judgement(
        effects=updates(one),
        wrong=lines(
            (bool(one.facts.get("claimed")) and not mine, "Bob was told that it is his, and it is not"),
            (bool(one.facts.get("claimed")) and closed, "an agent closed what Bob has"),
            (bool(one.facts.get("closed")) and not closed, "the agent was told that it is closed, and it is not"),
        ),
    )


register(
    Scenario(
        slug="agent_closes_claimed_ticket",
        title="a person takes a ticket that an agent is about to close",
        prepare=_tickets,
        naive=_close_naively,
        guarded=_close_guarded,
        judge=_what_a_person_took_is_theirs,
    )
)

# --- a yes to an older version ----------------------------------------------------------------------------------------


def _requests(world: World, count: int) -> list[Round]:
    examiner = _administrator("ada", "Ada")
    teams = Team.objects.bulk_create([Team(name=f"Team {number}") for number in range(count)])
    day = (timezone.now() + dt.timedelta(days=20)).date()
    wishes = [{"kind": "team", "team": team.pk, "reason": "July", "wanted_until": day} for team in teams]
    made = _made("access.ask", person(world.bob), wishes)
    return [Round(number, world, ref, facts={"examiner": examiner}) for number, ref in enumerate(made)]


def _grant_naively(one: Round) -> None:
    def examiner() -> Generator[str]:
        request = naive.load(one.deal)
        yield "the examiner reads"
        request.state, request.decided_by, request.expires_at = AccessState.GRANTED, one.facts["examiner"], _until()
        request.examined_version, request.examined_fingerprint = request.version, request.fingerprint
        naive.save_only(request, "state", "decided_by", "expires_at", "examined_version", "examined_fingerprint")

    def asker() -> Generator[str]:
        request = naive.load(one.deal)
        yield "the asker thinks again"
        request.may_change = True
        naive.save_only(request, "may_change")

    one.race(examiner, asker)


def _grant_guarded(one: Round) -> None:
    def examiner() -> Generator[str]:
        request = AccessRequest.objects.get(pk=one.deal.pk)
        shown = request.fingerprint
        yield "the examiner reads"
        read, by = Read.of(request), person(one.facts["examiner"])
        one.commit("", wish("access.grant", read, by=by, fingerprint=shown, expires_at=_until()))

    def asker() -> Generator[str]:
        request = AccessRequest.objects.get(pk=one.deal.pk)
        yield "the asker thinks again"
        one.commit("", wish("access.edit", Read.of(request), by=person(one.world.bob), may_change=True))

    one.race(examiner, asker)


def _only_what_was_examined(one: Round) -> Judgement:
    request = AccessRequest.objects.get(pk=one.deal.pk)
    granted = request.state == AccessState.GRANTED
    return Judgement(
        effects=updates(one),
        wrong=lines(
            (granted and request.examined_fingerprint != request.fingerprint, "what is granted was never examined"),
            (not granted and not request.may_change, "neither the yes nor the change is there"),
        ),
    )


register(
    Scenario(
        slug="access_granted_on_old_version",
        title="access is granted while the asker asks for more",
        prepare=_requests,
        naive=_grant_naively,
        guarded=_grant_guarded,
        judge=_only_what_was_examined,
    )
)
