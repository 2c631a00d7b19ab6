"""From an Outcome to its evidence: the Conflict row that is written in the same transaction."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conflicts import actions, review, writing
from conflicts.models import Conflict
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import LONGEST_KEY, UNREAD, Proposal
from conflicts.sentences import Sentence, authority
from conflicts.values import plain
from conflicts.work import Work

DECIDE_WITHIN = dt.timedelta(hours=24)

NEXT_STEP = {
    "version_conflict": Sentence("next.choose"),
    "merge_not_allowed": Sentence("next.choose"),
    "changed_during_approval": Sentence("next.approve_again"),
    "manual_action_detected": Sentence("next.look_again"),
    "needs_reevaluation": Sentence("next.look_again"),
}


def leaves_record(outcome: Outcome) -> bool:
    """Only what was simply applied, or answered from the ledger, needs no evidence."""
    return outcome.result not in (Result.APPLIED, Result.DUPLICATE)


def record(
    proposal: Proposal, outcome: Outcome, *, subject: Any, now: dt.datetime, decided: Conflict | None = None
) -> Conflict:
    """The row (unsaved) that tells what was meant, what was found and what did not happen.

    `decided`: the conflict that it was to decide; the row then is about the same record.
    """
    action = actions.get(proposal.action)
    waiting = outcome.result is Result.CONFLICT
    ref = proposal.subject or outcome.subject
    decisive = [c for c in outcome.moved if c.aspect in {d.field for d in outcome.differences}] or list(outcome.moved)
    # As validated: what was typed may hold characters that no JSON column takes.
    params: Any = plain(actions.validate(action, proposal.params).model_dump(exclude_unset=True))
    about = review.desk().about(subject)
    wanted = [*params, *(difference.field for difference in outcome.differences)]
    need = review.need_of(subject, wanted, proposed=params, more=action.authority) if waiting else review.Need()
    if decided is not None and ref is None:
        kind, key, name, team = decided.subject_model, decided.subject_id, decided.subject_label, decided.team_key
    else:
        kind, key = (ref.label, ref.pk) if ref else (action.subject._meta.label_lower, None)
        name, team = subject.name_kept() if subject is not None else "", about.team
    return Conflict(
        subject_model=kind,
        subject_id=key,
        subject_label=name[:300],
        amount=review.stake(about.amount, params.get("amount")),
        currency=str(params.get("currency") or about.currency)[:3],
        team_key=team,
        needs=need.as_json(),
        state=outcome.state,
        result=outcome.result.value,
        version_read=proposal.basis[0].version if proposal.basis and proposal.basis[0].version != UNREAD else None,
        version_found=outcome.version,
        changes=[change.as_json() for change in outcome.moved],
        differences=outcome.as_json()["differences"],
        action=proposal.action,
        params=params,
        actor=str(proposal.by),
        competing=decisive[-1].by if decisive else "",
        sentence=(outcome.sentence or Sentence(outcome.result.value)).as_json(),
        avoided=action.avoided.as_json() if action.avoided and not outcome.written else {},
        rule=outcome.sentence.code if outcome.sentence else outcome.result.value,
        source=proposal.source,
        key=proposal.key.replace("\x00", "")[:LONGEST_KEY],
        responsible_id=getattr(subject, "responsible_id", None),
        deadline=now + DECIDE_WITHIN if waiting else None,
        next_step=_next_step(action, outcome).as_json() if waiting else {},
        closed_at=None if waiting else now,
        closed_by="" if waiting else "system:vigente:Vigente",
        resolution="" if waiting else outcome.result.value,
    )


def needs_authority(model: Any, differences: Sequence[Any]) -> set[str]:
    """The kinds of authority that settling these differences takes (`MergePolicy.authority`)."""
    return {model.policy.authority[d.field].value for d in differences if d.field in model.policy.authority}


def _next_step(action: actions.Action, outcome: Outcome) -> Sentence:
    if found := needs_authority(action.subject, outcome.differences):
        return Sentence("next.authority", {"authority": authority(found)})
    return NEXT_STEP.get(outcome.state, Sentence("next.decide"))


def keep(works: Sequence[Work], outcomes: Sequence[Outcome], *, now: dt.datetime) -> list[Outcome]:
    """Write the rows that the outcomes leave, and give each outcome the key of its own."""
    kept = {
        index: record(work.proposal, outcome, subject=work.subject, now=now, decided=work.record)
        for index, (work, outcome) in enumerate(zip(works, outcomes, strict=True))
        if leaves_record(outcome)
    }
    if kept:
        writing.insert(kept.values())
    return [
        replace(outcome, record=kept[index].pk) if index in kept else outcome for index, outcome in enumerate(outcomes)
    ]
