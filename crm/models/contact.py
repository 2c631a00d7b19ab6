"""Contact: a person at the customer's, the ways to reach them, and what they agreed to."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import MergePolicy, Rule


class Channel(models.TextChoices):
    EMAIL = "email", _("e-mail")
    PHONE = "phone", _("phone")
    WHATSAPP = "whatsapp", "WhatsApp"
    SMS = "sms", "SMS"


@tracked
class Contact(VersionedModel):
    name = models.CharField(_("name"), max_length=200)
    name_key = models.CharField(max_length=200, editable=False, db_index=True)
    company = models.ForeignKey(
        "crm.Company",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("company"),
        related_name="contacts",
    )
    job_title = models.CharField(_("job title"), max_length=120, blank=True)
    language = models.CharField(_("language"), max_length=8, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)
    owner = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("owner"),
        related_name="contacts",
    )
    blocked = models.BooleanField(_("must not be contacted"), default=False)
    tags = ArrayField(
        models.CharField(max_length=60),
        verbose_name=_("tags"),
        default=list,
        blank=True,
    )
    note = models.TextField(_("note"), blank=True)

    policy = MergePolicy(owner=gettext_noop("sales operations"), rules={"tags": Rule.APPEND, "note": Rule.APPEND})

    class Meta:
        verbose_name = _("contact")
        verbose_name_plural = _("contacts")
        indexes = [
            models.Index(fields=["name_key", "id"], name="contact_by_name"),
            models.Index(fields=["-changed_at", "-id"], name="contact_by_change"),
            GinIndex(fields=["tags"], name="contact_by_tag"),
        ]

    def __str__(self) -> str:
        return self.name


@tracked
class ContactPoint(ChildModel):
    """One address or number. `value_key` (lower-case address, E.164 number) is unique among those in use."""

    contact = models.ForeignKey(Contact, models.PROTECT, related_name="points")
    kind = models.CharField(
        _("kind"),
        max_length=10,
        choices=[(c.value, c.label) for c in (Channel.EMAIL, Channel.PHONE)],
    )
    value = models.CharField(_("address or number"), max_length=254)
    value_key = models.CharField(max_length=254, editable=False)
    label = models.CharField(_("label"), max_length=60, blank=True)
    is_primary = models.BooleanField(_("preferred"), default=False)
    removed = models.BooleanField(default=False)

    subject_field = "contact"
    aspect = "points"

    class Meta:
        verbose_name = _("address")
        verbose_name_plural = _("addresses")
        ordering = ["-is_primary", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "value_key"],
                condition=models.Q(removed=False),
                name="one_contact_per_address",
            )
        ]

    def __str__(self) -> str:
        return self.value


class ConsentStatus(models.TextChoices):
    GRANTED = "granted", _("agreed")
    REFUSED = "refused", _("refused")


@tracked
class Consent(ChildModel):
    """One statement of the contact about one channel. The newest by `at` is in force; older ones are its proof."""

    contact = models.ForeignKey(Contact, models.PROTECT, related_name="consents")
    channel = models.CharField(_("channel"), max_length=10, choices=Channel)
    status = models.CharField(_("statement"), max_length=8, choices=ConsentStatus)
    at = models.DateTimeField(_("when"))
    source = models.CharField(_("how we know"), max_length=200)

    subject_field = "contact"
    aspect = "consents"

    class Meta:
        verbose_name = _("consent")
        verbose_name_plural = _("consents")
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.get_channel_display()}: {self.get_status_display()}"
