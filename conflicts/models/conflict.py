"""Conflict: the state two writers left behind, with all that a person needs to read and settle it.

Guarantees that every proposal that was not simply applied leaves one row: what was read, what was found, what changed
and by whom, what was meant, and what did not happen. Rows that need nobody are closed as they are written.
"""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from conflicts.actors import Actor
from conflicts.refs import Ref
from conflicts.sentences import Sentence, is_whole


class State(models.TextChoices):
    VERSION_CONFLICT = "version_conflict", _("version conflict")
    CHANGED_DURING_APPROVAL = "changed_during_approval", _("changed during approval")
    LEASE_EXPIRED = "lease_expired", _("lease expired")
    MANUAL_ACTION_DETECTED = "manual_action_detected", _("manual action detected")
    TERMINAL_STATE_FOUND = "terminal_state_found", _("terminal state found")
    MERGE_NOT_ALLOWED = "merge_not_allowed", _("merge not allowed")
    NEEDS_REEVALUATION = "needs_reevaluation", _("needs a fresh look")
    NEEDS_HUMAN_DECISION = "needs_human_decision", _("needs a person's decision")


class ConflictQuerySet(models.QuerySet["Conflict"]):
    def waiting(self) -> "ConflictQuerySet":
        """Those that a person must still settle."""
        return self.filter(closed_at=None)

    def about(self, ref: Ref) -> "ConflictQuerySet":
        return self.filter(subject_model=ref.label, subject_id=ref.pk)


class Conflict(models.Model):
    subject_model = models.CharField(_("kind of record"), max_length=100)
    subject_id = models.BigIntegerField(_("record"), null=True)
    subject_label = models.CharField(_("record"), max_length=300)
    """`VersionedModel.name_kept`; people read `subject_name`."""

    state = models.CharField(_("state"), max_length=32, choices=State)
    result = models.CharField(_("result"), max_length=12)
    """conflicts.outcomes.Result"""

    version_read = models.BigIntegerField(_("version read"), null=True)
    version_found = models.BigIntegerField(_("version found"), null=True)
    changes = models.JSONField(_("what changed"), default=list)
    """Outcome.moved, as JSON: subject, aspect, old, new, by, at, version"""
    differences = models.JSONField(_("fields to settle"), default=list)
    """base / current / proposed per field that clashed"""

    action = models.CharField(_("intended action"), max_length=80)
    params = models.JSONField(_("intended content"), default=dict)
    actor = models.CharField(_("who intended it"), max_length=200)
    competing = models.CharField(_("who changed it meanwhile"), max_length=200, blank=True)
    sentence = models.JSONField(_("what happened"))
    """Sentence.as_json(): one sentence in the language of the business"""
    avoided = models.JSONField(_("what did not happen"), default=dict)
    rule = models.CharField(_("rule applied"), max_length=80)
    source = models.CharField(_("source"), max_length=200, blank=True)
    key = models.CharField(_("idempotency key"), max_length=255, blank=True)

    responsible = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("responsible"),
        related_name="+",
    )
    deadline = models.DateTimeField(_("deadline"), null=True, blank=True)
    next_step = models.JSONField(_("next step"), default=dict)
    """Sentence.as_json()"""

    revision = models.PositiveIntegerField(_("revision"), default=1)
    """Rises with each decision about it: a decision names the one it was shown."""
    level = models.PositiveSmallIntegerField(_("moved up"), default=0)
    """How often its deadline has passed and it went to the next authority (conflicts/escalation.py)."""
    escalated_at = models.DateTimeField(_("moved up at"), null=True, blank=True)
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2, null=True, blank=True)
    """What is at stake: the larger of the one in force and the one that was meant (conflicts/review.py)."""
    currency = models.CharField(_("currency"), max_length=3, blank=True)
    team_key = models.BigIntegerField(_("team"), null=True, blank=True)
    """Key of the team whose record it is, as it was when this was opened: for a list that joins nothing."""
    needs = models.JSONField(_("authority needed"), default=dict, blank=True)
    """{} for none, else of "amount", "currency", "discount", "legal" those that count (conflicts/review.py)."""

    opened_at = models.DateTimeField(_("opened"), db_default=Now())
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)
    closed_by = models.CharField(_("closed by"), max_length=200, blank=True)
    resolution = models.CharField(_("how it was settled"), max_length=40, blank=True)

    objects = ConflictQuerySet.as_manager()

    class Meta:
        verbose_name = _("conflict")
        verbose_name_plural = _("conflicts")
        indexes = [
            models.Index(
                fields=["subject_model", "subject_id", "-opened_at"],
                name="conflict_subject",
            ),
            models.Index(fields=["-opened_at"], name="conflict_newest"),
            models.Index(fields=["key"], name="conflict_of_key", condition=~models.Q(key="")),
            models.Index(
                fields=["deadline", "id"],
                name="conflict_waiting",
                condition=models.Q(closed_at=None),
            ),
            models.Index(
                fields=["team_key", "deadline", "id"],
                name="conflict_waiting_by_team",
                condition=models.Q(closed_at=None),
            ),
        ]

    def __str__(self) -> str:
        return str(self.told)

    @property
    def subject_name(self) -> str:
        """The record's name as it was, in the reader's words; empty for work that was about no record."""
        try:
            model: Any = apps.get_model(self.subject_model) if self.subject_model else None
        except (LookupError, ValueError):
            model = None
        return model.name_told(self.subject_label) if hasattr(model, "name_told") else self.subject_label

    @property
    def told(self) -> Sentence:
        return Sentence.from_json(self.sentence)

    @property
    def not_done(self) -> Sentence | None:
        return Sentence.from_json(self.avoided) if self.avoided else None

    @property
    def also_not_done(self) -> Sentence | None:
        """`not_done` where `told` does not say it already: no page says the same twice."""
        return None if is_whole(self.told.code) else self.not_done

    @property
    def to_do(self) -> Sentence | None:
        return Sentence.from_json(self.next_step) if self.next_step else None

    @property
    def intended_by(self) -> Actor:
        return Actor.parse(self.actor)

    @property
    def overtaken_by(self) -> Actor | None:
        return Actor.parse(self.competing) if self.competing else None

    @property
    def moved(self) -> list[dict[str, Any]]:
        return list(self.changes)
