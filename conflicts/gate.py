"""The gate: the one door for every write that follows from an earlier read.

Guarantees that no write lands on a state its author did not see, unless what moved is provably independent, and then it
says so; that each effect happens at most once per idempotency key; and that everything not simply applied leaves
evidence, in the same transaction. `commit` is `commit_many` of one: both ask the same six questions in the same order
(1 to 5 in `conflicts/judging.py`).

    1. have I done this already?      ledger, by idempotency key
    2. am I still the one?            conflicts/leases.py: holder, fencing token, not expired
    3. is the yes still good?         approval, bound to this content
    4. is the world as I saw it?      versions, read sets, merge policy
    5. do the rules hold now?         the action's own check, on the locked state in force
    6. apply                          conflicts/writing.py, with ledger, evidence and effects

Short transactions, no HTTP and no model call inside. Rows are locked in ascending order (model, key), so two commits
never wait for each other in a circle. The expected results of a race are returned, never raised.
"""

import datetime as dt
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction

from conflicts import actions, effects, guard, judging, leases, ledger, needless, records, settling, writing
from conflicts.batch import Answer, Batch
from conflicts.exceptions import MissingVersion
from conflicts.models import LedgerEntry
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import UNREAD, Proposal, subjects
from conflicts.reading import Rows
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.signals import Committed, committed
from conflicts.work import Work

logger = logging.getLogger(__name__)

BATCH = 500
"""Subjects in one transaction: long enough to be fast, short enough that nobody waits a second for a row."""

BUSY = frozenset({"40001", "40P01", "55P03"})
"""SQLSTATEs for serialization failure, deadlock and lock timeout: nothing was written, the row is contended."""

UNIQUE, MISSING = "23505", "23503"
"""SQLSTATEs: a key is taken; a foreign key names a row that is not there."""

type Settle = Callable[[Sequence[tuple[Proposal, Outcome]]], None]


def commit(proposal: Proposal, *, settle: Settle | None = None) -> Outcome:
    """Ask the six questions and write, or say why not.

    `settle` runs inside the transaction with the outcome, for what must change with it (a recommendation's state).
    Raises UnknownAction, BadParams or MissingVersion for a proposal that could never be carried out; nothing is written
    then.
    """
    return commit_many([proposal], settle=settle)[0]


def commit_many(proposals: Sequence[Proposal], *, settle: Settle | None = None) -> list[Outcome]:
    """As `commit` for each, many subjects in one transaction; one bad subject never stops the others.

    Outcomes come in the order of the proposals. Two proposals for one subject are taken one after the other.
    """
    parsed = [(p, _validated(p)) for p in proposals]
    outcomes: dict[int, Outcome] = {}
    for wave in _waves(proposals):
        pairs = [parsed[index] for index in wave]
        outcomes |= zip(wave, _commit_wave(pairs, settle), strict=True)
    return [outcomes[index] for index in range(len(proposals))]


def _validated(proposal: Proposal) -> Any:
    """The params, read. Raises UnknownAction, BadParams; MissingVersion for a decision that names no version."""
    action = actions.get(proposal.action)
    if not action.records_fact and any(read.version == UNREAD for read in proposal.basis):
        raise MissingVersion
    return actions.validate(action, proposal.params)


def _waves(proposals: Sequence[Proposal]) -> Iterator[list[int]]:
    """Indexes in order, cut so that within one wave there is one author and no subject or key twice."""
    wave: list[int] = []
    seen: set[Ref | str] = set()
    for index, proposal in enumerate(proposals):
        marks: set[Ref | str] = {read.subject for read in proposal.basis} | ({proposal.key} - {""})
        if wave and (seen & marks or len(wave) >= BATCH or proposals[wave[-1]].by != proposal.by):
            yield wave
            wave, seen = [], set()
        wave.append(index)
        seen |= marks
    if wave:
        yield wave


type Pair = tuple[Proposal, Any]


def _commit_wave(pairs: Sequence[Pair], settle: Settle | None, *, again: bool = True) -> list[Outcome]:
    try:
        with transaction.atomic():
            return _attempt(pairs, settle)
    except (DatabaseError, writing.LostRow) as error:
        if len(pairs) > 1:
            # One of them is at fault. Halving finds it in few steps, and the others lose nothing.
            middle = len(pairs) // 2
            return [
                *_commit_wave(pairs[:middle], settle),
                *_commit_wave(pairs[middle:], settle),
            ]
        if again and _sqlstate(error) == UNIQUE:
            # Lost the race for a key (the ledger's, or a name's) between our look and our INSERT. The winner is there
            # now: under our own idempotency key its answer is ours, else the action's check says it in words.
            return _commit_wave(pairs, settle, again=False)
        return [_refused_by_database(pairs[0][0], error, settle)]


def _attempt(pairs: Sequence[Pair], settle: Settle | None) -> list[Outcome]:
    proposals = [proposal for proposal, _ in pairs]
    held = leases.in_force([proposal.lease for proposal in proposals if proposal.lease])  # lease rows are locked first
    now, locked, answered = _open(pairs)
    waiting = settling.lock(proposals)  # after the subjects, everywhere

    judged: list[tuple[Work, Outcome]] = []
    memo: dict[Any, Any] = {}
    for proposal, params in pairs:
        work = Work(proposal=proposal, params=params, now=now, memo=memo, record=waiting.get(proposal.settles or 0))
        judged.append((work, judging.judge(work, locked, answered, held)))

    writing.write([work for work, outcome in judged if outcome.written])
    effects.write([work for work, outcome in judged if outcome.written])
    effects.also([work for work, outcome in judged if outcome.written])
    outcomes = [_completed(work, outcome) for work, outcome in judged]
    outcomes = records.keep([work for work, _ in judged], outcomes, now=now)
    ledger.write([work for work, _ in judged], outcomes)
    settling.close(proposals, outcomes, now=now)
    needless.close([work for work, _ in judged], outcomes, now=now)
    if settle:
        settle(list(zip(proposals, outcomes, strict=True)))
    _announce([work for work, _ in judged], outcomes)
    return outcomes


def _open(pairs: Sequence[Pair]) -> tuple[dt.datetime, dict[Ref, Any], dict[str, LedgerEntry]]:
    """Sign, lock and look: the transaction's one clock, every subject in force, answers already given."""
    batch = Batch()
    proposals = [proposal for proposal, _ in pairs]
    clock = _sign(batch, proposals[0])
    beside = {ref for proposal, params in pairs for ref in actions.get(proposal.action).stands_on(params)}
    wanted = {
        model: Rows(batch, model, "id", [ref.pk for ref in refs], lock=True)
        for model, refs in groupby(sorted({*subjects(proposals), *beside}), key=lambda ref: ref.model)
    }
    # After the locks: a twin that was waiting for our subject must find our answer, not our newer version.
    entries = Rows(batch, LedgerEntry, "key", [p.key for p in proposals if p.key and p.key_can_be_kept])
    batch.send()

    known = [actions.get(name) for name in sorted({proposal.action for proposal in proposals})]
    locked: dict[Ref, Any] = {}
    for model, answer in wanted.items():
        found = answer.all()
        for load in dict.fromkeys(load for action in known if action.subject is model for load in action.loads):
            load(found)
        locked.update({Ref.of(row): row for row in found})
    return clock.rows[0][0], locked, {entry.key: entry for entry in entries.all()}


def _sign(batch: Batch, proposal: Proposal) -> Answer:
    """Name the author for the guard's stamp, and read the clock."""
    sql = "SELECT clock_timestamp(), set_config(%s, %s, true)"
    return batch.add(sql, [guard.ACTOR_SETTING, str(proposal.by)[:200]])


def _completed(work: Work, outcome: Outcome) -> Outcome:
    """The outcome with what only the writing could tell: keys and versions."""
    if not outcome.written:
        return outcome
    created = {obj._meta.label_lower: obj.pk for obj in work.added}
    return replace(
        outcome,
        subject=Ref.of(work.subject),
        version=work.subject.version,
        created=created,
    )


def _announce(works: Sequence[Work], outcomes: Sequence[Outcome]) -> None:
    commits = [
        Committed(
            subject=Ref.of(work.subject),
            version=work.subject.version,
            by=str(work.by),
            aspects=sorted({*work.changes, *(child.aspect for child in _children(work))}),
            action=work.proposal.action,
        )
        for work, outcome in zip(works, outcomes, strict=True)
        if outcome.written
    ]
    if commits:
        transaction.on_commit(lambda: committed.send_robust(sender=None, commits=commits), robust=True)


def _children(work: Work) -> Iterator[Any]:
    yield from (obj for obj in work.added if obj is not work.subject)
    yield from (child for child, _ in work.changed)


def _sqlstate(error: Exception) -> str:
    return getattr(error.__cause__, "sqlstate", None) or ""


def _refused_by_database(proposal: Proposal, error: Exception, settle: Settle | None) -> Outcome:
    """The database had the last word: say it as an outcome, and keep the record the rollback took away.

    Raises `error` again if it is none of the expected ends of a race.
    """
    sqlstate = _sqlstate(error)
    if sqlstate in BUSY:
        sentence = Sentence("busy")
    elif isinstance(error, writing.LostRow) or sqlstate in (guard.STALE_WRITE, guard.ORPHAN_WRITE):
        sentence = Sentence("moved", {"who": "-", "what": "-"})
    elif isinstance(error, IntegrityError) and sqlstate in (UNIQUE, "23P01"):
        sentence = Sentence("taken")
    elif isinstance(error, IntegrityError) and sqlstate == MISSING:
        sentence = Sentence("names_nothing")
    else:
        raise error
    logger.warning("Refused by the database: %s %s (%s)", proposal.action, proposal.subject, error)
    outcome = Outcome(
        result=Result.CONFLICT,
        subject=proposal.subject,
        sentence=sentence,
        state="version_conflict",
    )
    with transaction.atomic():
        batch = Batch()
        clock = _sign(batch, proposal)
        batch.send()
        ref = proposal.subject
        subject = ref and ref.model._base_manager.filter(pk=ref.pk).first()  # not locked: only for its name and owner
        row = records.record(proposal, outcome, subject=subject, now=clock.rows[0][0])
        row.save(force_insert=True)
        outcome = replace(outcome, record=row.pk)
        if settle:
            settle([(proposal, outcome)])
    return outcome
