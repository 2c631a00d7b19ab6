"""Who may change what. One rule, three uses: `permits_x` answers the gate, the button and its tooltip.

Agents and integrations act for the whole workspace; what they may do is said by the autonomy policy
(agents/policies.py) and by each action's own check.
"""

from typing import Any

from conflicts.actors import Actor, Kind
from conflicts.sentences import Sentence
from crm.models import AccessRequest, Conversation, Opportunity, Ticket, User
from crm.models.access import AccessKind
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
    return _granted(user, deal, seen="granted_to_see", closed="other_team")


def _granted(user: User, record: Any, *, seen: str, closed: str) -> Sentence | None:
    """Of another team's: None with leave to change it; else what one says to who may see it, and to who may not."""
    leave = AccessRequest.objects.of(user).about(record).values_list("may_change", flat=True)
    if any(found := list(leave)):
        return None
    return Sentence(seen if found else closed, {"team": str(record.team)})


def permits_ticket(by: Actor, ticket: Ticket | None) -> Sentence | None:
    """A ticket is worked on by the team in whose queue it waits, one in everybody's queue by everybody."""
    if by.kind is not Kind.PERSON:
        return None
    user: User = by.account
    if not user.is_active:
        return Sentence("not_active")
    if ticket is None or user.sees_everything or ticket.team_id is None or ticket.team_id == user.team_id:
        return None
    return Sentence("other_queue", {"team": str(ticket.team)})


def permits_decision(by: Actor, request: AccessRequest | None) -> Sentence | None:
    """Access to a team's deals is given by its manager, any access by an administrator; nobody's own by themselves."""
    if by.kind is not Kind.PERSON:
        return Sentence("access_by_people")
    user: User = by.account
    if not user.is_active:
        return Sentence("not_active")
    if request is None:
        return None
    if user.pk == request.person_id or request.asker.same_as(by):
        return Sentence("access_own")
    team = request.team_id if request.kind == AccessKind.TEAM else None
    if user.sees_everything or (team and user.role == Role.MANAGER and user.team_id == team):
        return None
    return Sentence("access_by_manager", {"team": str(request.team)}) if team else Sentence("access_by_administrator")


def may_export(user: User) -> bool:
    """Lists leave the house with managers and administrators, and with whom it was granted to."""
    if not user.is_active:
        return False
    if user.sees_everything or user.role == Role.MANAGER:
        return True
    return AccessRequest.objects.of(user).filter(kind=AccessKind.EXPORT).exists()


def permits_of_team(by: Actor, record: Any) -> Sentence | None:
    """As with deals, for what goes with them (`record.team`, `record.company`): contracts, invoices."""
    if by.kind is not Kind.PERSON:
        return None
    user: User = by.account
    if not user.is_active:
        return Sentence("not_active")
    if record is None or user.sees_everything or record.team_id is None or record.team_id == user.team_id:
        return None
    return _granted(user, record, seen="granted_to_see_record", closed="other_team_record")


def permits_conversation(by: Actor, conversation: Conversation | None) -> Sentence | None:
    """A conversation about a deal is its team's; all others are the whole workspace's."""
    return permits_deal(by, conversation.opportunity if conversation else None)


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
