"""ChannelAccount: one door by which customers write to us (a number, a mailbox, a chat on a site), and its pace."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts import actors
from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import VersionedModel
from conflicts.policies import MergePolicy


class Provider(models.TextChoices):
    WEBCHAT = "webchat", _("chat on a website")
    WHATSAPP = "whatsapp", "WhatsApp Cloud API"
    TWILIO = "twilio", "Twilio"
    MAIL = "mail", _("e-mail")


class Medium(models.TextChoices):
    """How it reaches the customer; all but the web chat are channels one agrees to (crm/models/contact.py)."""

    WEBCHAT = "webchat", _("web chat")
    WHATSAPP = "whatsapp", "WhatsApp"
    SMS = "sms", "SMS"
    EMAIL = "email", _("e-mail")


SECONDS = [MinValueValidator(0), MaxValueValidator(600)]


@tracked
class ChannelAccount(VersionedModel):
    name = models.CharField(_("name"), max_length=120)
    provider = models.CharField(_("provider"), max_length=10, choices=Provider)
    medium = models.CharField(_("channel"), max_length=10, choices=Medium)
    address = models.CharField(_("address"), max_length=254)
    """As the provider names it: a phone number's id, an E.164 number, a mailbox, the slug of a chat. Lower case."""
    active = models.BooleanField(_("in use"), default=True)

    agent_answers = models.BooleanField(_("the agent answers first"), default=True)
    quiet_seconds = models.FloatField(_("quiet window in seconds"), default=4.0, validators=SECONDS)
    """The debounce window: so long nothing new has come before an answer is written. 0 passes the same gate."""
    cap_seconds = models.FloatField(_("longest wait in seconds"), default=20.0, validators=SECONDS)
    """Hard cap on the window, from the first unanswered message on."""
    flush_at = models.PositiveSmallIntegerField(
        _("answered at once from this many messages on"), default=10, validators=[MinValueValidator(1)]
    )
    give_back_minutes = models.PositiveIntegerField(_("back to the agent after minutes"), null=True, blank=True)
    """Counted from the last human sign; empty: only by hand."""

    language = models.CharField(_("language"), max_length=8, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)
    opens_at = models.TimeField(_("opens"), null=True, blank=True)
    closes_at = models.TimeField(_("closes"), null=True, blank=True)
    open_days = models.CharField(_("open on"), max_length=7, blank=True, default="12345")
    """ISO weekdays, 1 is Monday."""
    contact_from = models.TimeField(_("unasked messages from"), default="08:00")
    contact_until = models.TimeField(_("unasked messages until"), default="21:00")
    """In the contact's zone. What answers a message of the last hours is not unasked."""

    policy = MergePolicy(owner=gettext_noop("customer service"))

    class Meta:
        verbose_name = _("channel")
        verbose_name_plural = _("channels")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "address"], name="one_account_per_address"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def actor(self) -> Actor:
        """Who writes down what came by it."""
        return actors.integration(f"channel-{self.pk}", self.name)
