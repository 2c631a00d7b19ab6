"""Pipeline, the way deals go, and Stage, its steps."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from conflicts.history import tracked
from conflicts.models import ChildModel, VersionedModel
from conflicts.policies import MergePolicy


class StageKind(models.TextChoices):
    OPEN = "open", _("open")
    WON = "won", _("won")
    LOST = "lost", _("lost")


@tracked
class Pipeline(VersionedModel):
    name = models.CharField(_("name"), max_length=120, unique=True)
    is_default = models.BooleanField(_("default"), default=False)

    policy = MergePolicy(owner=gettext_noop("head of sales"))

    class Meta:
        verbose_name = _("pipeline")
        verbose_name_plural = _("pipelines")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"],
                condition=models.Q(is_default=True),
                name="one_default_pipeline",
            )
        ]

    def __str__(self) -> str:
        return self.name


@tracked
class Stage(ChildModel):
    """A won or lost stage is terminal: a deal in it gets no automatic next action."""

    pipeline = models.ForeignKey(Pipeline, models.PROTECT, related_name="stages")
    name = models.CharField(_("name"), max_length=120)
    position = models.PositiveSmallIntegerField(_("order"))
    kind = models.CharField(_("kind"), max_length=4, choices=StageKind, default=StageKind.OPEN)
    contact_allowed = models.BooleanField(_("customers may be contacted"), default=True)
    stuck_after_days = models.PositiveSmallIntegerField(_("days until stuck"), null=True, blank=True)

    subject_field = "pipeline"
    aspect = "stages"

    class Meta:
        verbose_name = _("stage")
        verbose_name_plural = _("stages")
        ordering = ["pipeline", "position"]
        constraints = [
            models.UniqueConstraint(fields=["pipeline", "name"], name="stage_name_once"),
            models.UniqueConstraint(fields=["pipeline", "position"], name="stage_position_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_terminal(self) -> bool:
        return self.kind != StageKind.OPEN
