"""Lease: one holder's right to work on one object for a time; LeaseEvent: what became of it, as evidence.

One row per object, for ever: the fencing token lives in it, and a token that is reset protects nothing.
Written by `conflicts/leases.py` only.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Renewal(models.TextChoices):
    NEVER = "never", _("not renewed")
    HEARTBEAT = "heartbeat", _("renewed while the holder lives")


class Lease(models.Model):
    key = models.CharField(_("protects"), max_length=200, unique=True)
    """The text form of a Ref, or another stable name."""
    holder = models.CharField(_("holder"), max_length=32, blank=True)
    """Random for each acquisition, never a worker's name: a name comes back to life, an acquisition does not."""
    unit = models.CharField(_("unit of work"), max_length=200)
    actor = models.CharField(_("who"), max_length=200)
    fence = models.BigIntegerField(_("fencing token"), default=0)
    """Rises with every grant and is never reset."""
    granted_at = models.DateTimeField(_("since"))
    expires_at = models.DateTimeField(_("until"))
    beat_at = models.DateTimeField(_("last sign of life"))
    seconds = models.FloatField(_("length"))
    reason = models.CharField(_("why"), max_length=200)
    renewal = models.CharField(_("renewal"), max_length=9, choices=Renewal, default=Renewal.NEVER)
    release_when = models.CharField(_("released when"), max_length=200)
    recovery = models.JSONField(_("taken over from"), default=dict, blank=True)
    """Evidence of recovery: {"holder", "unit", "fence", "expired_at", "taken_at"} of the holder that went silent."""

    class Meta:
        verbose_name = _("lease")
        verbose_name_plural = _("leases")
        indexes = [models.Index(fields=["expires_at"], name="lease_expiry")]

    def __str__(self) -> str:
        return f"{self.key} #{self.fence}"


class LeaseEventKind(models.TextChoices):
    GRANTED = "granted", _("granted")
    TAKEN_OVER = "taken_over", _("taken over after expiry")
    RENEWED = "renewed", _("renewed")
    RELEASED = "released", _("released")
    BROKEN = "broken", _("broken by a manager")
    LOST = "lost", _("lost")
    """The holder found that it was no longer the one; what it wanted to write was refused."""
    REFUSED = "refused", _("asked for in a way it cannot be had")


class LeaseEvent(models.Model):
    key = models.CharField(_("protects"), max_length=200)
    fence = models.BigIntegerField(_("fencing token"))
    kind = models.CharField(_("what"), max_length=10, choices=LeaseEventKind)
    by = models.CharField(_("who"), max_length=200)
    unit = models.CharField(_("unit of work"), max_length=200, blank=True)
    detail = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(_("when"), db_default=Now())

    class Meta:
        verbose_name = _("lease event")
        verbose_name_plural = _("lease events")
        indexes = [
            models.Index(fields=["key", "-id"], name="lease_event_of_key"),
            models.Index(fields=["kind", "at"], name="lease_event_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.key} #{self.fence} {self.kind}"
