"""The outbox in the admin: what was said to the world; and a person's word on what nobody else can tell.

Guarantees that a word on a message is about the doubt that was shown: the record of that doubt is compared, with the
row locked, and is what the word closes. Next in the flow: `conflicts/outbox.py`.
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
        jobs = Job.objects.filter(key__in=[f"deliver:{number}:{obj.key}" for number in range(obj.attempt + 1)])
        last = jobs.order_by("-id").first()
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
            ],
            "payload": as_text(obj.payload),
            "records": records_of(obj.key, f"send:{obj.destination}"),
            "seen": obj.conflict_id,
            "asked": unknown and obj.conflict_id is not None,
            "still_asking": unknown and obj.conflict_id is None,
        }

    def decide(self, request: HttpRequest, obj: OutboxMessage, *, by: Actor) -> Answer:
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
