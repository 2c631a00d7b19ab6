"""All that people do with a suggestion, and time: approve, decline, snooze, edit, ask again, wake, expire.

Guarantees that each step is one compare-and-swap on the state and revision in hand, that the second of two people is
told who was first, and that each step asks the check its button asked (agents/rights.py). They are made by
`agents/proposing.py`. Next in the flow: `agents/execution.py`.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents import content, freshness, loading, news
from agents.approving import give
from agents.exceptions import NotPossible
from agents.execution import carry_out, carry_out_all, supersede, told_of
from agents.models import ApprovalState, DeclineReason, Recommendation
from agents.proposing import look_again
from agents.recommenders.wording import CHANNEL, expiry
from agents.rights import EDITABLE, check_approve, check_ask_again, check_decline, check_edit, check_snooze
from agents.states import State, Told, lost, move, told_no, why_not
from conflicts import actions
from conflicts.actors import Actor
from conflicts.exceptions import BadParams
from conflicts.outcomes import Outcome
from conflicts.sentences import Sentence, date
from crm.clock import today_for

SNOOZE_AT_MOST = dt.timedelta(days=183)


def approve(recommendation: Recommendation, *, by: Actor, now: dt.datetime, shown: str) -> Told:
    """A person's yes to exactly what the page showed (Content.hash): kept first, then carried out.

    The yes is committed before the gate opens, so a crash between the two loses nothing: the sweep finds `approved`
    and carries it out under the same key. If what it rests on has moved, the yes is void and the agent looks again.
    """
    try:
        check_approve(recommendation, by=by, now=now, shown=shown)
    except NotPossible as no:
        return told_no(recommendation, _why_other(recommendation, no.sentence, by=by, now=now))
    if give(recommendation, by=by, now=now, content=content.of(recommendation, reader=by)) is None:
        return lost(recommendation)  # somebody pressed at the same moment and was first
    recommendation.refresh_from_db()
    return _looked_again(carry_out(recommendation, now=now), now=now)


def _looked_again(told: Told, *, now: dt.datetime) -> Told:
    """A void yes goes back to whoever gave it: with what the agent says now, if it still says anything."""
    if told.recommendation.state != State.SUPERSEDED:
        return told
    fresh = look_again(told.recommendation.opportunity_id, now=now)
    return replace(told, fresh=fresh) if isinstance(fresh, Recommendation) else told


def _why_other(one: Recommendation, sentence: Sentence, *, by: Actor, now: dt.datetime) -> Sentence:
    """Where only "not the one shown" is known: what has moved says more, if something has."""
    if sentence.code != "no.other_content":
        return sentence
    [deal] = loading.load([one.opportunity_id], now=now, around=False)
    look = freshness.freshness(one, deal, now=now, viewer=by.account)
    return sentence if look.good else look.sentence


def _not_used(one: Recommendation) -> Sentence:
    """Why a yes of a moment ago has done nothing yet."""
    if one.state == State.APPROVED:
        return Sentence("told.busy")
    void = one.approvals.filter(state=ApprovalState.VOID).order_by("-settled_at").first()
    return (void.void_because if void else None) or why_not(one)


@dataclass(frozen=True, kw_only=True, slots=True)
class Together:
    """What came of many at once: those that were done, and those set aside, each with its reason."""

    done: Sequence[Told]
    aside: Sequence[Told]


def approve_many(shown: Sequence[tuple[Recommendation, str]], *, by: Actor, now: dt.datetime) -> Together:
    """As `approve` for each, with the hash of what was shown; one that is stale or somebody else's stops none.

    Each has a yes of its own, which lasts five minutes; they are carried out in one go.
    """
    told: dict[int, Told] = {}
    given: list[Recommendation] = []
    for one, hash_shown in shown:
        try:
            check_approve(one, by=by, now=now, shown=hash_shown)
        except NotPossible as no:
            told[one.pk] = told_no(one, _why_other(one, no.sentence, by=by, now=now))
            continue
        if give(one, by=by, now=now, content=content.of(one, reader=by), together=True) is None:
            told[one.pk] = lost(one)
        else:
            given.append(one)
    for one in given:
        one.refresh_from_db()
    for after in carry_out_all(given, now=now):
        if after.state in (State.APPLIED, State.SUPERSEDED, State.FAILED):
            told[after.pk] = _looked_again(told_of(after, Outcome.from_json(after.outcome)), now=now)
        else:
            told[after.pk] = told_no(after, _not_used(after))
    answers = [told[one.pk] for one, _hash in shown]
    return Together(done=[one for one in answers if one.done], aside=[one for one in answers if not one.done])


def decline(recommendation: Recommendation, *, by: Actor, now: dt.datetime, reason: str) -> Told:
    """Not this. The same kind stays away for 30 days or until the deal changes (gate G8). Raises ValueError: reason."""
    reason = DeclineReason(reason).value
    try:
        check_decline(recommendation, by=by)
    except NotPossible as no:
        return told_no(recommendation, no.sentence)
    of = [State.PROPOSED, State.SNOOZED]
    values = {"decided_by": str(by), "decided_at": now, "decline_reason": reason}
    if not move(recommendation, of=of, to=State.DECLINED, **values):
        return lost(recommendation)
    recommendation.refresh_from_db()
    news.tell(recommendation, by=by)
    return Told(done=True, sentence=Sentence("told.declined"), recommendation=recommendation)


def snooze(recommendation: Recommendation, *, by: Actor, now: dt.datetime, until: dt.date) -> Told:
    """Not now: it keeps its place and comes back on that day."""
    try:
        check_snooze(recommendation, by=by)
        today = today_for(by.account, now=now)
        if not today < until <= today + SNOOZE_AT_MOST:
            raise NotPossible(Sentence("no.past_day"))
    except NotPossible as no:
        return told_no(recommendation, no.sentence)
    values = {"decided_by": str(by), "decided_at": now, "snoozed_until": until}
    if not move(recommendation, of=[State.PROPOSED], to=State.SNOOZED, **values):
        return lost(recommendation)
    recommendation.refresh_from_db()
    news.tell(recommendation, by=by)
    return Told(done=True, sentence=Sentence("told.snoozed", {"day": date(until)}), recommendation=recommendation)


def edit(
    recommendation: Recommendation, *, by: Actor, now: dt.datetime, params: Mapping[str, Any], reason: str = ""
) -> Told:
    """Other content: a new revision, which no earlier yes covers. `reason`: why the agent's own was not right.

    The same content is no edit: the revision, and whose proposal it is, stay.

    Raises BadParams with a sentence for each field.
    """
    try:
        check_edit(recommendation, by=by)
    except NotPossible as no:
        return told_no(recommendation, no.sentence)
    if unknown := set(params) - set(EDITABLE[recommendation.action]):
        raise BadParams({name: [str(Sentence("no.edit_kind"))] for name in unknown})
    wanted = {**recommendation.params, **params}
    valid = actions.validate(actions.get(recommendation.action), wanted).model_dump(mode="json", exclude_unset=True)
    [deal] = loading.load([recommendation.opportunity_id], now=now)
    due = dt.date.fromisoformat(valid["due_on"]) if valid.get("due_on") else None
    if due is None or not deal.today(now) <= due <= deal.today(now) + SNOOZE_AT_MOST:
        raise BadParams({"due_on": [str(Sentence("no.past_day"))]})
    reads = list(recommendation.basis)
    if valid.get("kind") in CHANNEL and deal.contact and len(reads) == 1:
        # A call needs a consent that the agent's task among ourselves did not rest on.
        reads.append(deal.reads_contact().as_json())
    if recommendation.action == "opportunity.follow_up":
        title = Sentence("title.edited", {"what": valid["title"], "day": date(due)})
    else:
        title = Sentence("r3.title", {**recommendation.headline.facts, "day": date(due)})
    if valid == _plain(recommendation):
        return told_no(recommendation, Sentence("no.edit_same"))
    changed = Recommendation.objects.filter(
        pk=recommendation.pk, state=State.PROPOSED, revision=recommendation.revision
    ).update(
        revision=recommendation.revision + 1,
        params=valid,
        title=title.as_json(),
        basis=reads,
        edited_by=str(by),
        editors=list(dict.fromkeys([*recommendation.editors, str(by)])),
        edit_reason=reason,
        expires_at=expiry(deal, due),
    )
    if not changed:
        return lost(recommendation)
    recommendation.refresh_from_db()
    news.tell(recommendation, by=by)
    sentence = Sentence("told.edited", {"what": str(recommendation.headline)})
    return Told(done=True, sentence=sentence, recommendation=recommendation)


def _plain(recommendation: Recommendation) -> dict[str, Any]:
    """Its content as the action keeps it: what an edit is held against."""
    action = actions.get(recommendation.action)
    return actions.validate(action, recommendation.params).model_dump(mode="json", exclude_unset=True)


def ask_again(recommendation: Recommendation, *, by: Actor, now: dt.datetime) -> Told:
    """Let the agent read the deal again: the old suggestion is closed with its evidence, a new one takes its place."""
    try:
        check_ask_again(recommendation, by=by)
    except NotPossible as no:
        return told_no(recommendation, no.sentence)
    if not supersede([recommendation], now=now):
        recommendation.refresh_from_db()
        if recommendation.state not in (State.PROPOSED, State.SNOOZED):
            return told_no(recommendation, lost(recommendation).sentence)
        if recommendation.expires_at > now:
            return told_no(recommendation, Sentence("told.asked_same"))
        move(recommendation, of=[State.PROPOSED, State.SNOOZED], to=State.EXPIRED, decided_at=now)
    recommendation.refresh_from_db()
    fresh = look_again(recommendation.opportunity_id, now=now)
    if isinstance(fresh, Recommendation):
        sentence = Sentence("told.asked_new", {"what": str(fresh.headline)})
        return Told(done=True, sentence=sentence, recommendation=recommendation, fresh=fresh)
    sentence = Sentence("told.asked_nothing", {"why": str(fresh.why)})
    return Told(done=True, sentence=sentence, recommendation=recommendation)


# --- time passing -----------------------------------------------------------------------------------------------------


def wake_snoozed(*, now: dt.datetime) -> int:
    """Those whose day has come are proposed again, as they were; what has passed meanwhile then expires."""
    today = today_for(None, now=now)
    return Recommendation.objects.filter(state=State.SNOOZED, snoozed_until__lte=today).update(state=State.PROPOSED)


def expire_due(*, now: dt.datetime) -> int:
    """A suggestion for a day that has passed is none; the sweep that calls this decides anew."""
    return Recommendation.objects.filter(state=State.PROPOSED, expires_at__lte=now).update(
        state=State.EXPIRED, decided_at=now
    )
