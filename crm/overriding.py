"""Overriding: a person puts another value in the place of an agent's, and says why with one click.

The CRM knows no agent: it tells whoever listens (`overridden`), after the person's value is in force.
"""

from django.db import models
from django.dispatch import Signal
from django.utils.translation import gettext_lazy as _


class OverrideReason(models.TextChoices):
    """One click. Stored."""

    WRONG = "wrong", _("the agent's value is wrong")
    NEWER = "newer", _("mine is newer")
    AGREED = "agreed", _("agreed with the customer")
    KNOWN_BETTER = "known_better", _("I know more than the record")


overridden = Signal()
"""`subject` (Ref), `version` (in force now), `names`, `agent` and `by` (Actors), `reason`, `record` (its key)."""
