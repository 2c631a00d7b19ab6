"""The log replayed: every save of every case by writers who hold what they had read, at once where they were at once.

A case is a deal: its state is the stage, its assignee the owner, its group the company, its priority the amount, and
whether it kept its promise a tag; a save that changed nothing of these is a note. The scheduled account is an
integration that rests on state and stage as it read them; a person's form rests on nothing but what it writes.

Guarantees that both modes replay the same saves with the same reading, and that lost updates are counted by the same
checker, from the versions the database kept. Next in the flow: `config/lab/checker.py`.
"""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F

from config.lab import checker, naive, scratch, steps
from config.lab.checker import Answer, Told
from config.lab.log import Save
from config.lab.office import Office
from config.lab.rounds import answer_to
from config.lab.running import Mode
from conflicts import gate
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import Opportunity

GRAVEST = ("conflict", "refused", "superseded", "merged", "rebased", "applied", "unchanged")
"""A save of two parts counts as the graver of its answers."""


@dataclass(kw_only=True)
class Tally:
    """What became of the saves."""

    mode: Mode
    saves: int = 0
    created: int = 0
    held_an_older_version: int = 0
    """Saves by somebody who had not seen the newest version."""
    applied: int = 0
    rebased: int = 0
    merged: int = 0
    unchanged: int = 0
    conflicts: int = 0
    refused: int = 0
    superseded: int = 0
    stopped_after_closing: int = 0
    """Of those turned away: saves on a case that was closed after it had been read."""
    lost_updates: int = 0
    without_evidence: int = 0
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list)


class Replay:
    def __init__(self, cases: list[list[Save]], mode: Mode, tick: Callable[[], object]) -> None:
        self.cases, self.mode, self.tick = cases, mode, tick
        self.office = Office(cases)
        self.read: dict[tuple[str, int], Any] = {}
        self.answers: dict[Ref, list[Answer]] = {ref: [] for ref in self.office.deals.values()}
        self.became: list[str] = []
        self.stale: list[bool] = []
        self.stopped: list[bool] = []

    def run(self) -> None:
        todo: dict[tuple[str, str, int], Callable[[], None]] = {}
        waits: dict[tuple[str, str, int], set[tuple[str, str, int]]] = {}
        save_one = self._save if self.mode is Mode.GUARDED else self._save_naively
        for case in self.cases:
            for save in case[1:]:
                reading, saving = ("read", save.case, save.place), ("save", save.case, save.place)
                todo[reading], todo[saving] = partial(self._read, save), partial(save_one, save)
                seen = [other for other in case[1 : save.place] if save.had_seen(other)]
                waits[reading] = {("save", other.case, other.place) for other in seen}
                waits[saving] = {reading, *(("read", other.case, other.place) for other in _readers(case, save))}
        steps.run(todo, waits)

    def _read(self, save: Save) -> None:
        """The writer opens the record."""
        self.read[save.case, save.place] = Opportunity.objects.get(pk=self.office.deals[save.case].pk)

    # --- through the gate ---------------------------------------------------------------------------------------------

    def _save(self, save: Save) -> None:
        deal = self.read.pop((save.case, save.place))
        by = self.office.actor(save)
        rests_on = ("status", "stage") if save.automatic else ()
        read, outcomes = Read.of(deal, *rests_on), []
        for number, (action, params) in enumerate(self.office.parts(save)):
            wish = Proposal(
                action=action, by=by, params=params, basis=(read,), key=f"{save.case}:{save.place}:{number}"
            )
            outcome = gate.commit(wish)
            outcomes.append(outcome)
            self.answers[read.subject].append(answer_to("", wish, outcome))
            if outcome.result is Result.APPLIED and outcome.version:
                # The second part of a form rests on what its first part has just written, and on nothing newer.
                deal.version = outcome.version
                self.office.fill(deal, save.changed)
                read = Read.of(deal, *rests_on)
        self.became.append(min((_name(outcome) for outcome in outcomes), key=GRAVEST.index))
        self.stale.append(any(outcome.moved for outcome in outcomes))
        self.stopped.append(any(_met_a_closing(outcome) for outcome in outcomes))
        self.tick()

    # --- the usual way ------------------------------------------------------------------------------------------------

    def _save_naively(self, save: Save) -> None:
        """The whole record written back, with a counter that rises and that nobody compares."""
        deal = self.read.pop((save.case, save.place))
        read, names = deal.version, self.office.whole_form()
        self.office.fill(deal, save.changed)
        ref = self.office.deals[save.case]
        found = Opportunity.objects.filter(pk=deal.pk)
        with transaction.atomic():
            found.update(**naive.values(deal, names), version=F("version") + 1)
            version = found.values_list("version", flat=True).get()
        self.answers[ref].append(
            Answer(mark="", told=Told.DONE, subject=ref, version=version, read=read, writes=frozenset(names))
        )
        self.became.append("applied")
        self.stale.append(version != read + 1)
        self.stopped.append(False)
        self.tick()

    # --- what became of it --------------------------------------------------------------------------------------------

    def tally(self) -> Tally:
        became = Counter(self.became)
        tally = Tally(
            mode=self.mode,
            saves=sum(len(case) for case in self.cases),
            created=len(self.cases),
            held_an_older_version=sum(self.stale),
            applied=became["applied"],
            rebased=became["rebased"],
            merged=became["merged"],
            unchanged=became["unchanged"],
            conflicts=became["conflict"],
            refused=became["refused"],
            superseded=became["superseded"],
            stopped_after_closing=sum(self.stopped),
        )
        for ref, answers in self.answers.items():
            entries, wrong = checker.entries_of(ref)
            lost = checker.lost_updates(ref, answers, entries)
            tally.lost_updates += len(lost)
            tally.reasons += [*lost, *wrong]
            if self.mode is Mode.GUARDED:
                left = [answer for answer in answers if answer.told is Told.TURNED_AWAY]
                kept = Conflict.objects.filter(pk__in=[answer.record for answer in left if answer.record]).count()
                tally.without_evidence += len(left) - kept
                missing = _not_in_history(answers, entries)
                tally.lost_updates += len(missing)
                tally.reasons += missing
        return tally


def replay(cases: list[list[Save]], mode: Mode, *, tick: Callable[[], object] = lambda: None) -> Tally:
    """In the database at hand, which is emptied first: it must be the lab's own."""
    began = time.perf_counter()
    run = Replay(cases, mode, tick)
    with nullcontext() if mode is Mode.GUARDED else scratch.unguarded():
        run.run()
    tally = run.tally()
    tally.seconds = round(time.perf_counter() - began, 2)
    return tally


def _readers(case: list[Save], save: Save) -> list[Save]:
    """Later writers who had the record open while this save was made, and saved nothing themselves in between."""
    found = []
    for other in case[save.place + 1 :]:
        if other.had_seen(save) and other.actor != save.actor:
            break  # from here on everybody has seen it
        between = case[save.place : other.place]
        if all(one.actor != other.actor for one in between):
            found.append(other)
    return found


def _name(outcome: Outcome) -> str:
    return "unchanged" if outcome.unchanged else outcome.settled.result.value


def _met_a_closing(outcome: Outcome) -> bool:
    return not outcome.done and any(c.aspect == "status" and c.new != "open" for c in outcome.moved)


def _not_in_history(answers: list[Answer], entries: list[checker.Entry]) -> list[str]:
    """Acknowledged writes whose version shows no change by their author."""
    by = {(entry.version, entry.by) for entry in entries}
    return [
        f"{answer.subject}: the save acknowledged at version {answer.version} is not in the history"
        for answer in answers
        if answer.told is Told.DONE and (answer.version, answer.by) not in by
    ]
