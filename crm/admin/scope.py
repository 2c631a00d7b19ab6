"""Whose deals a person meets in the admin: those of the team, and those of nobody's team; administrators meet all."""

from django.http import HttpRequest

from crm.models import User
from crm.models.user import Role


def administers(request: HttpRequest) -> bool:
    """May set up people, teams and policies."""
    user = request.user
    return isinstance(user, User) and user.is_active and user.is_staff and user.sees_everything


def manages(request: HttpRequest) -> bool:
    """May take work away from who has it, and decide what nobody else can tell."""
    user = request.user
    if not (isinstance(user, User) and user.is_active and user.is_staff):
        return False
    return user.sees_everything or user.role == Role.MANAGER
