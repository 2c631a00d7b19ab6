"""Who may do what with a suggestion, now: one rule, three uses.

`check_x` raises NotPossible with the reason (the tooltip), `can_x` answers (the button), and the write asks the same.
"""

import datetime as dt
from typing import Any

from agents import content
from agents.exceptions import NotPossible
from agents.identity import short_name
from agents.models import Mode, Recommendation
from agents.states import State, check_state
from conflicts.actors import Actor
from conflicts.sentences import Sentence
from crm import authority
from crm.models import User
from crm.models.user import Role
from crm.permissions import permits_deal

EDITABLE: dict[str, frozenset[str]] = {
    "opportunity.follow_up": frozenset({"title", "kind", "due_on"}),
    "opportunity.reschedule_task": frozenset({"due_on"}),
}
"""The params of each action that a person may change before saying yes."""


def _check_person(recommendation: Recommendation, *, by: Actor) -> None:
    if refusal := permits_deal(by, recommendation.opportunity):
        raise NotPossible(refusal)


def check_approve(recommendation: Recommendation, *, by: Actor, now: dt.datetime, shown: str = "") -> None:
    """Whether `by` may say yes to this content. That it is still good is the gate's question, not this one.

    `shown` is the hash of what the page showed (agents/content.py); without it (a button being drawn) that question is
    left out.
    """
    if not by.is_person:
        raise NotPossible(Sentence("no.people_only"))
    _check_person(recommendation, by=by)
    check_state(recommendation, of=[State.PROPOSED])
    if recommendation.expires_at <= now:
        raise NotPossible(Sentence("no.expired"))
    owner = recommendation.opportunity.owner
    if recommendation.mode != Mode.SUGGEST and by.is_person and not _answers_for(by.account, owner):
        raise NotPossible(Sentence("no.owner_only", {"who": str(owner)}))
    _check_own(recommendation, by=by)
    if shown and shown != content.of(recommendation, reader=by).hash:
        raise NotPossible(not_the_one_shown(recommendation))


def _check_own(recommendation: Recommendation, *, by: Actor) -> None:
    """What somebody has changed is their own proposal: above their level another person says yes to it.

    It stays theirs when another changes it after them: who edits last takes nothing from those before.
    """
    if not any(Actor.parse(editor).same_as(by) for editor in recommendation.editors):
        return
    deal = recommendation.opportunity
    if no := authority.refusal(by, authority.need_of(deal, ["amount"]), team=deal.team_id):
        raise NotPossible(Sentence("no.own_beyond", no.facts))


def not_the_one_shown(recommendation: Recommendation) -> Sentence:
    """The page showed another content than the one that stands now: who changed it, where that is known."""
    if recommendation.edited_by:
        return Sentence("no.edited", {"who": short_name(Actor.parse(recommendation.edited_by))})
    return Sentence("no.other_content")


def _answers_for(user: User, owner: User | None) -> bool:
    return owner is None or owner.pk == user.pk or user.sees_everything or user.role == Role.MANAGER


def check_decline(recommendation: Recommendation, *, by: Actor) -> None:
    _check_person(recommendation, by=by)
    check_state(recommendation, of=[State.PROPOSED, State.SNOOZED])


def check_snooze(recommendation: Recommendation, *, by: Actor) -> None:
    _check_person(recommendation, by=by)
    check_state(recommendation, of=[State.PROPOSED])


def check_edit(recommendation: Recommendation, *, by: Actor) -> None:
    _check_person(recommendation, by=by)
    check_state(recommendation, of=[State.PROPOSED])
    if recommendation.action not in EDITABLE:
        raise NotPossible(Sentence("no.edit_kind"))


def check_ask_again(recommendation: Recommendation, *, by: Actor) -> None:
    _check_person(recommendation, by=by)
    check_state(recommendation, of=[State.PROPOSED, State.SNOOZED])


def _can(check: Any, *args: Any, **kwargs: Any) -> bool:
    try:
        check(*args, **kwargs)
    except NotPossible:
        return False
    return True


def can_approve(recommendation: Recommendation, *, by: Actor, now: dt.datetime) -> bool:
    return _can(check_approve, recommendation, by=by, now=now)


def can_decline(recommendation: Recommendation, *, by: Actor) -> bool:
    return _can(check_decline, recommendation, by=by)


def can_snooze(recommendation: Recommendation, *, by: Actor) -> bool:
    return _can(check_snooze, recommendation, by=by)


def can_edit(recommendation: Recommendation, *, by: Actor) -> bool:
    return _can(check_edit, recommendation, by=by)


def can_ask_again(recommendation: Recommendation, *, by: Actor) -> bool:
    return _can(check_ask_again, recommendation, by=by)
