"""AutonomyPolicy: per action, how far an agent may go on its own."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Mode(models.TextChoices):
    SUGGEST = "suggest", _("only suggests")
    """Shown; a person does it by hand or approves."""
    ASK = "ask", _("asks first")
    """A task waits for the owner's yes."""
    ACT = "act", _("acts by itself")


class AutonomyPolicy(models.Model):
    """One row per action; an action without a row is only suggested."""

    action = models.CharField(_("action"), max_length=80, unique=True)
    mode = models.CharField(_("how far"), max_length=8, choices=Mode, default=Mode.SUGGEST)
    amount_limit = models.DecimalField(
        _("acts up to this amount"),
        max_digits=14,
        decimal_places=2,
        null=True,
        blank=True,
    )
    """Above it, `act` becomes `ask`."""

    class Meta:
        verbose_name = _("autonomy policy")
        verbose_name_plural = _("autonomy policies")
        ordering = ["action"]

    def __str__(self) -> str:
        return f"{self.action}: {self.get_mode_display()}"
