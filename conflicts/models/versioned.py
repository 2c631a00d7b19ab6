"""VersionedModel, the subject, and ChildModel, the rows that live under one.

Guarantees that an object whose version nobody knows cannot be saved, and that a subject which was loaded is only ever
updated, never inserted again after it is gone. The database has the last word: `conflicts/guard.py`.
The version field is django-concurrency's; only this module knows that.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from concurrency.fields import AutoIncVersionField
from django.db import models
from django.utils.translation import gettext_lazy as _

from conflicts import guard  # noqa: F401 - arms every model declared from here on
from conflicts.actors import Actor
from conflicts.exceptions import UnversionedWrite
from conflicts.policies import MergePolicy

BOOKKEEPING = frozenset({"id", "version", "changed_at", "changed_by", "changed_in", "subject_version"})


class Stamped(models.Model):
    """Who and when, written by the guard; whatever a client sends is overwritten."""

    changed_at = models.DateTimeField(_("changed at"), editable=False, null=True)
    changed_by = models.CharField(_("changed by"), max_length=200, editable=False, default="")

    class Meta:
        abstract = True

    @property
    def author(self) -> Actor:
        return Actor.parse(self.changed_by)


class VersionedModel(Stamped):
    """The smallest object whose rules must hold together.

    `version` starts at 1 and rises by one with every write to it or to a child. Declare `policy` (what becomes of two
    changes that meet) and, where it has states, `state_field` with the table of moves that stands beside its
    TextChoices: `TRANSITIONS: dict[State, frozenset[State]]`, every state in it. The gate holds every change against
    both, and the admin shows them (table, diagram).
    """

    version = AutoIncVersionField()
    changed_in = models.BigIntegerField(editable=False, default=0)

    policy: ClassVar[MergePolicy] = MergePolicy()
    state_field: ClassVar[str] = ""
    transitions: ClassVar[Mapping[Any, frozenset[Any]]] = {}

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """As Django's.

        Raises UnversionedWrite if the version was not loaded; concurrency.RecordModifiedError if it has moved on;
        DatabaseError if the row is gone (Django alone would insert a stale copy again).
        """
        if "version" in self.get_deferred_fields():
            raise UnversionedWrite
        if not self._state.adding and not kwargs.get("force_insert"):
            kwargs["force_update"] = True
        super().save(*args, **kwargs)

    def refresh_from_db(self, using: Any = None, fields: Any = None, from_queryset: Any = None) -> None:
        """As Django's, except that the version cannot be renewed without the content it stands for."""
        if fields is not None and "version" in fields:
            raise UnversionedWrite("A version cannot be refreshed alone: it would vouch for content that was not read.")
        super().refresh_from_db(using=using, fields=fields, from_queryset=from_queryset)

    def name_kept(self) -> str:
        """What evidence keeps of its name: nothing that is already in somebody's language."""
        return str(self)

    @classmethod
    def name_told(cls, kept: str) -> str:
        """`name_kept` in the reader's words."""
        return kept

    @classmethod
    def terminal_states(cls) -> frozenset[str]:
        """Those that its policy names, and those from which no move leads away."""
        return cls.policy.terminal | {str(state) for state, after in cls.transitions.items() if not after}

    @classmethod
    def content_fields(cls) -> tuple[str, ...]:
        """The fields that people compare: all but the bookkeeping."""
        return tuple(field.name for field in cls._meta.concrete_fields if field.name not in BOOKKEEPING)


class ChildModel(Stamped):
    """A row inside a subject. `subject_field` names the relation, `aspect` what a change of it touches."""

    subject_version = models.BigIntegerField(_("version"), editable=False, default=0)

    subject_field: ClassVar[str]
    aspect: ClassVar[str]

    class Meta:
        abstract = True

    @classmethod
    def content_fields(cls) -> tuple[str, ...]:
        skip = BOOKKEEPING | {cls.subject_field}
        return tuple(field.name for field in cls._meta.concrete_fields if field.name not in skip)
