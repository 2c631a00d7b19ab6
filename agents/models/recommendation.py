"""Recommendation: what an agent proposes for a deal, with all it rests on. A state machine moved by compare-and-swap.

proposed -> approved, applied, superseded, declined, snoozed, expired, failed
snoozed  -> proposed (when its day has come), superseded, declined, expired
approved -> applied, superseded, failed, proposed (the yes is void, and it is asked again)
"""

from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from agents.models.autonomy import Mode
from conflicts.actors import Actor
from conflicts.proposals import Proposal, Read
from conflicts.sentences import Sentence
from crm.models import Opportunity, User


class RecommendationState(models.TextChoices):
    PROPOSED = "proposed", _("proposed")
    APPROVED = "approved", _("approved")
    APPLIED = "applied", _("done")
    SUPERSEDED = "superseded", _("overtaken")
    DECLINED = "declined", _("declined")
    SNOOZED = "snoozed", _("later")
    EXPIRED = "expired", _("expired")
    FAILED = "failed", _("not done")


_S = RecommendationState
TRANSITIONS: dict[RecommendationState, frozenset[RecommendationState]] = {
    _S.PROPOSED: frozenset(
        {
            _S.APPROVED,
            _S.APPLIED,
            _S.SUPERSEDED,
            _S.DECLINED,
            _S.SNOOZED,
            _S.EXPIRED,
            _S.FAILED,
        }
    ),
    _S.SNOOZED: frozenset({_S.PROPOSED, _S.SUPERSEDED, _S.DECLINED, _S.EXPIRED}),
    _S.APPROVED: frozenset({_S.APPLIED, _S.SUPERSEDED, _S.FAILED, _S.PROPOSED}),
    _S.APPLIED: frozenset(),
    _S.SUPERSEDED: frozenset(),
    _S.DECLINED: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.FAILED: frozenset(),
}
OPEN_STATES = frozenset({_S.PROPOSED, _S.APPROVED, _S.SNOOZED})


class DeclineReason(models.TextChoices):
    """One click. Stored."""

    DONE = "done", _("already done")
    WRONG_TIME = "wrong_time", _("wrong time")
    WRONG_STEP = "wrong_step", _("not the right step")
    KNOWN_BETTER = "known_better", _("I know more than the record")


EDIT_REASONS = [choice for choice in DeclineReason.choices if choice[0] != DeclineReason.DONE]
"""Why a person makes another content of it."""


class RecommendationQuerySet(models.QuerySet["Recommendation"]):
    def open(self) -> "RecommendationQuerySet":
        return self.filter(state__in=OPEN_STATES)

    def visible_to(self, user: User) -> "RecommendationQuerySet":
        """Those whose deal the person may see."""
        return self.filter(opportunity__in=Opportunity.objects.visible_to(user))


class Recommendation(models.Model):
    opportunity = models.ForeignKey(
        "crm.Opportunity",
        models.PROTECT,
        related_name="recommendations",
        verbose_name=_("deal"),
    )
    state = models.CharField(_("state"), max_length=10, choices=RecommendationState, default=_S.PROPOSED)
    revision = models.PositiveIntegerField(default=1)
    """Rises when a person edits the content; part of the idempotency key."""

    agent = models.CharField(_("agent"), max_length=200)
    """The text form of the Actor that proposed it."""
    rule = models.CharField(_("rule"), max_length=8)
    """R1 to R11 of the recommender."""
    priority = models.IntegerField(_("priority"), default=0)
    """An explained sum; higher first."""
    score = models.JSONField(default=list)
    """Its terms: [{"points": 20, "why": Sentence.as_json()}, ...]"""
    mode = models.CharField(_("how far"), max_length=8, choices=Mode, default=Mode.SUGGEST)
    """What the autonomy policy said when it was made."""
    sweep = models.ForeignKey(
        "agents.SweepRun",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="recommendations",
        verbose_name=_("sweep"),
    )
    action = models.CharField(max_length=80)
    params = models.JSONField(default=dict)
    title = models.JSONField(_("what"))
    """Sentence.as_json()"""
    why = models.JSONField(_("why"))
    """Sentence.as_json()"""
    basis = models.JSONField()
    """[Read.as_json(), ...]: versions read and read sets; the deal comes first."""
    facts = models.JSONField(default=list)
    """[{"label": Sentence, "value": Sentence, "aspect": name}, ...]: what the card shows it rests on."""
    version_read = models.BigIntegerField(_("version read"))
    read_at = models.DateTimeField(_("read at"))

    created_at = models.DateTimeField(_("made"), db_default=Now())
    expires_at = models.DateTimeField(_("expires"))
    snoozed_until = models.DateField(_("not before"), null=True, blank=True)
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    decided_by = models.CharField(_("decided by"), max_length=200, blank=True)
    edited_by = models.CharField(_("edited by"), max_length=200, blank=True)
    """The text form of the Actor who last changed the content."""
    editors = models.JSONField(_("all who changed it"), default=list, blank=True)
    """The text forms of all Actors who changed the content since the agent made it: it is the proposal of each."""
    edit_reason = models.CharField(_("why it was changed"), max_length=40, blank=True)
    """DeclineReason, from whoever changed the content last."""
    decline_reason = models.CharField(_("reason"), max_length=40, blank=True)
    outcome = models.JSONField(default=dict, blank=True)
    """Outcome.as_json() of the commit."""
    conflict = models.ForeignKey(
        "conflicts.Conflict",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="recommendations",
        verbose_name=_("evidence"),
    )
    overtaken_by = models.CharField(_("overtaken by"), max_length=200, blank=True)
    """The text form of the Actor whose change superseded it."""
    overtaken_version = models.BigIntegerField(null=True, blank=True)
    """The version of the deal that superseded it."""

    objects = RecommendationQuerySet.as_manager()

    class Meta:
        verbose_name = _("suggestion")
        verbose_name_plural = _("suggestions")
        constraints = [
            # Two sweeps, or two workers, cannot both leave a suggestion for one deal.
            models.UniqueConstraint(
                fields=["opportunity"],
                condition=models.Q(state__in=["proposed", "approved", "snoozed"]),
                name="one_open_suggestion",
            )
        ]
        indexes = [
            models.Index(fields=["state", "-created_at"], name="suggestion_by_state"),
            models.Index(fields=["opportunity", "-created_at"], name="suggestion_of_deal"),
            models.Index(fields=["state", "-priority", "-id"], name="suggestion_by_priority"),
            models.Index(fields=["state", "-decided_at"], name="suggestion_by_decision"),
        ]

    def __str__(self) -> str:
        return str(self.headline)

    @property
    def headline(self) -> Sentence:
        return Sentence.from_json(self.title)

    @property
    def reason(self) -> Sentence:
        return Sentence.from_json(self.why)

    @property
    def decline_reason_words(self) -> str:
        known = dict(DeclineReason.choices)
        return str(known.get(self.decline_reason, self.decline_reason))

    @property
    def proposer(self) -> Actor:
        return Actor.parse(self.agent)

    @property
    def decider(self) -> Actor | None:
        return Actor.parse(self.decided_by) if self.decided_by else None

    @property
    def overtaker(self) -> Actor | None:
        return Actor.parse(self.overtaken_by) if self.overtaken_by else None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def reads(self) -> tuple[Read, ...]:
        return tuple(Read.from_json(item) for item in self.basis)

    def proposal(self, **more: Any) -> Proposal:
        """The wish as the gate takes it. Its key names the unit of work (this revision), never the attempt."""
        return Proposal(
            action=self.action,
            by=Actor.parse(self.agent),
            params=self.params,
            basis=self.reads,
            key=f"recommendation:{self.pk}:{self.revision}",
            reason=self.rule,
            source=f"recommendation:{self.pk}",
            **more,
        )
