"""Whose deals a person meets in the admin: those of the team, and those of nobody's team; administrators meet all."""

from django.http import HttpRequest

from crm.models import User


def administers(request: HttpRequest) -> bool:
    """May set up people, teams and policies."""
    user = request.user
    return isinstance(user, User) and user.is_active and user.is_staff and user.sees_everything
