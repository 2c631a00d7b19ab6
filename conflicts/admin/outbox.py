"""The outbox in the admin: what was said to the world; and a person's word on what nobody else can tell.

Guarantees that a word on a message is about the doubt that was shown: the record of that doubt is compared, with the
row locked, and is what the word closes. What still waits can be taken back; whoever is too late is told where it is.
Next in the flow: `conflicts/outbox.py`.
"""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from conflicts import outbox
from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.deciding import (
    Answer,
    Reason,
    WorkAdmin,
    as_text,
    facts,
    label,
    link,
    moment,
    records_of,
    subject_link,
)
from conflicts.models import Conflict, Delivery, Job, OutboxMessage
from conflicts.outbox import Dropped

TONES: dict[str, str] = {
    Delivery.QUEUED: "",
    Delivery.SENDING: "info",
    Delivery.SENT: "success",
    Delivery.FAILED: "warning",
    Delivery.OUTCOME_UNKNOWN: "danger",
}

WORD: dict[str, dict[str, bool]] = {
    "arrived": {"arrived": True},
    "again": {"arrived": False, "send_again": True},
    "drop": {"arrived": False},
}


class OutboxAdmin(WorkAdmin):
    template = "admin/conflicts/outboxmessage/detail.html"
    list_display = ("key", "shown_state", "destination", "subject", "attempt", "remote_id", "created")
    list_filter = ("state",)
    search_fields = ("=key", "=subject", "=destination", "=remote_id")
    search_help_text = _("A whole key, subject, destination or number")
    ordering = ("-id",)
    list_fullwidth = True

    @display(description=_("state"), ordering="state", label=TONES)
    def shown_state(self, obj: OutboxMessage) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("created"), ordering="id")
    def created(self, obj: OutboxMessage) -> str:
        return moment(obj.created_at)

    def about(self, obj: OutboxMessage) -> dict[str, Any]:
        unknown = obj.state == Delivery.OUTCOME_UNKNOWN
        queued = obj.state == Delivery.QUEUED
        last = outbox.job_of(obj)
        return {
            "headline": str(obj.why or obj.key),
            "state": obj.get_state_display(),
            "state_slug": obj.state,
            "tone": TONES[obj.state],
            "facts": [
                *facts(obj, "destination", "key"),
                (label(OutboxMessage, "subject"), subject_link(obj.subject)),
                *facts(obj, "attempt", "remote_id"),
                (label(OutboxMessage, "by"), Actor.parse(obj.by).shown),
                *facts(obj, "created_at", "sending_at", "ended_at"),
                *([(str(Job._meta.verbose_name), link(Job, last.key, pk=last.pk))] if last else []),
                *([(label(Job, "due_at"), moment(last.due_at))] if last and queued else []),
            ],
            "payload": as_text(obj.payload),
            "records": records_of(obj.key, f"send:{obj.destination}"),
            "seen": obj.conflict_id if unknown else obj.state,
            "waits": queued,
            "asked": unknown and obj.conflict_id is not None,
            "still_asking": unknown and obj.conflict_id is None,
        }

    def decide(self, request: HttpRequest, obj: OutboxMessage, *, by: Actor) -> Answer:
        if request.POST.get("do") == "take_back":
            return _take_back(request, obj, by=by)
        word = WORD.get(request.POST.get("do", ""))
        if word is None:
            return Answer(words=_t("Nothing of the kind can be decided here. Nothing was done."), status=422)
        row = OutboxMessage.objects.select_for_update().get(pk=obj.pk)
        # The doubt that was shown, not one that came after it: the message may have been sent again since.
        same = row.conflict_id is not None and str(row.conflict_id) == request.POST["seen"]
        if not same or not outbox.settle(row.key, by=by, **word):
            return Answer(words=_who_was_faster(row, request.POST["seen"]), status=409)
        return Answer(
            words={
                "arrived": _t("Noted as sent. It is not sent again."),
                "again": _t("Noted as not arrived. It is sent again."),
                "drop": _t("Noted as not sent. It stays unsent."),
            }[request.POST["do"]]
        )


def _take_back(request: HttpRequest, obj: OutboxMessage, *, by: Actor) -> Answer:
    form = Reason(request.POST)
    if not form.is_valid():
        return Answer(words=" ".join(map(str, form.errors["why"])), status=422)
    match outbox.drop(obj.key, by=by, why=form.cleaned_data["why"]):
        case Dropped.BEFORE:
            return Answer(words=_t("It is taken back and will not be sent."))
        case Dropped.SENDING:
            return Answer(words=_t("It is on its way already and cannot be taken back. Nothing was done."), status=409)
    obj.refresh_from_db()
    if obj.state == Delivery.SENT:
        return Answer(words=_t("It was sent already and cannot be taken back. Nothing was done."), status=409)
    return Answer(words=_t("It had ended already and was not sent. Nothing was done."), status=409)


def _who_was_faster(message: OutboxMessage, seen: str) -> str:
    said = {"state": message.get_state_display()}
    number = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else 0
    record = Conflict.objects.filter(pk=number, key=message.key).exclude(closed_at=None).first()
    if record is None:
        return _t("This has moved on meanwhile; its state is now: %(state)s. Nothing was done.") % said
    return _t("%(who)s was faster; its state is now: %(state)s. Nothing was done.") % {
        "who": Actor.parse(record.closed_by).shown,
        **said,
    }
