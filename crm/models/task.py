"""Task: something to do in a deal. The earliest open one with a day is the deal's next step."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.history import tracked
from conflicts.models import ChildModel


class TaskKind(models.TextChoices):
    TODO = "todo", _("to do")
    CALL = "call", _("call")
    MEETING = "meeting", _("meeting")
    MAIL = "mail", _("e-mail")


class TaskState(models.TextChoices):
    OPEN = "open", _("open")
    DONE = "done", _("done")
    CANCELLED = "cancelled", _("cancelled")


@tracked
class Task(ChildModel):
    opportunity = models.ForeignKey("crm.Opportunity", models.PROTECT, related_name="tasks")
    kind = models.CharField(_("kind"), max_length=8, choices=TaskKind, default=TaskKind.TODO)
    title = models.CharField(_("what"), max_length=200)
    due_on = models.DateField(_("due"), null=True, blank=True)
    due_at = models.DateTimeField(_("at"), null=True, blank=True)
    """Only where a time was agreed; `due_on` is then its day in the zone of whoever set it."""
    owner = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("owner"),
        related_name="tasks",
    )
    claimed_by = models.ForeignKey(
        "crm.User",
        models.PROTECT,
        null=True,
        blank=True,
        verbose_name=_("claimed by"),
        related_name="claimed_tasks",
    )
    made_by = models.CharField(_("made by"), max_length=200)
    """The text form of an Actor: a person or an agent."""
    source = models.CharField(_("source"), max_length=200, blank=True)
    state = models.CharField(_("state"), max_length=9, choices=TaskState, default=TaskState.OPEN)
    done_at = models.DateTimeField(_("done"), null=True, blank=True)

    subject_field = "opportunity"
    aspect = "tasks"

    class Meta:
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        ordering = ["due_on", "due_at", "id"]
        indexes = [
            models.Index(
                fields=["owner", "due_on"],
                name="task_due",
                condition=models.Q(state="open"),
            ),
            models.Index(
                fields=["opportunity", "due_on"],
                name="task_open_of_deal",
                condition=models.Q(state="open"),
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def maker(self) -> Actor:
        return Actor.parse(self.made_by)
