"""Decision: what a person, or time, decided about a conflict that waited; a subject of its own, written once.

Guarantees that each decision is an act of the gate: with its author and moment as the database stamps them, the reason,
and the state it was made on (the revision of the conflict, the version of the record it is about).
Made by `conflicts/decisions.py` only.
"""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.models.conflict import Conflict
from conflicts.models.versioned import VersionedModel
from conflicts.policies import MergePolicy
from conflicts.tracking import tracked


class DecisionKind(models.TextChoices):
    DROP = "drop", _("dropped")
    APPLY = "apply", _("applied on the version in force")
    EDIT = "edit", _("changed and applied")
    ASK_AGAIN = "ask_again", _("the agent asked again")
    HAND_OVER = "hand_over", _("handed over")
    ESCALATE = "escalate", _("moved up: the deadline had passed")


class Why(models.TextChoices):
    """One click. Stored."""

    STILL_RIGHT = "still_right", _("looked at it: still right")
    AGREED = "agreed", _("agreed with those concerned")
    OVERTAKEN = "overtaken", _("overtaken by what happened")
    MISTAKE = "mistake", _("meant by mistake")
    ELSEWHERE = "elsewhere", _("done in another way")
    KNOWS_MORE = "knows_more", _("somebody else knows more")
    OVERDUE = "overdue", _("nobody had decided in time")
    """Time's own reason; no person gives it."""


@tracked
class Decision(VersionedModel):
    conflict = models.ForeignKey(Conflict, models.PROTECT, related_name="decisions", verbose_name=_("conflict"))
    kind = models.CharField(_("decision"), max_length=9, choices=DecisionKind)
    reason = models.CharField(_("reason"), max_length=11, choices=Why)
    note = models.CharField(_("in words"), max_length=300, blank=True)
    revision = models.PositiveIntegerField(_("revision"))
    """Of the conflict, as it was shown."""
    decided_on = models.BigIntegerField(_("decided on version"), null=True)
    """Of the record it is about, as it was shown; None where there is none."""
    to = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, verbose_name=_("handed to"), related_name="+"
    )
    before = models.JSONField(_("before"), default=dict)
    """Responsible, deadline and level, where it changed them."""

    policy = MergePolicy(owner=gettext_noop("head of sales"))

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")

    def __str__(self) -> str:
        return str(self.get_kind_display())

    def name_kept(self) -> str:
        return str(self.kind)

    @classmethod
    def name_told(cls, kept: str) -> str:
        return str(dict(DecisionKind.choices).get(kept, kept))
