"""Job: a unit of work as a row; JobEvent: what was odd about one, as evidence.

Guarantees that due times, attempts and cancellations are facts of the database: a message that rings for a job may be
lost, doubled or late without changing what is done. Two things the database holds by itself: of one subject at most one
job runs, and its jobs are numbered without a gap or a twin. Written by `conflicts/jobs.py` and `conflicts/running.py`.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

OPEN = ("queued", "running")


class JobState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    """Ended without effect for a reason that no further attempt can change: its subject is gone."""
    CANCELLED = "cancelled", _("cancelled")
    REVIEW = "review", _("waits for a person")


class Job(models.Model):
    kind = models.CharField(_("kind"), max_length=80)
    key = models.CharField(_("idempotency key"), max_length=255, unique=True)
    subject = models.CharField(_("subject"), max_length=120, blank=True)
    """The text form of a Ref; empty for work that concerns no subject and needs no order."""
    slot = models.PositiveSmallIntegerField()
    """Stable hash of the subject; its partition is this modulo the number of partitions (conflicts/partitions.py)."""
    sequence = models.BigIntegerField()
    """1, 2, 3 ... within the subject, in the order in which the enqueuing transactions committed."""
    due_at = models.DateTimeField(_("due"))
    state = models.CharField(_("state"), max_length=9, choices=JobState, default=JobState.QUEUED)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    schema = models.PositiveSmallIntegerField(default=1)
    """Version of the payload's form. A release that does not know it yet leaves the job to one that does."""
    payload = models.JSONField(default=dict)
    error = models.CharField(_("last error"), max_length=200, blank=True)
    by = models.CharField(_("who"), max_length=200)

    holder = models.CharField(max_length=32, blank=True)
    fence = models.BigIntegerField(null=True)
    """The claim under which it runs: the lease on `lane` with this holder and token, while that is in force."""
    rung_at = models.DateTimeField(null=True)
    """When the watch last rang for it."""
    late_bells = models.PositiveIntegerField(default=0)
    """Messages that rang for it while it ran or after it had ended: recognised, counted, not acted upon."""

    created_at = models.DateTimeField(_("created"), db_default=Now())
    started_at = models.DateTimeField(_("started"), null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        constraints = [
            models.UniqueConstraint(
                fields=["subject", "sequence"], condition=~models.Q(subject=""), name="job_sequence_once"
            ),
            models.UniqueConstraint(
                fields=["subject"],
                condition=models.Q(state="running") & ~models.Q(subject=""),
                name="job_one_runs_per_subject",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at", "id"], condition=models.Q(state="queued"), name="job_due"),
            models.Index(
                fields=["subject", "sequence"], condition=models.Q(state__in=OPEN), name="job_open_of_subject"
            ),
            models.Index(fields=["id"], condition=models.Q(state="running"), name="job_running"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

    @property
    def lane(self) -> str:
        """The key of the lease under which it runs: one per subject; a job without a subject is in nobody's way."""
        return f"work:{self.subject}" if self.subject else f"job:{self.pk}"


class JobEventKind(models.TextChoices):
    CANCELLED = "cancelled", _("cancelled")
    RETRIED = "retried", _("given another chance by a person")
    FAILED = "failed", _("failed")
    RECOVERED = "recovered", _("taken from a holder that went silent")
    REVIEW = "review", _("handed to a person")
    SUBJECT_GONE = "subject_gone", _("its subject is gone")
    LOST = "lost", _("its holder came too late")
    LATE_MESSAGE = "late_message", _("a message came for work that had ended")
    UNKNOWN_MESSAGE = "unknown_message", _("a message came for work that is not known")
    UNKNOWN_FIELDS = "unknown_fields", _("a message held fields that are not known")


class JobEvent(models.Model):
    key = models.CharField(_("idempotency key"), max_length=255)
    """Of the job; text and no foreign key, for a message may speak of a job that never was."""
    kind = models.CharField(_("what"), max_length=15, choices=JobEventKind)
    by = models.CharField(_("who"), max_length=200)
    detail = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(_("when"), db_default=Now())

    class Meta:
        verbose_name = _("job event")
        verbose_name_plural = _("job events")
        indexes = [models.Index(fields=["key", "-id"], name="job_event_of_key")]

    def __str__(self) -> str:
        return f"{self.key} {self.kind}"
