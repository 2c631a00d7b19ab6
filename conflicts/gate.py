"""The gate: the one door for every write that follows from an earlier read.

Guarantees that no write lands on a state its author did not see, unless what moved is provably independent, and then it
says so; that each effect happens at most once per idempotency key; and that everything not simply applied leaves
evidence, in the same transaction. `commit` is `commit_many` of one: both ask the same six questions in the same order.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction

from conflicts import actions, effects, guard, history, leases, records, writing
from conflicts.actions import Action
from conflicts.actors import Actor
from conflicts.batch import Answer, Batch
from conflicts.exceptions import Clash, GoalMet, RuleBroken, Verdict
from conflicts.merging import Merged, merge
from conflicts.models import Conflict, LedgerEntry
from conflicts.outcomes import Difference, Outcome, Result
from conflicts.policies import Rule
from conflicts.proposals import Proposal, subjects
from conflicts.reading import Rows
from conflicts.refs import Ref
from conflicts.sentences import Sentence, aspects
from conflicts.signals import Committed, committed
from conflicts.values import native, plain, read
from conflicts.work import Work

logger = logging.getLogger(__name__)

BATCH = 500
"""Subjects in one transaction: long enough to be fast, short enough that nobody waits a second for a row."""

BUSY = frozenset({"40001", "40P01", "55P03"})
"""SQLSTATEs for serialization failure, deadlock and lock timeout: nothing was written, the row is contended."""

UNIQUE = "23505"

type Settle = Callable[[Sequence[tuple[Proposal, Outcome]]], None]


def commit(proposal: Proposal, *, settle: Settle | None = None) -> Outcome:
    """Ask the six questions and write, or say why not.

    `settle` runs inside the transaction with the outcome, for what must change with it (a recommendation's state).
    Raises UnknownAction or BadParams for a proposal that could never be carried out; nothing is written then.
    """
    return commit_many([proposal], settle=settle)[0]


def commit_many(proposals: Sequence[Proposal], *, settle: Settle | None = None) -> list[Outcome]:
    """As `commit` for each, many subjects in one transaction; one bad subject never stops the others.

    Outcomes come in the order of the proposals. Two proposals for one subject are taken one after the other.
    """
    parsed = [(p, actions.validate(actions.get(p.action), p.params)) for p in proposals]
    outcomes: dict[int, Outcome] = {}
    for wave in _waves(proposals):
        pairs = [parsed[index] for index in wave]
        outcomes |= zip(wave, _commit_wave(pairs, settle), strict=True)
    return [outcomes[index] for index in range(len(proposals))]


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
    now, locked, answered = _open(proposals)

    judged: list[tuple[Work, Outcome]] = []
    memo: dict[Any, Any] = {}
    for proposal, params in pairs:
        work = Work(proposal=proposal, params=params, now=now, memo=memo)
        judged.append((work, _judge(work, locked, answered, held)))

    writing.write([work for work, outcome in judged if outcome.written])
    effects.write([work for work, outcome in judged if outcome.written])
    outcomes = [_completed(work, outcome) for work, outcome in judged]
    outcomes = _keep_evidence([work for work, _ in judged], outcomes, now)
    _write_ledger(proposals, outcomes)
    _close_settled(proposals, outcomes, now)
    if settle:
        settle(list(zip(proposals, outcomes, strict=True)))
    _announce([work for work, _ in judged], outcomes)
    return outcomes


def _open(proposals: Sequence[Proposal]) -> tuple[dt.datetime, dict[Ref, Any], dict[str, LedgerEntry]]:
    """Sign, lock and look: the transaction's one clock, every subject in force, answers already given."""
    batch = Batch()
    clock = _sign(batch, proposals[0])
    wanted = {
        model: Rows(batch, model, "id", [ref.pk for ref in refs], lock=True)
        for model, refs in groupby(subjects(proposals), key=lambda ref: ref.model)
    }
    # After the locks: a twin that was waiting for our subject must find our answer, not our newer version.
    entries = Rows(batch, LedgerEntry, "key", [proposal.key for proposal in proposals if proposal.key])
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


def _judge(work: Work, locked: dict[Ref, Any], answered: dict[str, LedgerEntry], held: set[leases.Claim]) -> Outcome:
    """Questions 1 to 5; with a written outcome, `work` holds what 6 is to write."""
    proposal = work.proposal
    action = actions.get(proposal.action)

    # 1. Asked first: after its own success a harmless retry would look stale.
    if entry := answered.get(proposal.key):
        if entry.fingerprint != proposal.fingerprint:
            return _outcome(work, Result.REFUSED, Sentence("key_reused"))
        return Outcome.from_json(entry.answer).again()

    missing = [r.subject for r in proposal.basis if r.subject not in locked]
    if missing or (not proposal.basis and not action.creates):
        return _outcome(work, Result.REFUSED, Sentence("gone"), state="version_conflict")
    work.basis = {r.subject: locked[r.subject] for r in proposal.basis}
    work.subject = locked[proposal.subject] if proposal.subject else None

    # 2. Whoever lost the lease can do nothing more, even if it lives on and everything else still fits.
    if proposal.lease and proposal.lease not in held:
        leases.lost(proposal.lease, unit=proposal.source)
        return _outcome(work, Result.REFUSED, Sentence("lease_expired"), state="lease_expired")

    if forbidden := action.permits(proposal.by, work.subject):
        return _outcome(work, Result.REFUSED, forbidden)

    # 3. A yes is a yes to one content; whatever else is to be done was never approved.
    if proposal.approval and proposal.approval.fingerprint != proposal.fingerprint:
        return _outcome(
            work,
            Result.CONFLICT,
            Sentence("approval_of_other_content"),
            state="changed_during_approval",
        )

    touched = _look(work)
    _merge(work, action)
    try:
        # 5 before the verdict of 4: "closed meanwhile" says more than "something moved".
        action.check(work)
        if touched:
            raise Clash("rested_on", **_who_and_what(work, touched))
        if work.differences:
            raise Clash(
                "not_mergeable",
                **_who_and_what(work, {d.field for d in work.differences}),
            )
        if not (work.writes or action.writes_aspects or action.creates):
            if work.overruled:
                raise GoalMet("person_was_faster", **_who_and_what(work, work.overruled))
            return _outcome(work, Result.APPLIED, unchanged=True)
        action.apply(work)
    except GoalMet as verdict:
        return _told(work, Result.SUPERSEDED, verdict)
    except RuleBroken as verdict:
        return _told(work, Result.REFUSED, verdict)
    except Clash as verdict:
        return _told(work, Result.CONFLICT, verdict)

    if work.result is Result.APPLIED and work.moved:
        work.result = Result.REBASED
    words = None if work.result is Result.APPLIED else Sentence(work.result.value, _who_and_what(work, None))
    return _outcome(work, work.result, words)


def _look(work: Work) -> set[str]:
    """Question 4, first half: what moved since it was read, and which of it the decision rested on."""
    touched: set[str] = set()
    for basis in work.proposal.basis:
        current = work.basis[basis.subject]
        if current.version == basis.version:
            continue
        moved = history.changes_since(basis.subject, basis.version)
        work.moved += moved
        now_is = read(current, basis.values)
        touched |= {name for name, value in basis.values.items() if now_is[name] != value}
        touched |= basis.aspects & {change.aspect for change in moved}
        if current.version < basis.version:
            touched.add("version")  # read from a future that a restored backup has taken back
    return touched


def _merge(work: Work, action: Action) -> None:
    """Question 4, second half: put each field that the proposal writes together with what is in force."""
    wanted = dict(action.writes(work.params))
    if not wanted or work.subject is None:
        work.writes = wanted
        return
    basis = work.proposal.basis[0]
    current = read(work.subject, wanted)
    stale = work.subject.version != basis.version
    known = {**(history.values_at(basis.subject, basis.version) or {}), **basis.values} if stale else current
    base = {name: known.get(name) for name in wanted}  # a version that never was has no values
    differences: list[Difference] = []
    for name, value in wanted.items():
        field = action.subject._meta.get_field(name)
        rule = action.subject.policy.rule(name)
        proposed = plain(value, field)  # type: ignore[arg-type]
        if proposed == base[name] or (proposed == current[name] and rule is not Rule.ADD):
            continue  # the author did not touch it, or both say the same
        theirs = next((c.by for c in reversed(work.moved) if (c.subject, c.aspect) == (basis.subject, name)), "")
        answer = merge(
            rule=rule,
            base=base[name],
            current=current[name],
            proposed=proposed,
            theirs=Actor.parse(theirs),
            mine=work.by,
        )
        if not isinstance(answer, Merged):
            differences.append(
                Difference(
                    field=name,
                    base=answer.base,
                    current=answer.current,
                    proposed=proposed,
                )
            )
        elif answer.value != current[name]:
            work.writes[name] = value if answer.value == proposed else native(action.subject, name, answer.value)
            if base[name] != current[name]:
                work.result = Result.MERGED
        else:  # the rule keeps theirs: to be said, not to be passed over as "so already"
            work.overruled.add(name)
    if work.overruled and work.writes:
        work.result = Result.MERGED
    work.differences = tuple(differences)


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


def _keep_evidence(works: Sequence[Work], outcomes: Sequence[Outcome], now: dt.datetime) -> list[Outcome]:
    kept = {
        index: records.record(work.proposal, outcome, subject=work.subject, now=now)
        for index, (work, outcome) in enumerate(zip(works, outcomes, strict=True))
        if records.leaves_record(outcome)
    }
    if kept:
        writing.insert(kept.values())
    return [
        replace(outcome, record=kept[index].pk) if index in kept else outcome for index, outcome in enumerate(outcomes)
    ]


def _write_ledger(proposals: Sequence[Proposal], outcomes: Sequence[Outcome]) -> None:
    entries = [
        LedgerEntry(
            key=p.key,
            fingerprint=p.fingerprint,
            actor=str(p.by)[:200],
            answer=outcome.as_json(),
        )
        for p, outcome in zip(proposals, outcomes, strict=True)
        if p.key and outcome.result is not Result.DUPLICATE and not _key_reused(outcome)
    ]
    if entries:
        writing.insert(entries)


def _key_reused(outcome: Outcome) -> bool:
    return outcome.sentence is not None and outcome.sentence.code == "key_reused"


def _close_settled(proposals: Iterable[Proposal], outcomes: Iterable[Outcome], now: dt.datetime) -> None:
    """Compare-and-swap on "still open": of two people who settle one conflict, the second finds it settled."""
    for proposal, outcome in zip(proposals, outcomes, strict=True):
        if proposal.settles and outcome.done:
            Conflict.objects.filter(pk=proposal.settles, closed_at=None).update(
                closed_at=now, closed_by=str(proposal.by)[:200], resolution="settled"
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


def _told(work: Work, result: Result, verdict: Verdict) -> Outcome:
    return _outcome(work, result, Sentence(verdict.code, verdict.facts), state=verdict.state)


def _outcome(
    work: Work,
    result: Result,
    sentence: Sentence | None = None,
    *,
    state: str = "",
    unchanged: bool = False,
) -> Outcome:
    current = work.subject if work.proposal.basis else None
    return Outcome(
        result=result,
        subject=work.proposal.subject,
        version=current.version if current is not None else None,
        sentence=sentence,
        moved=work.moved,
        differences=work.differences if result is Result.CONFLICT else (),
        state=state or ("" if result is Result.APPLIED else _state(work)),
        unchanged=unchanged,
    )


def _state(work: Work) -> str:
    """Which of the eight states, where the check did not say: told by who moved it and who wanted to."""
    if not work.moved:
        return "needs_human_decision"
    if Actor.parse(work.moved[-1].by).is_person and not work.by.is_person:
        return "manual_action_detected"
    if work.differences and not work.by.is_person:
        return "merge_not_allowed"
    return "version_conflict"


def _who_and_what(work: Work, names: Iterable[str] | None) -> dict[str, Any]:
    """The facts of a sentence: who moved it last, and which of the moved (all, or those in `names`) it is about."""
    moved = [c for c in work.moved if names is None or c.aspect in names] or list(work.moved)
    label = (moved[0].subject if moved else work.proposal.subject or Ref.of(work.subject)).label
    shown = dict.fromkeys(c.aspect for c in moved) or dict.fromkeys(names or ())
    return {
        "who": Actor.parse(moved[-1].by).name if moved else "-",
        "what": aspects(label, shown),
    }


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
