"""Ticket: something a customer needs from us, one subject together with the notes on it.

`assignee` is who is meant to do it; `claimed_by` is the person who has said "mine", and then no agent closes it or
gives it to somebody else. Tickets wait in the queue of a team, or in everybody's. Next: `crm/actions/tickets.py`.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import MergePolicy, Rule
from crm.models.user import User


class TicketState(models.TextChoices):
    OPEN = "open", _("open")
    IN_PROGRESS = "in_progress", _("in progress")
    WAITING = "waiting", _("waiting")
    CLOSED = "closed", pgettext_lazy("ticket", "closed")


TRANSITIONS: dict[TicketState, frozenset[TicketState]] = {
    TicketState.OPEN: frozenset({TicketState.IN_PROGRESS, TicketState.WAITING, TicketState.CLOSED}),
    TicketState.IN_PROGRESS: frozenset({TicketState.OPEN, TicketState.WAITING, TicketState.CLOSED}),
    TicketState.WAITING: frozenset({TicketState.OPEN, TicketState.IN_PROGRESS, TicketState.CLOSED}),
    TicketState.CLOSED: frozenset({TicketState.OPEN}),
}
"""Back from closed there is one way, and only `ticket.reopen` goes it: a note never does."""


class Priority(models.IntegerChoices):
    LOW = 1, _("low")
    NORMAL = 2, _("normal")
    HIGH = 3, _("high")
    URGENT = 4, _("urgent")


class TicketQuerySet(models.QuerySet["Ticket"]):
    def visible_to(self, user: User) -> "TicketQuerySet":
        """Those in the queue of the person's team, and those in everybody's; administrators see all."""
        if user.sees_everything:
            return self
        return self.filter(models.Q(team=None) | models.Q(team=user.team_id))

    def unsettled(self) -> "TicketQuerySet":
        return self.exclude(state=TicketState.CLOSED)

    def free(self) -> "TicketQuerySet":
        """Those that the next one who asks for work may get."""
        return self.filter(state=TicketState.OPEN, claimed_by=None)

    def in_turn(self) -> "TicketQuerySet":
        """The order in which they are worked on: the urgent ones first, of those the oldest."""
        return self.order_by("-priority", "id")


@tracked
class Ticket(VersionedModel):
    name = models.CharField(_("what it is about"), max_length=200)
    text = models.TextField(_("in their words"), blank=True)
    company = models.ForeignKey(
        "crm.Company", models.PROTECT, null=True, blank=True, verbose_name=_("company"), related_name="tickets"
    )
    contact = models.ForeignKey(
        "crm.Contact", models.PROTECT, null=True, blank=True, verbose_name=_("contact"), related_name="tickets"
    )
    opportunity = models.ForeignKey(
        "crm.Opportunity", models.PROTECT, null=True, blank=True, verbose_name=_("deal"), related_name="tickets"
    )
    team = models.ForeignKey(
        "crm.Team", models.PROTECT, null=True, blank=True, verbose_name=_("queue"), related_name="tickets"
    )
    """The queue it waits in; none: everybody's."""
    priority = models.PositiveSmallIntegerField(_("priority"), choices=Priority, default=Priority.NORMAL)
    state = models.CharField(_("state"), max_length=11, choices=TicketState, default=TicketState.OPEN)
    assignee = models.ForeignKey(
        "crm.User", models.PROTECT, null=True, blank=True, verbose_name=_("assigned to"), related_name="tickets"
    )
    claimed_by = models.ForeignKey(
        "crm.User", models.PROTECT, null=True, blank=True, verbose_name=_("taken by"), related_name="claimed_tickets"
    )
    claimed_at = models.DateTimeField(_("taken"), null=True, blank=True)
    resolution = models.TextField(_("how it ended"), blank=True)
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)
    customer_wrote_at = models.DateTimeField(_("customer wrote"), null=True, blank=True)
    """The newest note with the customer's own words."""
    tags = ArrayField(models.CharField(max_length=60), verbose_name=_("tags"), default=list, blank=True)

    objects = TicketQuerySet.as_manager()
    state_field = "state"
    transitions = TRANSITIONS
    policy = MergePolicy(
        owner=gettext_noop("head of service"),
        rules={
            "tags": Rule.APPEND,
            "priority": Rule.HUMAN_WINS,
            "team": Rule.HUMAN_WINS,
            "customer_wrote_at": Rule.LATEST,
        },
        exclusive=frozenset({TicketState.CLOSED}),
        terminal=frozenset({TicketState.CLOSED}),
        voids_approval=frozenset({"state", "claimed_by", "assignee", "customer_wrote_at"}),
        demands_reread=frozenset({"claimed_by", "customer_wrote_at"}),
    )

    class Meta:
        verbose_name = _("ticket")
        verbose_name_plural = _("tickets")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(company__isnull=False) | models.Q(contact__isnull=False),
                name="ticket_is_somebodys",
            ),
            models.CheckConstraint(
                condition=models.Q(state="closed", closed_at__isnull=False)
                | (~models.Q(state="closed") & models.Q(closed_at=None)),
                name="ticket_closed_has_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "-priority", "id"],
                name="ticket_free",
                condition=models.Q(state="open", claimed_by=None),
            ),
            models.Index(fields=["state", "-priority", "id"], name="ticket_in_turn"),
            models.Index(fields=["assignee", "-priority", "id"], name="ticket_of_person"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def responsible_id(self) -> int | None:
        """Who is asked when a conflict about this ticket needs a person."""
        return self.claimed_by_id or self.assignee_id

    @property
    def is_open(self) -> bool:
        return self.state != TicketState.CLOSED

    @property
    def answered_after_closing(self) -> bool:
        """The customer has written since it was closed: somebody may want to reopen it."""
        return bool(self.closed_at and self.customer_wrote_at and self.customer_wrote_at > self.closed_at)


@tracked
class TicketNote(ChildModel):
    """What somebody wrote about a ticket: one of us, or the customer."""

    ticket = models.ForeignKey(Ticket, models.PROTECT, related_name="notes")
    at = models.DateTimeField(_("when"))
    by = models.CharField(_("who"), max_length=200)
    """The text form of an Actor."""
    from_customer = models.BooleanField(_("the customer's words"), default=False)
    text = models.TextField(_("text"))

    subject_field = "ticket"
    aspect = "ticket_notes"

    class Meta:
        verbose_name = _("note on the ticket")
        verbose_name_plural = _("notes on the ticket")
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["ticket", "-at"], name="ticket_note_line")]

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def actor(self) -> Actor:
        return Actor.parse(self.by)
