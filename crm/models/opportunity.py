"""Opportunity: a deal, one subject together with its tasks and activities.

`next_step*` are derived: the earliest open task with a day. Whoever writes a task recalculates them in the same Work
(crm/next_steps.py), so that board, sweep and gate read one row.
"""

import datetime as dt

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import Authority, MergePolicy, Rule
from crm.models.access import AccessRequest
from crm.models.user import User


class Status(models.TextChoices):
    OPEN = "open", _("open")
    WON = "won", _("won")
    LOST = "lost", _("lost")


TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.OPEN: frozenset({Status.WON, Status.LOST}),
    Status.WON: frozenset({Status.OPEN, Status.LOST}),
    Status.LOST: frozenset({Status.OPEN, Status.WON}),
}
"""A person may put right what was closed by mistake; for agents, won and lost are the end (`policy.terminal`)."""


class NextStep(models.TextChoices):
    """The four colours of a card."""

    OVERDUE = "overdue", _("overdue")
    TODAY = "today", _("today")
    LATER = "later", _("later")
    NONE = "none", _("no next step")


class OpportunityQuerySet(models.QuerySet["Opportunity"]):
    def visible_to(self, user: User) -> "OpportunityQuerySet":
        """Those of the person's team, of nobody's team, and what was granted; administrators see all."""
        if user.sees_everything:
            return self
        return self.filter(AccessRequest.objects.opened_to(user))

    def open(self) -> "OpportunityQuerySet":
        return self.filter(status=Status.OPEN)

    def without_next_action(self, *, today: dt.date, horizon: dt.date) -> "OpportunityQuerySet":
        """Open deals whose next step is absent, overdue, or absurdly far away (after `horizon`)."""
        missing = models.Q(next_step_on=None) | models.Q(next_step_on__lt=today) | models.Q(next_step_on__gt=horizon)
        return self.open().filter(missing)


@tracked
class Opportunity(VersionedModel):
    external_id = models.CharField(_("outside id"), max_length=120, null=True, blank=True, unique=True)
    name = models.CharField(_("name"), max_length=200)
    company = models.ForeignKey(
        "crm.Company",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("company"),
        related_name="opportunities",
    )
    contact = models.ForeignKey(
        "crm.Contact",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("contact"),
        related_name="opportunities",
    )
    product = models.ForeignKey(
        "crm.Product",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("product"),
        related_name="opportunities",
    )
    pipeline = models.ForeignKey(
        "crm.Pipeline",
        models.PROTECT,
        verbose_name=_("pipeline"),
        related_name="opportunities",
    )
    stage = models.ForeignKey(
        "crm.Stage",
        models.PROTECT,
        verbose_name=_("stage"),
        related_name="opportunities",
    )
    stage_since = models.DateField(_("in this stage since"))
    status = models.CharField(_("status"), max_length=4, choices=Status, default=Status.OPEN)
    lost_reason = models.CharField(_("reason"), max_length=200, blank=True)
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2, null=True, blank=True)
    currency = models.CharField(_("currency"), max_length=3)
    owner = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("owner"),
        related_name="opportunities",
    )
    team = models.ForeignKey(
        "crm.Team",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("team"),
        related_name="opportunities",
    )
    opened_on = models.DateField(_("opened"), null=True, blank=True)
    expected_close = models.DateField(_("closes"), null=True, blank=True)
    closed_on = models.DateField(_("closed"), null=True, blank=True)
    decision = models.CharField(_("decision"), max_length=300, blank=True)
    """Who decides, and when, in the salesperson's words."""
    tags = ArrayField(
        models.CharField(max_length=60),
        verbose_name=_("tags"),
        default=list,
        blank=True,
    )

    next_step = models.CharField(_("next step"), max_length=200, blank=True)
    next_step_on = models.DateField(_("next step on"), null=True, blank=True)
    next_step_at = models.DateTimeField(_("next step at"), null=True, blank=True)
    last_contact_at = models.DateTimeField(_("last contact"), null=True, blank=True)
    """The newest call, meeting or mail with the customer."""

    objects = OpportunityQuerySet.as_manager()
    state_field = "status"
    transitions = TRANSITIONS
    policy = MergePolicy(
        version=2,
        owner=gettext_noop("head of sales"),
        rules={
            "tags": Rule.APPEND,
            "last_contact_at": Rule.LATEST,
            "expected_close": Rule.HUMAN_WINS,
        },
        derived={
            "next_step": frozenset({"tasks"}),
            "next_step_on": frozenset({"tasks"}),
            "next_step_at": frozenset({"tasks"}),
            "team": frozenset({"owner"}),
        },
        exclusive=frozenset({Status.WON, Status.LOST}),
        terminal=frozenset({Status.WON, Status.LOST}),
        voids_approval=frozenset({"status", "owner", "contact"}),
        demands_reread=frozenset({"status", "contact", "owner"}),
        authority={"amount": Authority.AMOUNT, "currency": Authority.AMOUNT},
    )

    class Meta:
        verbose_name = _("deal")
        verbose_name_plural = _("deals")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount=None) | models.Q(amount__gte=0),
                name="amount_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(status="open") | models.Q(closed_on__isnull=False),
                name="closed_has_a_day",
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "-changed_at", "id"], name="deal_board"),
            models.Index(
                fields=["stage", "-closed_on", "-id"], name="deal_board_closed", condition=~models.Q(status="open")
            ),
            models.Index(fields=["team", "stage"], name="deal_team"),
            models.Index(fields=["id"], name="deal_open", condition=models.Q(status="open")),
            models.Index(
                fields=["owner", "next_step_on"],
                name="deal_due",
                condition=models.Q(status="open"),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def responsible_id(self) -> int | None:
        """Who is asked when a conflict about this deal needs a person."""
        return self.owner_id

    @property
    def is_open(self) -> bool:
        return self.status == Status.OPEN

    def next_step_state(self, *, today: dt.date) -> NextStep:
        if self.next_step_on is None:
            return NextStep.NONE
        if self.next_step_on < today:
            return NextStep.OVERDUE
        return NextStep.TODAY if self.next_step_on == today else NextStep.LATER

    def days_in_stage(self, *, today: dt.date) -> int:
        return (today - self.stage_since).days

    def is_stuck(self, *, today: dt.date) -> bool:
        """Longer in its stage than the stage allows (`stuck_after_days`, calendar days)."""
        limit = self.stage.stuck_after_days
        return self.is_open and limit is not None and self.days_in_stage(today=today) > limit


@tracked
class Participant(ChildModel):
    """A further contact in the deal, beside `Opportunity.contact`."""

    opportunity = models.ForeignKey(Opportunity, models.PROTECT, related_name="participants")
    contact = models.ForeignKey("crm.Contact", models.PROTECT, related_name="participations")
    role = models.CharField(_("role"), max_length=120, blank=True)
    removed = models.BooleanField(default=False)

    subject_field = "opportunity"
    aspect = "participants"

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        constraints = [models.UniqueConstraint(fields=["opportunity", "contact"], name="participant_once")]

    def __str__(self) -> str:
        return str(self.contact)
