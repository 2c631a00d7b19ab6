"""What moved in many subjects since each was read, and who moved it: for pages of suggestions, in four queries.

The gate asks the same of one subject with all its values (conflicts/history.py); here it is only told who touched what.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from itertools import groupby, pairwise
from operator import or_
from typing import NamedTuple

from django.db.models import F, Q, Value

from conflicts.actors import Actor
from conflicts.history import children_of, events_of
from conflicts.models import VersionedModel
from conflicts.proposals import Read
from conflicts.refs import Ref


class Moved(NamedTuple):
    version: int
    aspect: str
    by: str
    """The text form of an Actor."""

    @property
    def actor(self) -> Actor:
        return Actor.parse(self.by)


def since(reads: Iterable[Read]) -> dict[Ref, tuple[Moved, ...]]:
    """For each subject: every field or child aspect that was written after the version read, oldest first."""
    found: dict[Ref, list[Moved]] = defaultdict(list)
    ordered = sorted(reads, key=lambda read: read.subject)
    for label, group in groupby(ordered, key=lambda read: read.subject.label):
        read_at = {read.subject.pk: read.version for read in group}
        model = Ref(label, 0).model
        for pk, moved in (*_fields(model, read_at), *_children(model, read_at)):
            found[Ref(label, pk)].append(moved)
    return {ref: tuple(sorted(moved)) for ref, moved in found.items()}


def _newer(read_at: dict[int, int], *, subject: str, version: str) -> Q:
    return reduce(or_, (Q(**{subject: pk, version: number}) for pk, number in read_at.items()))


def _fields(model: type[VersionedModel], read_at: dict[int, int]) -> Iterable[tuple[int, Moved]]:
    rows = (
        events_of(model)
        ._default_manager.filter(_newer(read_at, subject="pgh_obj_id", version="version__gte"))
        .order_by("pgh_obj_id", "version")
    )
    names = [(name, model._meta.get_field(name).attname) for name in model.content_fields()]  # type: ignore[union-attr]
    for before, after in pairwise(rows):
        if before.pgh_obj_id != after.pgh_obj_id:  # type: ignore[attr-defined]
            continue
        for name, attname in names:
            if getattr(before, attname) != getattr(after, attname):
                yield after.pgh_obj_id, Moved(after.version, name, after.changed_by)  # type: ignore[attr-defined]


def _children(model: type[VersionedModel], read_at: dict[int, int]) -> Iterable[tuple[int, Moved]]:
    parts = [
        events_of(child)
        ._default_manager.filter(_newer(read_at, subject=f"{child.subject_field}_id", version="subject_version__gt"))
        .order_by()
        .values_list(F(f"{child.subject_field}_id"), "subject_version", Value(child.aspect), "changed_by")
        for child in children_of(model)
    ]
    if parts:
        rows = parts[0].union(*parts[1:]) if len(parts) > 1 else parts[0].distinct()
        for pk, version, aspect, by in rows:
            yield pk, Moved(version, aspect, by)
