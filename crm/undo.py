"""Undo: take back one's own last change of a record, as a new version through the gate.

Guarantees that nothing is unwritten (the history keeps both), that only what the person wrote is set back, and that a
field which somebody changed since is left alone and said so. What cannot be taken back says why.
Next in the flow: `crm/views/undo.py`.
"""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from conflicts import actions, history
from conflicts.actors import Actor
from conflicts.models import VersionedModel
from conflicts.outcomes import Change
from conflicts.refs import Ref
from conflicts.sentences import aspect_label
from conflicts.values import Value, read
from crm.models import Company, Contact, Opportunity, Participant, Task, User
from crm.models.contact import ContactPoint


class CannotUndo(Exception):
    """Why not, in words for the person."""


@dataclass(frozen=True, kw_only=True)
class Reversal:
    """What takes the change back: an action with its params, made on the version that is to be taken back."""

    action: str
    version: int
    params: dict[str, Any]
    fields: tuple[str, ...] = field(default=())
    """The fields that are set back: whoever changed one of them since has the last word."""


LATELY = dt.timedelta(hours=1)
"""A key pressed by mistake must not take back what was done last week."""


def last_own(subject: VersionedModel, *, by: Actor, now: dt.datetime) -> int:
    """The newest version that `by` wrote, if that was lately. Raises CannotUndo."""
    events = history.events_of(type(subject))._default_manager.filter(
        pgh_obj_id=subject.pk, changed_by__startswith=f"{by.kind}:{by.key}:", changed_at__gt=now - LATELY
    )
    version = events.order_by("-version").values_list("version", flat=True).first()
    if version is None:
        raise CannotUndo(_("You have changed nothing here in the last hour that could be taken back."))
    return int(version)


WITHOUT_A_PAGE = ("opportunity.reopen_task", "opportunity.complete_task", "opportunity.reschedule_task")
"""What takes a tick or a new date back: done in a list, so the list takes it back too."""


def last_task(*, by: Actor, user: User, now: dt.datetime) -> tuple[Opportunity, int]:
    """The deal and the version of the person's very last act, if that settled or moved a task. Raises CannotUndo."""
    newest: list[tuple[dt.datetime, type[VersionedModel], int]] = []
    models: tuple[type[VersionedModel], ...] = (Opportunity, Contact, Company)
    for model in models:
        events = history.events_of(model)._default_manager.filter(
            changed_by__startswith=f"{by.kind}:{by.key}:", changed_at__gt=now - LATELY
        )
        latest = events.order_by("-changed_at", "-pgh_id").values_list("changed_at", "pgh_obj_id").first()
        if latest is not None:
            newest.append((latest[0], model, latest[1]))
    if not newest:
        raise CannotUndo(_("You have changed nothing in the last hour that could be taken back."))
    _at, model, pk = max(newest, key=lambda found: found[0])
    seen = Opportunity.objects.visible_to(user) if model is Opportunity else model._default_manager.all()
    subject: Any = seen.filter(pk=pk).first()
    if subject is None:
        raise CannotUndo(_("There is nothing of yours on this page to take back."))
    elsewhere = CannotUndo(
        _("Your last change was to “%(name)s”. Open it, and take the change back there.") % {"name": subject}
    )
    if model is not Opportunity:
        raise elsewhere
    version = last_own(subject, by=by, now=now)
    if version == 1 or reversal(subject, version, by=by).action not in WITHOUT_A_PAGE:
        raise elsewhere
    return subject, version


def reversal(subject: VersionedModel, version: int, *, by: Actor) -> Reversal:
    """How to take back what `by` wrote as `version`. Raises CannotUndo, also if somebody changed the same since."""
    ref = Ref.of(subject)
    written = [c for c in history.changes_since(ref, version - 1) if c.version == version] if version > 1 else []
    if not written:
        raise CannotUndo(_("There is nothing to take back: this is where the record begins."))
    if not all(Actor.parse(c.by).same_as(by) for c in written):
        raise CannotUndo(_("Only whoever made a change can take it back here."))
    plan = _plan(subject, version, written, by=by)
    for change in history.changes_since(ref, version):
        if change.aspect in plan.fields:
            raise _changed_since(Actor.parse(change.by), aspect_label(ref.label, change.aspect), by=by)
    return plan


def _changed_since(who: Actor, what: str, *, by: Actor) -> CannotUndo:
    if who.same_as(by):
        return CannotUndo(_("You have changed the same since: %(what)s. It stays as it is.") % {"what": what})
    return CannotUndo(
        _("%(who)s has changed the same since: %(what)s. It stays as it is.") % {"who": who.shown, "what": what}
    )


def _plan(subject: VersionedModel, version: int, written: list[Change], *, by: Actor) -> Reversal:
    aspects = {c.aspect for c in written}
    if isinstance(subject, Opportunity):
        if "stage" in aspects:
            return _back_to_stage(subject, version, written)
        if "activities" in aspects:
            raise CannotUndo(_("What was logged stays in the history; write a note that corrects it."))
        if "tasks" in aspects:
            return _task_back(subject, version, by=by)
        if "participants" in aspects:
            return _participant_back(subject, version)
    if isinstance(subject, Contact) and aspects & {"points", "consents"}:
        return _point_back(subject, version, aspects)
    return _fields_back(subject, version, written)


def _fields_back(subject: VersionedModel, version: int, written: list[Change]) -> Reversal:
    action = next(
        (a for a in actions.registered().values() if a.subject is type(subject) and a.name.endswith(".edit")), None
    )
    known = set(action.params.model_fields) if action else set()
    before = {c.aspect: c.old for c in written if c.aspect in known}
    if action is None or not before:
        raise CannotUndo(_("This change cannot be taken back; change it again instead."))
    return Reversal(action=action.name, version=version, params=before, fields=tuple(before))


def _back_to_stage(deal: Opportunity, version: int, written: list[Change]) -> Reversal:
    old = {c.aspect: c.old for c in written}
    params = {"stage": old["stage"], "reason": old.get("lost_reason") or ""}
    if isinstance(old.get("closed_on"), str):
        params["on"] = old["closed_on"]
    return Reversal(action="opportunity.move", version=version, params=params, fields=("stage", "status"))


def _task_back(deal: Opportunity, version: int, *, by: Actor) -> Reversal:
    events: Any = history.events_of(Task)._default_manager
    changed = list(events.filter(opportunity_id=deal.pk, subject_version=version))
    if len(changed) != 1:
        raise CannotUndo(_("This change cannot be taken back; change it again instead."))
    now = changed[0]
    later = events.filter(pgh_obj_id=now.pgh_obj_id, pgh_id__gt=now.pgh_id).order_by("-pgh_id").first()
    if later is not None:
        raise _changed_since(Actor.parse(later.changed_by), now.title, by=by)
    before = events.filter(pgh_obj_id=now.pgh_obj_id, pgh_id__lt=now.pgh_id).order_by("-pgh_id").first()
    task = {"task": now.pgh_obj_id}
    if before is None:
        return Reversal(action="opportunity.cancel_task", version=version, params=task)
    if before.state == "open" and now.state != "open":
        return Reversal(action="opportunity.reopen_task", version=version, params=task)
    if before.state == "done" and now.state == "open":
        return Reversal(action="opportunity.complete_task", version=version, params=task)
    if before.state == "cancelled" and now.state == "open":
        return Reversal(action="opportunity.cancel_task", version=version, params=task)
    if (before.due_on, before.due_at) != (now.due_on, now.due_at):
        params = {**task, "due_on": before.due_on, "due_at": before.due_at}
        return Reversal(action="opportunity.reschedule_task", version=version, params=params)
    if before.owner_id and before.owner_id != now.owner_id and before.claimed_by_id == now.claimed_by_id:
        params = {**task, "owner": before.owner_id}
        return Reversal(action="opportunity.reassign_task", version=version, params=params)
    raise CannotUndo(_("A task that was taken stays taken; give it to somebody else instead."))


def _participant_back(deal: Opportunity, version: int) -> Reversal:
    events: Any = history.events_of(Participant)._default_manager
    now = events.get(opportunity_id=deal.pk, subject_version=version)
    if now.removed:
        params: dict[str, Any] = {"contact": now.contact_id, "role": now.role}
        return Reversal(action="opportunity.add_participant", version=version, params=params)
    params = {"participant": now.pgh_obj_id}
    return Reversal(action="opportunity.remove_participant", version=version, params=params)


def _point_back(contact: Contact, version: int, aspects: set[str]) -> Reversal:
    if "consents" in aspects:
        raise CannotUndo(_("What a contact agreed to is never taken back; record what they say now."))
    events: Any = history.events_of(ContactPoint)._default_manager
    changed = list(events.filter(contact_id=contact.pk, subject_version=version))
    if len(changed) != 1:
        raise CannotUndo(_("This change cannot be taken back; change it again instead."))
    values: dict[str, Value] = read(changed[0], ("kind", "value", "label", "is_primary"))
    if changed[0].removed:
        return Reversal(action="contact.add_address", version=version, params=dict(values))
    params = {"point": changed[0].pgh_obj_id}
    return Reversal(action="contact.remove_address", version=version, params=params)
