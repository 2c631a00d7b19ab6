"""Jobs in the admin: what is to be done, by whom it is being done, and what became of it; retry and cancel.

Guarantees that a decision is about the state that was shown: compare-and-swap, with the row locked.
Next in the flow: `conflicts/jobs.py`.
"""

from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from conflicts import jobs, outbox
from conflicts.actors import Actor
from conflicts.admin.columns import display
from conflicts.admin.deciding import (
    SHOWN,
    Answer,
    Reason,
    Told,
    WorkAdmin,
    as_text,
    facts,
    label,
    link,
    moment,
    records_of,
    subject_link,
)
from conflicts.jobs import Cancelled
from conflicts.models import Job, JobEvent, JobState, Lease, OutboxMessage
from conflicts.models.job import JobEventKind

TONES: dict[str, str] = {
    JobState.QUEUED: "",
    JobState.RUNNING: "info",
    JobState.DONE: "success",
    JobState.FAILED: "danger",
    JobState.CANCELLED: "",
    JobState.REVIEW: "danger",
}


class JobAdmin(WorkAdmin):
    template = "admin/conflicts/job/detail.html"
    list_display = ("key", "shown_state", "kind", "subject", "attempts", "due", "error", "claim")
    list_filter = ("state",)
    search_fields = ("=key", "=subject", "=kind")
    search_help_text = _("A whole key, subject or kind")
    ordering = ("-id",)
    list_fullwidth = True

    @display(description=_("state"), ordering="state", label=TONES)
    def shown_state(self, obj: Job) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @display(description=_("due"), ordering="due_at")
    def due(self, obj: Job) -> str:
        return moment(obj.due_at)

    @display(description=_("claim"))
    def claim(self, obj: Job) -> str:
        return f"#{obj.fence}" if obj.fence is not None else "–"

    def about(self, obj: Job) -> dict[str, Any]:
        message = str(obj.payload.get("message", "")) if obj.kind == outbox.DELIVER else ""
        claim = link(Lease, self.claim(obj), key=obj.lane) if obj.fence is not None else self.claim(obj)
        return {
            "headline": obj.error or obj.key,
            "state": obj.get_state_display(),
            "state_slug": obj.state,
            "tone": TONES[obj.state],
            "facts": [
                *facts(obj, "kind", "key"),
                *(
                    [(str(OutboxMessage._meta.verbose_name), link(OutboxMessage, message, key=message))]
                    if message
                    else []
                ),
                (label(Job, "subject"), subject_link(obj.subject)),
                *facts(obj, "sequence", "attempts", "due_at", "error"),
                (_t("claim"), format_html("{} {}", claim, f"{obj.holder[:4]}…" if obj.holder else "")),
                (label(Job, "by"), Actor.parse(obj.by).shown),
                *facts(obj, "created_at", "started_at", "finished_at"),
            ],
            "payload": as_text(obj.payload),
            "records": records_of(obj.key, f"job:{obj.kind}"),
            "told": [
                Told(
                    mark=_mark(event),
                    what=event.get_kind_display(),
                    by=Actor.parse(event.by),
                    at=event.at,
                    detail=str(event.detail.get("why") or event.detail.get("error") or ""),
                )
                for event in JobEvent.objects.filter(key=obj.key).order_by("-id")[:SHOWN]
            ],
            "seen": seen(obj),
            "may_retry": obj.state == JobState.REVIEW,
            "may_cancel": may_cancel(obj),
            "delivers": obj.kind == outbox.DELIVER,
        }

    def decide(self, request: HttpRequest, obj: Job, *, by: Actor) -> Answer:
        row = Job.objects.select_for_update().get(pk=obj.pk)
        form = Reason(request.POST)
        form.fields["why"].required = False
        if not form.is_valid():
            return Answer(words=" ".join(map(str, form.errors["why"])), status=422)
        wanted = request.POST.get("do", "")
        if request.POST["seen"] != seen(row):
            return Answer(words=_who_was_faster(row), status=409)
        if wanted == "retry" and jobs.retry(row.key, by=by):
            return Answer(words=_t("It is tried again now."))
        if wanted == "cancel" and may_cancel(row):
            why = form.cleaned_data["why"]
            if jobs.cancel(row.key, by=by, why=why) is Cancelled.BEFORE:
                return Answer(words=_t("It is cancelled and will not be done."))
        return Answer(words=_t("Nothing of the kind can be decided here. Nothing was done."), status=422)


def may_cancel(job: Job) -> bool:
    """A delivery is taken back on its message's page: here, the message would wait for ever, and nobody would know."""
    return job.state in (JobState.QUEUED, JobState.REVIEW) and job.kind != outbox.DELIVER


def seen(job: Job) -> str:
    """What the decision is about. Work in review once more has failed anew, under another claim."""
    return f"{job.state}:{job.fence}" if job.state == JobState.REVIEW else str(job.state)


def _mark(event: JobEvent) -> str:
    count = event.detail.get("attempt") or event.detail.get("attempts")
    return f"{count}×" if count else "·"


def _who_was_faster(job: Job) -> str:
    decided = JobEvent.objects.filter(key=job.key, kind__in=(JobEventKind.CANCELLED, JobEventKind.RETRIED))
    last, said = decided.order_by("-id").first(), {"state": job.get_state_display()}
    if last is None:
        return _t("This has moved on meanwhile; its state is now: %(state)s. Nothing was done.") % said
    return _t("%(who)s was faster; its state is now: %(state)s. Nothing was done.") % {
        "who": Actor.parse(last.by).shown,
        **said,
    }
