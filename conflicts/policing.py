"""Holding a proposal against the policy and the table of moves of every model it rests on.

Guarantees that what a policy declares has effect, whatever the action's own check looks at: `before` and `reread` are
asked of the locked state in force, `after` of what the action then wants to write. They speak as a check does, by
raising a Verdict.
Which names these are is the model's to say (conflicts/policies.py). Next in the flow: `conflicts/writing.py`.
"""

from typing import Any

from conflicts.actors import Kind
from conflicts.exceptions import Clash, DerivedWrite, RuleBroken
from conflicts.models.versioned import VersionedModel
from conflicts.outcomes import Change
from conflicts.refs import Ref
from conflicts.sentences import actor, aspects, choice
from conflicts.values import read
from conflicts.work import Work


def before(work: Work) -> None:
    """Raises a Verdict: an agent acts in a terminal state, a change voids the yes, or the first of two exclusive moves
    has been made.
    """
    for ref, subject in work.basis.items():
        moved = [change for change in work.moved if change.subject == ref]
        _terminal(work, subject)
        _exclusive(work, ref, subject, moved, str(work.writes.get(subject.state_field, "")))
        if work.proposal.approval:
            _not_since(moved, subject.policy.voids_approval, "approval_void", "changed_during_approval")


def reread(work: Work) -> None:
    """Raises Clash: an agent read before a change that demands a full re-read. Asked last of what was read: where the
    read set has moved, or a field clashes, that says more.
    """
    if work.by.kind is not Kind.AGENT:
        return
    for ref, subject in work.basis.items():
        moved = [change for change in work.moved if change.subject == ref]
        _not_since(moved, subject.policy.demands_reread, "read_again", "needs_reevaluation")


def after(work: Work) -> None:
    """Raises a Verdict: what is to be written is a move that the table does not hold, or one the policy excludes."""
    subject = work.subject
    name = subject.state_field
    if not name or name not in work.changes or subject in work.added:
        return
    ref = Ref.of(subject)
    old, new = _state_in_force(work, ref), str(work.changes[name])
    if old is None or old == new:
        return
    moved = [change for change in work.moved if change.subject == ref]
    _exclusive(work, ref, subject, moved, new)
    allowed = {str(state) for state in subject.transitions.get(old, ())}
    if subject.transitions and new not in allowed:
        terminal = "terminal_state_found" if old in subject.terminal_states() else ""
        raise RuleBroken("no_such_move", state=terminal, old=_said(subject, old), new=_said(subject, new))


def check_written(model: type[VersionedModel], names: Any) -> None:
    """Raises DerivedWrite: an action asks to merge a field that is recalculated."""
    if derived := sorted(set(names) & model.policy.derived.keys()):
        raise DerivedWrite(f"{model._meta.label}: {', '.join(derived)} is recalculated; no action writes it.")


def _terminal(work: Work, subject: VersionedModel) -> None:
    """Only of what the proposal would change: a deal that is open may rest on a contract that has ended."""
    if work.by.kind is not Kind.AGENT or subject is not work.subject or not subject.state_field:
        return
    state = str(getattr(subject, subject.state_field))
    if state in subject.terminal_states():
        raise RuleBroken("state_is_final", state="terminal_state_found", status=_said(subject, state))


def _exclusive(work: Work, ref: Ref, subject: VersionedModel, moved: list[Change], new: str) -> None:
    """Of two moves that exclude each other the first stands; whoever made the second decides on what is so now."""
    policy, name = subject.policy, subject.state_field
    if subject is not work.subject or new not in policy.exclusive:
        return
    theirs = [change for change in moved if change.aspect == name and str(change.new) in policy.exclusive]
    if theirs and str(theirs[-1].new) != new and str(theirs[-1].new) == _state_in_force(work, ref):
        raise Clash(
            "exclusive_meanwhile",
            state="terminal_state_found",
            who=actor(theirs[-1].by),
            status=_said(subject, str(theirs[-1].new)),
        )


def _not_since(moved: list[Change], names: frozenset[str], code: str, state: str) -> None:
    found = [change for change in moved if change.aspect in names]
    if found:
        what = aspects(found[0].subject.label, dict.fromkeys(change.aspect for change in found))
        raise Clash(code, state=state, who=actor(found[-1].by), what=what)


def _state_in_force(work: Work, ref: Ref) -> str | None:
    """As it was locked: the object itself shows what the action has set already."""
    states = [
        change.new for change in work.moved if change.subject == ref and change.aspect == work.subject.state_field
    ]
    if states:
        return str(states[-1])
    found = work.states.get(ref)
    return str(found) if found is not None else None


def remember(work: Work) -> None:
    """The states as they were locked, before the action shows what it wants on the object."""
    for ref, subject in work.basis.items():
        if subject.state_field:
            work.states[ref] = read(subject, [subject.state_field])[subject.state_field]


def _said(subject: VersionedModel, state: str) -> dict[str, list[str]]:
    return choice(subject._meta.label_lower, subject.state_field, state)
