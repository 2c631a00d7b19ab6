"""People who sign in, and their teams."""

import zoneinfo
from typing import Any, ClassVar

from django.contrib.auth import models as auth
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


class Team(models.Model):
    name = models.CharField(_("name"), max_length=120, unique=True)
    region = models.CharField(_("region"), max_length=120, blank=True)

    class Meta:
        verbose_name = _("team")
        verbose_name_plural = _("teams")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    SALESPERSON = "salesperson", _("salesperson")
    MANAGER = "manager", _("manager")
    ADMINISTRATOR = "administrator", _("administrator")


def check_zone(name: str) -> None:
    if name and name not in zoneinfo.available_timezones():
        raise ValidationError(_("%(zone)s is not a time zone."), params={"zone": name})


class UserManager(auth.UserManager["User"]):
    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **more: Any
    ) -> "User":
        """As Django's; the one who may do everything has the role that says so."""
        return super().create_superuser(username, email, password, **{"role": Role.ADMINISTRATOR, **more})


class User(AbstractUser):
    """`team` decides whose deals a person sees; administrators see all."""

    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.SALESPERSON)
    team = models.ForeignKey(
        Team,
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("team"),
        related_name="people",
    )
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True, validators=[check_zone])
    language = models.CharField(
        _("language"),
        max_length=8,
        blank=True,
        choices=[("en", "English"), ("pt-br", "Português")],
    )
    theme = models.CharField(
        _("colours"),
        max_length=5,
        blank=True,
        choices=[("light", _("light")), ("dark", _("dark"))],
        default="",
    )

    objects: ClassVar[UserManager] = UserManager()

    class Meta(AbstractUser.Meta):
        indexes = [models.Index(fields=["team", "last_name"], name="user_team")]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    @property
    def sees_everything(self) -> bool:
        return self.is_superuser or self.role == Role.ADMINISTRATOR

    @property
    def initials(self) -> str:
        words = str(self).split()
        return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()
