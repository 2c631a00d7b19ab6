"""StockItem: what lies on the shelf, one subject together with the reservations of it. One unit, one promise.

`held` is the sum of what is promised and not yet handed out. The database itself keeps it so, whoever writes: it is
never more than `on_hand` (a CHECK), and it is the sum of the reservations that are held (`PromiseGuard`, at the
commit). Next in the flow: `crm/actions/stock.py`.
"""

from typing import Any

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts import guard
from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import MergePolicy, Rule


class ReservationState(models.TextChoices):
    HELD = "held", _("held")
    RELEASED = "released", _("given back")
    CONSUMED = "consumed", _("handed out")
    EXPIRED = "expired", _("run out")


RESERVATION_TRANSITIONS: dict[ReservationState, frozenset[ReservationState]] = {
    ReservationState.HELD: frozenset({ReservationState.RELEASED, ReservationState.CONSUMED, ReservationState.EXPIRED}),
    ReservationState.RELEASED: frozenset(),
    ReservationState.CONSUMED: frozenset(),
    ReservationState.EXPIRED: frozenset(),
}
"""A promise ends once. Whoever wants the units again makes a new one, if there are any."""


class PromiseGuard(guard.RuleGuard):
    """Refuses, at the commit, an item whose `held` is not the sum of what is held of it."""

    name = "promise"
    when = pgtrigger.After
    operation = pgtrigger.Insert | pgtrigger.Update
    timing = pgtrigger.Deferred
    declare = [("promised", "bigint"), ("counted", "bigint")]

    def __init__(self, *, item: str) -> None:
        self.item = item
        super().__init__()

    def get_func(self, model: Any) -> str:
        return f"""
            SELECT i.held INTO counted FROM crm_stockitem i WHERE i.id = NEW.{self.item};
            SELECT coalesce(sum(r.quantity), 0) INTO promised
              FROM crm_reservation r WHERE r.item_id = NEW.{self.item} AND r.state = 'held';
            IF counted <> promised THEN
                RAISE EXCEPTION 'crm_stockitem % says % held, its reservations say %',
                    NEW.{self.item}, counted, promised USING ERRCODE = '{guard.RULE_BROKEN}';
            END IF;
            RETURN NULL;
        """


@tracked
class StockItem(VersionedModel):
    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, unique=True, editable=False)
    """`crm.naming.key(name)`: the same item, whatever the case and the spaces."""
    sku = models.CharField(_("number"), max_length=60, blank=True)
    product = models.ForeignKey(
        "crm.Product", models.PROTECT, null=True, blank=True, verbose_name=_("product"), related_name="stock"
    )
    location = models.CharField(_("shelf"), max_length=120, blank=True)
    unit = models.CharField(_("counted in"), max_length=40, blank=True)
    on_hand = models.PositiveIntegerField(_("on hand"), default=0)
    held = models.PositiveIntegerField(_("promised"), default=0)
    note = models.TextField(_("note"), blank=True)
    tags = ArrayField(models.CharField(max_length=60), verbose_name=_("tags"), default=list, blank=True)

    policy = MergePolicy(
        owner=gettext_noop("head of the warehouse"),
        rules={"on_hand": Rule.ADD, "note": Rule.APPEND, "tags": Rule.APPEND},
        derived={"held": frozenset({"reservations"})},
        voids_approval=frozenset({"on_hand", "held", "reservations"}),
    )

    class Meta:
        verbose_name = _("stock item")
        verbose_name_plural = _("stock items")
        triggers = [PromiseGuard(item="id")]
        constraints = [
            models.CheckConstraint(condition=models.Q(held__lte=models.F("on_hand")), name="promised_is_on_hand"),
        ]
        indexes = [
            models.Index(fields=["name_key", "id"], name="stock_by_name"),
            models.Index(fields=["-changed_at", "-id"], name="stock_by_change"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def free(self) -> int:
        """What can still be promised."""
        return self.on_hand - self.held


@tracked
class Reservation(ChildModel):
    """A promise of so many units to a deal or a contract, until a moment."""

    item = models.ForeignKey(StockItem, models.PROTECT, related_name="reservations")
    opportunity = models.ForeignKey(
        "crm.Opportunity", models.PROTECT, null=True, blank=True, verbose_name=_("deal"), related_name="reservations"
    )
    contract = models.ForeignKey(
        "crm.Contract", models.PROTECT, null=True, blank=True, verbose_name=_("contract"), related_name="reservations"
    )
    quantity = models.PositiveIntegerField(_("units"))
    made_by = models.CharField(_("reserved by"), max_length=200)
    """The text form of an Actor: a person or an agent."""
    until = models.DateTimeField(_("until"))
    state = models.CharField(_("state"), max_length=8, choices=ReservationState, default=ReservationState.HELD)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    note = models.CharField(_("note"), max_length=200, blank=True)

    subject_field = "item"
    aspect = "reservations"

    class Meta:
        verbose_name = _("reservation")
        verbose_name_plural = _("reservations")
        ordering = ["-id"]
        triggers = [PromiseGuard(item="item_id")]
        constraints = [
            models.CheckConstraint(condition=models.Q(quantity__gte=1), name="reservation_of_something"),
            models.CheckConstraint(
                condition=models.Q(opportunity__isnull=False) | models.Q(contract__isnull=False),
                name="reservation_for_something",
            ),
            models.CheckConstraint(
                condition=models.Q(state="held", ended_at=None)
                | (~models.Q(state="held") & models.Q(ended_at__isnull=False)),
                name="reservation_ended_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["item", "until"], name="reservation_held", condition=models.Q(state="held")),
            models.Index(fields=["opportunity", "-id"], name="reservation_of_deal"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.item}"

    @property
    def maker(self) -> Actor:
        return Actor.parse(self.made_by)
