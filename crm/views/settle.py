"""Settling: the calm form that comes back when two people changed the same field, and what is said after each save.

Guarantees that nothing typed is lost (what was meant is kept in the conflict record before anything is shown), that the
value in force is chosen already and stays unless the person chooses otherwise, that the decision carries the version it
was made on (a further clash comes back again), and that what fitted together is not asked about.
Used by deal, board, companies and contacts through `settle_or`. Next in the flow: `crm/views/settling.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conflicts import actions, actors, claims, gate
from conflicts.clock import ClockTimestamp
from conflicts.models import Conflict, VersionedModel
from conflicts.outcomes import Outcome, Result
from conflicts.proposals import Proposal
from conflicts.refs import Ref
from crm import inputs
from crm.overriding import OverrideReason, overridden
from crm.views import errors
from crm.views.live import visible
from crm.views.settling import Clash, is_theirs, names_of
from crm.views.submit import Submission, submit


def settle_or(
    request: HttpRequest,
    submission: Submission,
    *,
    subject: VersionedModel | None,
    action: str,
    params: Mapping[str, Any],
    done_url: str,
    said: str = "",
) -> HttpResponse | None:
    """None if it is done, and then a message says so; else the response that says why not, to be returned at once.

    Call it right after `submit` with the same subject, action and params; `done_url` is where the record is seen (a
    path of this site). `said` is what the message says ("Task completed."); what others changed meanwhile is added.
    Show `submission.errors` beside their fields before calling this; left to it, they make a plain page (422).
    A goal that somebody else reached first counts as done, and the message says who. Works for any `*.edit` action, for
    moves, and for actions without fields (those come back as a page that tells what happened and what was not done).
    "Keep editing" leads to `done_url?edit=all&typed=<record>`: fill that form with `typed_before(request, subject)`.
    `subject` is None only for a new record; what then went wrong is a plain page (409).
    """
    if submission.errors or submission.outcome is None:
        lines = [line for lines in submission.errors.values() for line in lines]
        return errors.page(request, 422, details=lines, back=done_url)
    outcome = submission.outcome.settled
    if outcome.done:
        if submission.outcome.result is not Result.DUPLICATE:
            tell(request, outcome, said=said)
        return None
    if outcome.result is Result.SUPERSEDED:
        messages.info(request, str(outcome.sentence))
        return None
    record = Conflict.objects.filter(pk=outcome.record or 0).first()
    if record is None or subject is None:
        return errors.page(request, 409, happened=str(outcome.sentence or ""), back=done_url)
    return show(request, record, subject=subject, done_url=done_url)


def tell(request: HttpRequest, outcome: Outcome, *, said: str = "") -> None:
    """The message after a save: what was done, what others had changed, and the way back (undo)."""
    if outcome.unchanged:
        messages.info(request, _("It was so already; nothing was written."))
        return
    lines = [said or _("Saved as v%(version)d.") % {"version": outcome.version}]
    if together := names_of(outcome, viewer=request.user):
        lines.append(_("Together with what changed meanwhile: %(what)s.") % {"what": together})
    messages.success(request, " ".join(lines), extra_tags=f"undo:{outcome.subject}:{outcome.version}")


def show(
    request: HttpRequest,
    record: Conflict,
    *,
    subject: VersionedModel,
    done_url: str,
    posted: Mapping[str, str] | None = None,
    faults: Mapping[str, list[str]] | None = None,
    status: int = 409,
) -> HttpResponse:
    clash = Clash(record, subject, viewer=request.user)
    context = {
        "clash": clash,
        "record": record,
        "reasons": OverrideReason.choices if clash.of_agents else (),
        "reason": (posted or {}).get("reason", ""),
        "reason_fault": " ".join((faults or {}).get("reason", ())),
        "fields": clash.fields(posted=posted or {}, faults=faults or {}),
        "done_url": done_url,
        "subject": subject,
    }
    page = "settle.html#page" if request.htmx else "settle.html"  # type: ignore[attr-defined]
    response = TemplateResponse(request, page, context, status=status)
    if request.htmx:  # type: ignore[attr-defined]
        # Beside the page, never over it: other forms on it may hold what somebody is typing.
        response["HX-Retarget"], response["HX-Reswap"] = "#settle", "innerHTML show:window:top"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def settle(request: HttpRequest) -> HttpResponse:
    """The form of a conflict that is still open, and the choice made in it; only for whose it is (`is_theirs`)."""
    record, subject = _own_record(request)
    done_url = _local(request, request.POST.get("next") or request.GET.get("next", ""))
    if record.closed_at is not None:
        messages.info(request, _("This is settled already."))
        return _finished(request, done_url)
    if request.method != "POST":
        return show(request, record, subject=subject, done_url=done_url, status=200)
    if "keep" in request.POST:
        return redirect(f"{done_url}?edit=all&typed={record.pk}")
    clash = Clash(record, subject, viewer=request.user)
    params, faults = clash.chosen(request.POST)
    overrides, reason = clash.overridden(request.POST), request.POST.get("reason", "")
    if overrides and reason not in OverrideReason.values:
        faults["reason"] = [_("Say with one click why the agent's value is not the one.")]
    if faults:
        return show(request, record, subject=subject, done_url=done_url, posted=request.POST, faults=faults, status=422)
    submission = submit(
        request,
        action=record.action,
        params=params,
        subject=subject,
        settles=record.pk,
        source=record.source,
        settle=_renewal(record),
    )
    if submission.outcome and submission.outcome.settled.unchanged:
        messages.info(request, _("What is in force stays; nothing was written."))
        return _finished(request, done_url)
    if (
        answer := settle_or(
            request, submission, subject=subject, action=record.action, params=params, done_url=done_url
        )
    ) is not None:
        return answer
    if overrides and submission.outcome and submission.outcome.settled.version:
        overridden.send(
            None,
            subject=clash.ref,
            version=submission.outcome.settled.version,
            names=overrides,
            agent=clash.of_agents[overrides[0]],
            by=actors.person(request.user),
            reason=reason,
            record=record.pk,
        )
    return _finished(request, done_url)


def typed_before(request: HttpRequest, subject: VersionedModel) -> dict[str, str]:
    """For a form opened by "Keep editing": what the person had typed, as far as it differs from what is in force."""
    text = request.GET.get("typed", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        return {}
    record = _of_the_gate(pk=int(text), subject_id=subject.pk)
    if record is None or not is_theirs(record, subject, request.user):  # type: ignore[arg-type]
        return {}
    mine = Clash(record, subject, viewer=request.user).merged
    return {
        name: inputs.as_typed(value, subject._meta.get_field(name), None)
        for name, value in mine.items()
        if name in subject.content_fields()
    }


def _own_record(request: HttpRequest) -> tuple[Conflict, VersionedModel]:
    text = request.POST.get("record") or request.GET.get("record", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Http404
    record = _of_the_gate(pk=int(text), subject_id__isnull=False)
    if record is None:
        raise Http404
    subject = visible(Ref(record.subject_model, record.subject_id), request.user)  # type: ignore[arg-type]
    if not is_theirs(record, subject, request.user):  # type: ignore[arg-type]
        raise Http404
    return record, subject


def _of_the_gate(**which: Any) -> Conflict | None:
    """Work that failed and messages in doubt leave records too; in those there is no value to choose."""
    return Conflict.objects.filter(action__in=list(actions.registered()), **which).first()


def _renewal(record: Conflict) -> gate.Settle:
    """In the gate's transaction, where it has asked whose this is: if it clashed again, the new record carries the
    choice on, and this one has nothing left to decide. What was refused (a reviewer has it, it takes authority) and
    what a reviewer has taken still waits.
    """

    def settle(pairs: Sequence[tuple[Proposal, Outcome]]) -> None:
        [(proposal, outcome)] = pairs
        if outcome.result is not Result.CONFLICT or outcome.record in (None, record.pk):
            return
        held = claims.holder(record.pk)
        if held is None or held.by.same_as(proposal.by):
            Conflict.objects.filter(pk=record.pk, closed_at=None).update(
                closed_at=ClockTimestamp(),
                closed_by=str(proposal.by)[:200],
                resolution="clashed_again",
                revision=F("revision") + 1,
            )

    return settle


def _finished(request: HttpRequest, done_url: str) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        response = TemplateResponse(request, "_toasts.html#more", {})
        response["HX-Retarget"], response["HX-Reswap"] = "#settle", "innerHTML"
        response["HX-Trigger-After-Swap"] = "vigente:settled"  # before it, the form that htmx looks from would be gone
        return response
    return redirect(done_url)


def _local(request: HttpRequest, url: str) -> str:
    path = url.partition("?")[0]
    ours = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts={request.get_host()})
    return path if ours else resolve_url("my_day")
