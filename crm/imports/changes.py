"""What a row would change in a record that is here already, and whether the file has anything new to say.

Guarantees that an import never acts on a state that has passed: what the file said last time and people have changed
since stays as they left it; what the file says anew and nobody has touched is written; where both have moved, the gate
gets the file's value on the version where it last held, refuses it, and leaves the choice to a person.
"Last time" is read from the history, so it holds across machines and years. A row that names the version it was
exported at needs no guess: what it says otherwise than that version is what the file means, and nothing else.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from conflicts import history
from conflicts.actors import Actor
from conflicts.models import VersionedModel
from conflicts.policies import Rule
from conflicts.values import Value, plain, read

ACTOR_KEY = "import"
"""Of the integration in whose name every import writes; `Actor.parse(...).key` finds its versions again."""


@dataclass(frozen=True, slots=True)
class Said:
    """The value that an import last gave a field, and at which version."""

    value: Value
    version: int


@dataclass(kw_only=True)
class Difference:
    """One record against one row."""

    fresh: dict[str, Any] = field(default_factory=dict)
    """Field -> value to write on the version just read."""
    kept: list[str] = field(default_factory=list)
    """Fields in which people have the last word: the file says what it said before."""
    clashing: dict[str, tuple[Any, int]] = field(default_factory=dict)
    """Field -> value, and the version at which the file's former value was in force."""


def differing(obj: VersionedModel, wanted: Mapping[str, Any], *, exact: bool = False) -> dict[str, Any]:
    """Those of `wanted` that the record does not say already. What is only ever added to may say more than the file.

    `exact`: it is known what the file was made from, so what it leaves out of a list was taken out.
    """
    current = read(obj, wanted)
    return {name: value for name, value in wanted.items() if not _says(obj, name, current[name], value, exact=exact)}


def _says(obj: VersionedModel, name: str, current: Value, value: Any, *, exact: bool) -> bool:
    wanted = plain(value, obj._meta.get_field(name))  # type: ignore[arg-type]
    if wanted == current:
        return True
    if exact or type(obj).policy.rule(name) is not Rule.APPEND:
        return False
    if isinstance(wanted, list) and isinstance(current, list):
        return set(map(str, wanted)) <= set(map(str, current))
    return isinstance(wanted, str) and isinstance(current, str) and wanted in current


def weigh(
    obj: VersionedModel, wanted: Mapping[str, Any], said: Mapping[str, Said], *, exact: bool = False
) -> Difference:
    """`wanted` differs from the record in every field; `said` is what imports gave it before, or what it was made from.

    `exact`: it was made from `said`, so a list in it is a whole list.
    """
    result = Difference()
    current = read(obj, wanted)
    for name, value in wanted.items():
        now, before = current[name], said.get(name)
        if isinstance(value, list) and isinstance(now, list) and not exact:
            # Of a list only what is new is added; what people took out stays out.
            known = before.value if before and isinstance(before.value, list) else []
            missing = [item for item in value if item not in now and item not in known]
            if missing:
                result.fresh[name] = [*now, *missing]
            else:
                result.kept.append(name)
        elif before is None or before.value == now:
            result.fresh[name] = value
        elif before.value == plain(value, obj._meta.get_field(name)):  # type: ignore[arg-type]
            result.kept.append(name)
        else:
            result.clashing[name] = (value, before.version)
    return result


def said_before(
    model: type[VersionedModel], pks: Collection[int], fields: Collection[str]
) -> dict[int, dict[str, Said]]:
    """What imports gave these fields of these records, from their history, in one query."""
    found: dict[int, dict[str, Said]] = defaultdict(dict)
    if not pks:
        return found
    names = sorted(fields)
    rows = history.events_of(model)._default_manager.filter(pgh_obj_id__in=pks).order_by("pgh_obj_id", "version")
    before: dict[str, Value] = {}
    last: int | None = None
    for row in rows.iterator(chunk_size=2000):
        values = read(row, names)
        pk: int = row.pgh_obj_id  # type: ignore[attr-defined]
        fresh = pk != last
        if Actor.parse(row.changed_by).key == ACTOR_KEY:  # type: ignore[attr-defined]
            for name in names:
                if fresh or values[name] != before[name]:
                    found[pk][name] = Said(values[name], row.version)  # type: ignore[attr-defined]
        before, last = values, pk
    return found


def said_at(
    model: type[VersionedModel], versions: Mapping[int, int], fields: Collection[str]
) -> dict[int, dict[str, Said]]:
    """The values of these fields in each record at the version named for it, in one query."""
    if not versions:
        return {}
    asked = reduce(or_, (Q(pgh_obj_id=pk, version=version) for pk, version in versions.items()))
    found: dict[int, dict[str, Said]] = {}
    for row in history.events_of(model)._default_manager.filter(asked):
        values = read(row, sorted(fields))
        found[row.pgh_obj_id] = {name: Said(value, row.version) for name, value in values.items()}  # type: ignore[attr-defined]
    return found
