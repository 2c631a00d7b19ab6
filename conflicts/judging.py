"""The gate's questions 1 to 5, asked of one proposal with its subjects locked; the answer is an Outcome.

Guarantees that nothing is written from here: with a written outcome, `work` holds what question 6 is to write.
Next in the flow: `conflicts/writing.py`.
"""

from collections.abc import Iterable
from typing import Any

from conflicts import actions, history, leases, policing, settling
from conflicts.actions import Action
from conflicts.actors import Actor
from conflicts.exceptions import Clash, GoalMet, RuleBroken, Verdict
from conflicts.merging import Merged, merge
from conflicts.models import LedgerEntry
from conflicts.outcomes import Difference, Outcome, Result
from conflicts.policies import Rule
from conflicts.proposals import UNREAD, Approval
from conflicts.refs import Ref
from conflicts.sentences import Sentence, actor, aspects
from conflicts.values import native, plain, read
from conflicts.work import Work


def judge(work: Work, locked: dict[Ref, Any], answered: dict[str, LedgerEntry], held: set[leases.Claim]) -> Outcome:
    """Questions 1 to 5; with a written outcome, `work` holds what 6 is to write."""
    proposal = work.proposal
    action = actions.get(proposal.action)

    if not proposal.key_can_be_kept:
        return answer(work, Result.REFUSED, Sentence("key_unusable"))

    # 1. Asked first: after its own success a harmless retry would look stale.
    if entry := answered.get(proposal.key):
        if entry.fingerprint != proposal.fingerprint:
            return answer(work, Result.REFUSED, Sentence("key_reused"))
        return Outcome.from_json(entry.answer).again()

    missing = [r.subject for r in proposal.basis if r.subject not in locked]
    if missing or (not proposal.basis and not action.creates):
        return answer(work, Result.REFUSED, Sentence("gone"), state="version_conflict")
    work.basis = {r.subject: locked[r.subject] for r in proposal.basis}
    work.subject = locked[proposal.subject] if proposal.subject else None

    # 2. Whoever lost the lease can do nothing more, even if it lives on and everything else still fits.
    if proposal.lease and proposal.lease not in held:
        leases.lost(proposal.lease, unit=proposal.source)
        return answer(work, Result.REFUSED, Sentence("lease_expired"), state="lease_expired")

    if forbidden := action.permits(proposal.by, work.subject):
        return answer(work, Result.REFUSED, forbidden)
    if proposal.settles and (late := settling.too_late(work)):
        return answer(work, late.result, late.sentence, state="needs_human_decision")

    # 3. A yes is a yes to one content; whatever else is to be done was never approved.
    if proposal.approval and proposal.approval.fingerprint != proposal.fingerprint:
        return answer(
            work,
            Result.CONFLICT,
            Sentence("approval_of_other_content"),
            state="changed_during_approval",
        )
    if proposal.approval and (void := outlived(proposal.approval, work)):
        return answer(work, Result.CONFLICT, void, state="needs_human_decision")

    touched = look(work)
    policing.remember(work)
    merge_writes(work, action)
    if proposal.settles and (beyond := settling.without_authority(work, action)):
        return answer(work, Result.REFUSED, beyond, state="needs_human_decision")
    if not proposal.settles and (around := settling.goes_around(work, locked)):
        return answer(work, Result.REFUSED, around, state="needs_human_decision")
    try:
        # 5 before the verdict of 4: "closed meanwhile" says more than "something moved".
        action.check(work)
        policing.before(work)
        if touched:
            state = "changed_during_approval" if proposal.approval else ""
            raise Clash("rested_on", state=state, **who_and_what(work, touched))
        if work.differences:
            raise Clash(
                "not_mergeable",
                **who_and_what(work, {d.field for d in work.differences}),
            )
        policing.reread(work)
        if not (work.writes or action.writes_aspects or action.creates):
            if work.overruled:
                raise GoalMet("person_was_faster", **who_and_what(work, work.overruled))
            return answer(work, Result.APPLIED, unchanged=True)
        action.apply(work)
        policing.after(work)
    except GoalMet as verdict:
        return told(work, Result.SUPERSEDED, verdict)
    except RuleBroken as verdict:
        return told(work, Result.REFUSED, verdict)
    except Clash as verdict:
        return told(work, Result.CONFLICT, verdict)

    if work.result is Result.APPLIED and work.moved:
        work.result = Result.REBASED
    words = None if work.result is Result.APPLIED else Sentence(work.result.value, who_and_what(work, None))
    return answer(work, work.result, words)


def outlived(approval: Approval, work: Work) -> Sentence | None:
    """Why a yes to this very content counts no more: its giver, its time or the rules it was given under."""
    action = actions.get(work.proposal.action)
    if approval.by.account is not None and action.permits(approval.by, work.subject):
        return Sentence("approval_without_right", {"who": actor(approval.by)})
    if approval.expires_at is not None and approval.expires_at <= work.now:
        return Sentence("approval_expired")
    now = {ref.label: ref.model.policy.mark for ref in work.basis}
    if any(now[label] != mark for label, mark in approval.policies.items() if label in now):
        return Sentence("approval_of_other_rules")
    return None


def look(work: Work) -> set[str]:
    """Question 4, first half: what moved since it was read, and which of it the decision rested on."""
    touched: set[str] = set()
    for basis in work.proposal.basis:
        current = work.basis[basis.subject]
        if basis.version in (current.version, UNREAD):
            continue
        moved = history.changes_since(basis.subject, basis.version)
        work.moved += moved
        now_is = read(current, basis.values)
        touched |= {name for name, value in basis.values.items() if now_is[name] != value}
        touched |= basis.aspects & {change.aspect for change in moved}
        if current.version < basis.version:
            touched.add("version")  # read from a future that a restored backup has taken back
    return touched


def merge_writes(work: Work, action: Action) -> None:
    """Question 4, second half: put each field that the proposal writes together with what is in force."""
    wanted = dict(action.writes(work.params))
    policing.check_written(action.subject, wanted)
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
        merged = merge(
            rule=rule,
            base=base[name],
            current=current[name],
            proposed=proposed,
            theirs=Actor.parse(theirs),
            mine=work.by,
        )
        if not isinstance(merged, Merged):
            differences.append(
                Difference(
                    field=name,
                    base=merged.base,
                    current=merged.current,
                    proposed=proposed,
                )
            )
        elif merged.value != current[name]:
            work.writes[name] = value if merged.value == proposed else native(action.subject, name, merged.value)
            if base[name] != current[name]:
                work.result = Result.MERGED
        else:  # the rule keeps theirs: to be said, not to be passed over as "so already"
            work.overruled.add(name)
    if work.overruled and work.writes:
        work.result = Result.MERGED
    work.differences = tuple(differences)


def told(work: Work, result: Result, verdict: Verdict) -> Outcome:
    state = verdict.state
    if work.proposal.approval and work.moved and state == "needs_reevaluation":
        state = "changed_during_approval"  # for the person who said yes that is what happened
    return answer(work, result, Sentence(verdict.code, verdict.facts), state=state)


def answer(
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
        state=state or ("" if result is Result.APPLIED else state_of(work)),
        unchanged=unchanged,
    )


def state_of(work: Work) -> str:
    """Which of the eight states, where the check did not say: told by who moved it and who wanted to."""
    if not work.moved:
        return "needs_human_decision"
    if Actor.parse(work.moved[-1].by).is_person and not work.by.is_person:
        return "manual_action_detected"
    if work.differences and not work.by.is_person:
        return "merge_not_allowed"
    return "version_conflict"


def who_and_what(work: Work, names: Iterable[str] | None) -> dict[str, Any]:
    """The facts of a sentence: who moved it last, and which of the moved (all, or those in `names`) it is about."""
    moved = [c for c in work.moved if names is None or c.aspect in names] or list(work.moved)
    label = (moved[0].subject if moved else work.proposal.subject or Ref.of(work.subject)).label
    shown = dict.fromkeys(c.aspect for c in moved) or dict.fromkeys(names or ())
    return {
        "who": Actor.parse(moved[-1].by).name if moved else "-",
        "what": aspects(label, shown),
    }
