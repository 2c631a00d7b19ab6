"""Many records at once: one owner for all, a tag more, a tag less. Each is a wish of its own, on the version it shows.

Guarantees that a bulk change is as careful as a single one: a record that somebody changed since the list was read is
merged where its policy allows, else set aside with its conflict record, and the rest goes ahead. Nothing is read anew
in between: what was on the screen is what the change is made on. Next in the flow: `crm/views/bulk.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from conflicts import gate
from conflicts.actors import Actor
from conflicts.history import events_of
from conflicts.models import VersionedModel
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref

AT_ONCE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What is asked of each; what is empty is left as it is."""

    owner: int | None = None
    nobody: bool = False
    """Takes the owner out."""
    add_tag: str = ""
    drop_tag: str = ""

    def __bool__(self) -> bool:
        return bool(self.owner or self.nobody or self.add_tag or self.drop_tag)

    def params(self, tags: Sequence[str]) -> dict[str, Any]:
        """For a record that showed these tags."""
        found: dict[str, Any] = {}
        if self.owner or self.nobody:
            found["owner"] = self.owner
        wanted = [tag for tag in tags if tag != self.drop_tag]
        if self.add_tag and self.add_tag not in wanted:
            wanted.append(self.add_tag)
        if wanted != list(tags):
            found["tags"] = wanted
        return found


@dataclass(kw_only=True)
class Report:
    done: list[tuple[VersionedModel, Outcome]] = field(default_factory=list)
    same: list[VersionedModel] = field(default_factory=list)
    """It was so already, or there was nothing to do."""
    aside: list[tuple[VersionedModel, Outcome]] = field(default_factory=list)
    gone: int = 0


def change_all(
    model: type[VersionedModel], action: str, picked: Mapping[int, int], change: Change, *, by: Actor, key: str
) -> Report:
    """`picked`: the records that were ticked, each with the version it was shown at. Raises BadParams."""
    rows: dict[int, Any] = {row.pk: row for row in model._default_manager.filter(pk__in=picked)}
    tags = _tags_then(model, {pk: version for pk, version in picked.items() if pk in rows})
    report = Report(gone=len(picked) - len(rows))
    asked: list[tuple[Any, Proposal]] = []
    for pk, row in sorted(rows.items()):
        params = change.params(tags.get(pk, row.tags))
        if not params:
            report.same.append(row)
            continue
        wish = Proposal(
            action=action,
            by=by,
            params=params,
            basis=(Read(subject=Ref.of(row), version=picked[pk]),),
            key=f"{key}:{pk}" if key else "",
            source="bulk",
        )
        asked.append((row, wish))
    for (row, _wish), outcome in zip(asked, gate.commit_many([wish for _row, wish in asked]), strict=True):
        answer = outcome.settled
        if answer.unchanged or answer.result is Result.SUPERSEDED:
            report.same.append(row)
        elif outcome.done:
            report.done.append((row, answer))
        else:
            report.aside.append((row, answer))
    return report


def _tags_then(model: type[VersionedModel], picked: Mapping[int, int]) -> dict[int, list[str]]:
    """The tags as each record showed them, in one query."""
    if not picked:
        return {}
    asked = reduce(or_, (Q(pgh_obj_id=pk, version=version) for pk, version in picked.items()))
    return dict(events_of(model)._default_manager.filter(asked).values_list("pgh_obj_id", "tags"))
