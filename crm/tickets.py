"""Take the next one: whoever asks for work gets a ticket of their own, however many ask at once.

Guarantees that two who press at the same moment get two different tickets: each asks the gate for the first free one in
turn, and whoever is too late for that one goes on to the next. A double click is one act: the key of the form is looked
up after the free ones were read, so that its second half finds the ticket of its first.
Next in the flow: `crm/actions/tickets.py` (`ticket.take_next`).
"""

from dataclasses import dataclass

from conflicts import actors, gate
from conflicts.models import LedgerEntry
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from crm.models import Ticket, User

TRIES = 25
"""So many others may be faster in a row before somebody is told to press again."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    ticket: Ticket | None
    """None: nothing is free (or too many were faster)."""
    passed: tuple[Outcome, ...] = ()
    """Those that somebody else was faster for."""


def take_next(user: User, *, key: str = "", team: int | None = None, source: str = "") -> Taken:
    """The first free ticket in turn that `user` may have, taken; `team` narrows it to one queue."""
    passed: list[Outcome] = []
    for _ in range(TRIES):
        ticket = _first_free(user, team)
        if had := _had_already(user, key):
            return Taken(ticket=had, passed=tuple(passed))
        if ticket is None:
            break
        outcome = gate.commit(
            Proposal(
                action="ticket.take_next",
                by=actors.person(user),
                basis=(Read.of(ticket),),
                key=f"{_prefix(user, key)}{ticket.pk}" if key else "",
                source=source,
            )
        )
        if outcome.done:
            return Taken(ticket=Ticket.objects.get(pk=ticket.pk), passed=tuple(passed))
        passed.append(outcome)
    return Taken(ticket=None, passed=tuple(passed))


def _first_free(user: User, team: int | None) -> Ticket | None:
    free = Ticket.objects.visible_to(user).free()
    return (free.filter(team=team) if team else free).in_turn().first()


def _prefix(user: User, key: str) -> str:
    return f"person:{user.pk}:next:{key[:150]}:"


def _had_already(user: User, key: str) -> Ticket | None:
    """What this very press has got before."""
    if not key:
        return None
    for entry in LedgerEntry.objects.filter(key__startswith=_prefix(user, key)):
        first = Outcome.from_json(entry.answer)
        if first.done and first.subject:
            return Ticket.objects.filter(pk=first.subject.pk).first()
    return None
