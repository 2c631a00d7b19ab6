"""A conflict record put together for the person who settles it: what was meant, what was found, what it means.

Guarantees that a record of any age is readable: a field, an action or a person that is gone leaves its name or a dash.
Next in the flow: `templates/admin/conflicts/conflict/detail.html`.
"""

import copy
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.utils.translation import gettext as _

from conflicts import actions, sentences
from conflicts.actors import Actor
from conflicts.admin.words import Money, Words, child_of, label
from conflicts.exceptions import UnknownAction
from conflicts.history import children_of
from conflicts.models import Conflict, VersionedModel
from conflicts.resolutions import RESOLUTIONS
from conflicts.resolving import Resolution


@dataclass(frozen=True)
class Side:
    """One field that says two things: where both began, what is in force, what was meant."""

    what: str
    base: str
    current: str
    proposed: str
    theirs: Actor | None
    at: dt.datetime | None
    version: int | None
    rule: str


@dataclass(frozen=True)
class Moved:
    """One thing that changed between the version read and the version found."""

    record: str
    what: str
    old: str
    new: str
    by: Actor
    at: dt.datetime
    version: int


@dataclass(frozen=True)
class Evidence:
    sides: list[Side]
    moved: list[Moved]
    action: str
    params: list[tuple[str, str]]
    policy_owner: str
    policy_version: int | None
    rule: str
    settled_by: str
    resolution: str


def of(record: Conflict, *, money: Money | None = None, now: Resolution | None = None) -> Evidence:
    """`now`: the record as it is today, for a conflict that waits: both sides are shown as they are to be decided."""
    model = _model(record.subject_model)
    if now is not None and now.subject is not None and record.version_read:
        # The last said first: what stands between its reading and this very moment.
        record = _brought_up_to_date(record, now)
    words = Words(money=money)
    if model:
        for difference in record.differences:
            for side in ("base", "current", "proposed"):
                words.want(model, difference["field"], difference[side])
        for name, value in record.params.items():
            words.want(model, name, value)
    for change in record.changes:
        if kind := _model(change["subject"].partition(":")[0]):
            owner = child_of(kind, change["aspect"]) or kind
            for value in (change["old"], change["new"]):
                words.want(owner, change["aspect"], value)
    policy = model.policy if model else None
    return Evidence(
        sides=[_side(words, model, record, difference) for difference in record.differences] if model else [],
        moved=[_moved(words, record, change) for change in reversed(record.changes)],
        action=_action_words(record.action),
        params=described(model, record.params, words=words) if model else [],
        policy_owner=_(policy.owner) if policy and policy.owner and record.differences else "",
        policy_version=policy.version if policy and record.differences else None,
        rule=record.rule,
        settled_by=Actor.parse(record.closed_by).shown,
        resolution=str(RESOLUTIONS.get(record.resolution, record.resolution)),
    )


def described(
    model: type[VersionedModel], params: Mapping[str, Any], *, words: Words | None = None
) -> list[tuple[str, str]]:
    """The params of an action on a subject of `model`, or fields of one, in words: what, and what it says."""
    words = words or Words()
    return [(label(model, name), _param(words, model, name, value)) for name, value in params.items()]


def _brought_up_to_date(record: Conflict, now: Resolution) -> Conflict:
    """A copy that is never saved."""
    fresh = copy.copy(record)
    fresh.version_found = now.version
    elsewhere = [change for change in record.changes if change["subject"] != str(now.ref)]
    fresh.changes = [*elsewhere, *(change.as_json() for change in now.moved)]
    if record.differences:
        fresh.differences = [
            {"field": clash.name, "base": clash.base, "current": clash.current, "proposed": clash.proposed}
            for clash in now.clashes
        ]
    return fresh


def _model(name: str) -> type[VersionedModel] | None:
    try:
        found = apps.get_model(name)
    except (LookupError, ValueError):
        return None
    return found if issubclass(found, VersionedModel) else None


def _side(words: Words, model: type[VersionedModel], record: Conflict, difference: dict[str, Any]) -> Side:
    name = difference["field"]
    last = next((c for c in reversed(record.changes) if c["aspect"] == name and _about(record, c)), None)
    return Side(
        what=label(model, name),
        base=words.text(model, name, difference["base"]),
        current=words.text(model, name, difference["current"]),
        proposed=words.text(model, name, difference["proposed"]),
        theirs=Actor.parse(last["by"]) if last else None,
        at=dt.datetime.fromisoformat(last["at"]) if last else None,
        version=last["version"] if last else None,
        rule=str(model.policy.rule(name).words),
    )


def _about(record: Conflict, change: dict[str, Any]) -> bool:
    return bool(change["subject"] == f"{record.subject_model}:{record.subject_id}")


def _moved(words: Words, record: Conflict, change: dict[str, Any]) -> Moved:
    kind = _model(change["subject"].partition(":")[0])
    child = child_of(kind, change["aspect"]) if kind else None
    if kind is None:
        what, old, new = change["aspect"], str(change["old"]), str(change["new"])
    elif child is not None:
        what = sentences.aspect_label(change["subject"].partition(":")[0], change["aspect"])
        old = words.text(child, "", None) if change["old"] is None else _("changed")
        new = words.text(child, change["aspect"], change["new"])
    else:
        what = label(kind, change["aspect"])
        old, new = (words.text(kind, change["aspect"], change[side]) for side in ("old", "new"))
    return Moved(
        record="" if _about(record, change) or kind is None else str(kind._meta.verbose_name),
        what=what,
        old=old,
        new=new,
        by=Actor.parse(change["by"]),
        at=dt.datetime.fromisoformat(change["at"]),
        version=change["version"],
    )


def _action_words(name: str) -> str:
    try:
        return str(actions.get(name).words)
    except UnknownAction:
        return name


def _param(words: Words, model: type[VersionedModel], name: str, value: Any) -> str:
    """A param that names a row of the subject (`task`) is shown as that row."""
    for child in children_of(model):
        if child._meta.model_name == name and isinstance(value, int):
            return str(child._base_manager.filter(pk=value).first() or value)
    for child in children_of(model):
        # `due_on` of "plan a task" is a field of the task, not of the deal.
        if name in child.content_fields() and name not in model.content_fields():
            return words.text(child, name, value)
    return words.text(model, name, value)
