"""History: every version of every subject and child, written by the database, whoever made it.

Guarantees that what was in force at version N can be read for ever, and that "what moved since N, and who moved it" is
answered from what the database saw, not from what a client says. `tracked` is the one way to declare it.
Next in the flow: `conflicts/gate.py`, which asks it.
"""

from collections.abc import Iterator
from itertools import pairwise

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db import models

from conflicts.models.versioned import ChildModel, VersionedModel
from conflicts.outcomes import Change
from conflicts.refs import Ref
from conflicts.tracking import tracked
from conflicts.values import Value, plain, read

__all__ = ["changes_since", "children_of", "events_of", "tracked", "values_at"]


def events_of(model: type[models.Model]) -> type[models.Model]:
    """The model that keeps the versions of `model`. Raises LookupError for one that is not tracked."""
    try:
        return model._meta.get_field("events").related_model  # type: ignore[return-value]
    except FieldDoesNotExist:
        raise LookupError(f"{model._meta.label} is not tracked; decorate it with history.tracked.") from None


def children_of(model: type[VersionedModel]) -> list[type[ChildModel]]:
    """The child models whose rows belong to subjects of `model`."""
    return [
        child
        for child in apps.get_models()
        if issubclass(child, ChildModel) and child._meta.get_field(child.subject_field).related_model is model
    ]


def values_at(ref: Ref, version: int) -> dict[str, Value] | None:
    """The content of the subject as it was at `version`, in plain values; None if there was no such version."""
    event = events_of(ref.model)._default_manager.filter(pgh_obj_id=ref.pk, version=version).first()
    return read(event, ref.model.content_fields()) if event else None


def changes_since(ref: Ref, version: int) -> tuple[Change, ...]:
    """All that moved in the subject after `version`, oldest first: its fields, then the aspects of its children."""
    return (*_field_changes(ref, version), *_child_changes(ref, version))


def _field_changes(ref: Ref, version: int) -> Iterator[Change]:
    rows = events_of(ref.model)._default_manager.filter(pgh_obj_id=ref.pk, version__gte=version).order_by("version")
    for before, after in pairwise(rows):
        for name in ref.model.content_fields():
            attname = ref.model._meta.get_field(name).attname  # type: ignore[union-attr]
            old, new = getattr(before, attname), getattr(after, attname)
            if old != new:
                field = ref.model._meta.get_field(name)
                yield Change(
                    subject=ref,
                    aspect=name,
                    old=plain(old, field),  # type: ignore[arg-type]
                    new=plain(new, field),  # type: ignore[arg-type]
                    by=after.changed_by,  # type: ignore[attr-defined]
                    at=after.changed_at.isoformat(),  # type: ignore[attr-defined]
                    version=after.version,  # type: ignore[attr-defined]
                )


def _child_changes(ref: Ref, version: int) -> Iterator[Change]:
    for child in children_of(ref.model):
        rows = events_of(child)._default_manager.filter(
            **{f"{child.subject_field}_id": ref.pk, "subject_version__gt": version}
        )
        for row in rows.order_by("pgh_id"):
            yield Change(
                subject=ref,
                aspect=child.aspect,
                old=None if row.pgh_label == "insert" else row.pgh_obj_id,  # type: ignore[attr-defined]
                new=read(row, child.content_fields()),
                by=row.changed_by,  # type: ignore[attr-defined]
                at=row.changed_at.isoformat(),  # type: ignore[attr-defined]
                version=row.subject_version,  # type: ignore[attr-defined]
            )
