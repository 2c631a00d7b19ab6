"""Who may change what. One rule, three uses: `permits_x` answers the gate, the button and its tooltip.

Agents and integrations act for the whole workspace; what they may do is said by the autonomy policy
(agents/policies.py) and by each action's own check.
"""

from conflicts.actors import Actor, Kind
from conflicts.sentences import Sentence
from crm.models import Opportunity, User
from crm.models.user import Role


def permits_deal(by: Actor, deal: Opportunity | None) -> Sentence | None:
    """Why `by` may not change this deal; None if it may. A deal of nobody's team is everybody's."""
    if by.kind is not Kind.PERSON:
        return None
    user: User = by.account
    if not user.is_active:
        return Sentence("not_active")
    if deal is None or user.sees_everything or deal.team_id is None or deal.team_id == user.team_id:
        return None
    return Sentence("other_team", {"team": str(deal.team)})


def permits_record(by: Actor, record: object) -> Sentence | None:
    """Companies and contacts are shared by the whole workspace."""
    return Sentence("not_active") if by.kind is Kind.PERSON and not by.account.is_active else None


def permits_catalogue(by: Actor, record: object) -> Sentence | None:
    """Products and pipelines are set up by managers and administrators."""
    if by.kind is not Kind.PERSON:
        return None
    user: User = by.account
    if user.is_active and (user.sees_everything or user.role == Role.MANAGER):
        return None
    return Sentence("not_allowed", {"who": "a manager"})
