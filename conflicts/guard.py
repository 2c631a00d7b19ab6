"""The guard: triggers by which the database itself refuses a write that nobody compared, whoever sends it.

Guarantees, for every table of a `VersionedModel`: an UPDATE must raise `version` by exactly one, an INSERT starts at
one, a DELETE is refused. For every `ChildModel`: a row can be written only in a transaction that has raised its
subject's version. Both stamp who, when and in which transaction; nobody can claim another's name or time.
The django-concurrency field alone does not see `update()`, `bulk_update`, upserts, raw SQL or deletes.
Next in the flow: `conflicts/history.py`.
"""

from typing import TYPE_CHECKING, Any

import pgtrigger
from django.db import connection
from django.db.models.signals import class_prepared

from conflicts.actors import Actor

if TYPE_CHECKING:
    from django.db import models

# SQLSTATEs of our own: class VG is used by nobody else, so a log can be searched for them.
STALE_WRITE = "VG001"
DELETE_REFUSED = "VG002"
ORPHAN_WRITE = "VG003"
RULE_BROKEN = "VG004"

ACTOR_SETTING = "vigente.actor"

_STAMP = f"""
    NEW.changed_by := coalesce(nullif(current_setting('{ACTOR_SETTING}', true), ''),
                               'system:' || session_user || ':' || session_user);
    NEW.changed_at := clock_timestamp();
"""

_REFUSE_DELETE = f"""
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION '% % may not be deleted: deleting is a change of state', TG_TABLE_NAME, OLD.id
            USING ERRCODE = '{DELETE_REFUSED}';
    END IF;
"""

# changed_in is the id of the whole transaction (never of a savepoint): a child's trigger compares it with its own.
_SUBJECT = f"""
    {_REFUSE_DELETE}
    IF TG_OP = 'UPDATE' AND (NEW.version IS DISTINCT FROM OLD.version + 1 OR NEW.id <> OLD.id) THEN
        RAISE EXCEPTION '% % is at version %, the write says %', TG_TABLE_NAME, OLD.id, OLD.version, NEW.version
            USING ERRCODE = '{STALE_WRITE}';
    END IF;
    IF TG_OP = 'INSERT' AND NEW.version <> 1 THEN
        RAISE EXCEPTION '% % would begin at version %: it was loaded once and is gone',
            TG_TABLE_NAME, NEW.id, NEW.version USING ERRCODE = '{STALE_WRITE}';
    END IF;
    {_STAMP}
    NEW.changed_in := pg_current_xact_id()::text::bigint;
    RETURN NEW;
"""

_CHILD = f"""
    {_REFUSE_DELETE}
    IF TG_OP = 'UPDATE' AND NEW.{{column}} IS DISTINCT FROM OLD.{{column}} THEN
        RAISE EXCEPTION '% % belongs to another subject', TG_TABLE_NAME, OLD.id USING ERRCODE = '{ORPHAN_WRITE}';
    END IF;
    SELECT s.version, s.changed_in INTO subject_version, subject_changed_in
      FROM {{table}} s WHERE s.id = NEW.{{column}};
    IF subject_changed_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN
        RAISE EXCEPTION '% of {{table}} % written without raising its version', TG_TABLE_NAME, NEW.{{column}}
            USING ERRCODE = '{ORPHAN_WRITE}';
    END IF;
    {_STAMP}
    NEW.subject_version := subject_version;
    RETURN NEW;
"""

_WRITES = pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete


class SubjectGuard(pgtrigger.Trigger):
    name = "guard"
    when = pgtrigger.Before
    operation = _WRITES
    func = _SUBJECT


class ChildGuard(pgtrigger.Trigger):
    name = "guard"
    when = pgtrigger.Before
    operation = _WRITES
    declare = [("subject_version", "bigint"), ("subject_changed_in", "bigint")]

    def __init__(self, *, subject_field: str) -> None:
        self.subject_field = subject_field
        super().__init__()

    def get_func(self, model: Any) -> str:
        field = model._meta.get_field(self.subject_field)
        return _CHILD.format(column=field.column, table=field.related_model._meta.db_table)


class RuleGuard(pgtrigger.Trigger):
    """A rule of one model's own that the database holds as well; it raises RULE_BROKEN."""


def _arm(sender: "type[models.Model]", **kwargs: Any) -> None:
    """Give each concrete model its guard as soon as it exists, so that no model can forget it."""
    from conflicts.models.versioned import ChildModel, VersionedModel

    if sender._meta.abstract or sender._meta.proxy:
        return
    guard: pgtrigger.Trigger | None = None
    if issubclass(sender, VersionedModel):
        guard = SubjectGuard()
    elif issubclass(sender, ChildModel):
        guard = ChildGuard(subject_field=sender.subject_field)
    if guard and not any(isinstance(known, SubjectGuard | ChildGuard) for known in triggers(sender)):
        sender._meta.triggers = [*triggers(sender), guard]  # type: ignore[attr-defined]
        sender._meta.original_attrs["triggers"] = sender._meta.triggers  # type: ignore[attr-defined]


def triggers(model: "type[models.Model]") -> list[pgtrigger.Trigger]:
    return list(getattr(model._meta, "triggers", []))


class_prepared.connect(_arm, dispatch_uid="conflicts.guard")


def sign(actor: Actor) -> None:
    """Name the author of all that follows in this transaction (the setting ends with it)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [ACTOR_SETTING, str(actor)])
