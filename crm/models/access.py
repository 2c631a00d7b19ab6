"""AccessRequest: somebody asks to see or do more than their team does; it is examined, and granted once.

A grant names the version that was examined and the fingerprint of what the page showed, who gave it and until when; it
has effect only in state `granted` and before `expires_at`, whatever has become of the sweep that says so. Nobody grants
their own: the database refuses it as well. Next in the flow: `crm/actions/access.py`, `crm/permissions.py`.
"""

import hashlib
import json
from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import VersionedModel
from conflicts.policies import MergePolicy
from conflicts.values import read
from crm.models.user import Role, User


class AccessKind(models.TextChoices):
    TEAM = "team", _("a team's deals")
    COMPANY = "company", _("a company's deals")
    EXPORT = "export", _("taking lists out")


class AccessState(models.TextChoices):
    ASKED = "asked", _("asked for")
    GRANTED = "granted", pgettext_lazy("access", "granted")
    DECLINED = "declined", pgettext_lazy("access", "declined")
    WITHDRAWN = "withdrawn", _("withdrawn")
    REVOKED = "revoked", _("taken back")
    EXPIRED = "expired", _("run out")


TRANSITIONS: dict[AccessState, frozenset[AccessState]] = {
    AccessState.ASKED: frozenset({AccessState.GRANTED, AccessState.DECLINED, AccessState.WITHDRAWN}),
    AccessState.GRANTED: frozenset({AccessState.REVOKED, AccessState.EXPIRED}),
    AccessState.DECLINED: frozenset(),
    AccessState.WITHDRAWN: frozenset(),
    AccessState.REVOKED: frozenset(),
    AccessState.EXPIRED: frozenset(),
}

EXAMINED = ("kind", "team", "company", "may_change", "person", "asked_by", "reason", "wanted_until")
"""What an examiner says yes or no to: the fingerprint is of exactly these."""


class AccessQuerySet(models.QuerySet["AccessRequest"]):
    def visible_to(self, user: User) -> "AccessQuerySet":
        """One's own; managers also those about their team and their people; administrators all."""
        if user.sees_everything:
            return self
        mine = models.Q(person=user)
        if user.role == Role.MANAGER and user.team_id:
            mine |= models.Q(team=user.team_id) | models.Q(person__team=user.team_id)
        return self.filter(mine)

    def in_force(self) -> "AccessQuerySet":
        return self.filter(state=AccessState.GRANTED, expires_at__gt=Now())

    def of(self, user: User) -> "AccessQuerySet":
        """What this person was granted and has now."""
        return self.in_force().filter(person=user.pk)

    def opened_to(self, user: User) -> models.Q:
        """What a person sees of anything that has a team and a company: their team's, nobody's, what was granted."""
        granted = self.of(user)
        return (
            models.Q(team=None)
            | models.Q(team=user.team_id)
            | models.Q(team__in=granted.filter(kind=AccessKind.TEAM).values("team"))
            | models.Q(company__in=granted.filter(kind=AccessKind.COMPANY).values("company"))
        )

    def about(self, deal: Any) -> "AccessQuerySet":
        """Those that open this deal, or whatever else has a team and a company."""
        return self.opening(team=deal.team_id, company=deal.company_id)

    def opening(self, *, team: int | None, company: int | None) -> "AccessQuerySet":
        of_team = models.Q(kind=AccessKind.TEAM, team__isnull=False, team=team)
        return self.filter(of_team | models.Q(kind=AccessKind.COMPANY, company__isnull=False, company=company))


@tracked
class AccessRequest(VersionedModel):
    kind = models.CharField(_("access to"), max_length=7, choices=AccessKind)
    team = models.ForeignKey(
        "crm.Team", models.PROTECT, null=True, blank=True, verbose_name=_("team"), related_name="access_requests"
    )
    company = models.ForeignKey(
        "crm.Company", models.PROTECT, null=True, blank=True, verbose_name=_("company"), related_name="access_requests"
    )
    may_change = models.BooleanField(_("leave to change them"), default=False)
    person = models.ForeignKey("crm.User", models.PROTECT, verbose_name=_("for"), related_name="access_requests")
    asked_by = models.CharField(_("asked by"), max_length=200)
    """The text form of an Actor: the person, or an agent on their behalf."""
    reason = models.TextField(_("reason"))
    wanted_until = models.DateField(_("wanted until"))
    state = models.CharField(_("state"), max_length=9, choices=AccessState, default=AccessState.ASKED)
    decided_by = models.ForeignKey(
        "crm.User", models.PROTECT, null=True, blank=True, verbose_name=_("decided by"), related_name="access_decisions"
    )
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    decision_note = models.CharField(_("said with it"), max_length=200, blank=True)
    examined_version = models.BigIntegerField(_("version examined"), null=True, blank=True)
    examined_fingerprint = models.CharField(_("fingerprint examined"), max_length=64, blank=True)
    expires_at = models.DateTimeField(_("runs out"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = AccessQuerySet.as_manager()
    state_field = "state"
    transitions = TRANSITIONS
    policy = MergePolicy(
        owner=gettext_noop("data protection officer"),
        exclusive=frozenset({AccessState.GRANTED, AccessState.DECLINED, AccessState.WITHDRAWN}),
        voids_approval=frozenset(EXAMINED),
        demands_reread=frozenset({"state", *EXAMINED}),
    )

    class Meta:
        verbose_name = _("access request")
        verbose_name_plural = _("access requests")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="team", team__isnull=False, company=None)
                | models.Q(kind="company", team=None, company__isnull=False)
                | models.Q(kind="export", team=None, company=None),
                name="access_to_what_it_says",
            ),
            models.CheckConstraint(
                condition=models.Q(decided_by=None) | ~models.Q(decided_by=models.F("person")),
                name="nobody_grants_their_own",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["granted", "revoked", "expired"])
                | models.Q(
                    decided_by__isnull=False,
                    expires_at__isnull=False,
                    examined_version__isnull=False,
                )
                & ~models.Q(examined_fingerprint=""),
                name="grant_says_by_whom_on_what",
            ),
            models.UniqueConstraint(
                fields=["person", "kind", "team", "company"],
                condition=models.Q(state="asked"),
                nulls_distinct=False,
                name="access_asked_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["person", "kind", "expires_at"], name="access_in_force", condition=models.Q(state="granted")
            ),
            models.Index(fields=["state", "-id"], name="access_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.target}" if self.target else str(self.get_kind_display())

    def name_kept(self) -> str:
        """`team:South`: the kind as it is stored, and what it is about."""
        return f"{self.kind}:{self.target or ''}"

    @classmethod
    def name_told(cls, kept: str) -> str:
        kind, _colon, name = kept.partition(":")
        if kind not in AccessKind.values:
            return kept
        words = str(AccessKind(kind).label)
        return f"{words}: {name}" if name else words

    @property
    def target(self) -> Any:
        return self.team or self.company

    @property
    def asker(self) -> Actor:
        return Actor.parse(self.asked_by)

    @property
    def fingerprint(self) -> str:
        """Hash of what an examiner is shown: equal only for the same wish."""
        content = read(self, EXAMINED)
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
