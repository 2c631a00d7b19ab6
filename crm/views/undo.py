"""Undo from a toast, the palette or the key Z: the person's last change of a record, taken back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from conflicts import actors, gate
from conflicts.exceptions import BadParams
from conflicts.models import VersionedModel
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.undo import CannotUndo, last_own, last_task, reversal
from crm.views.live import subject_of, visible
from crm.views.submit import BadVersion


@require_POST
def undo(request: HttpRequest) -> HttpResponse:
    """`subject`, and the `version` to take back; without it the person's newest one. Without a subject (a list) it is
    the tick or the new date of a task, if that was the person's last act. Says what came of it.
    """
    ref = subject_of(request.POST.get("subject", ""))
    by = actors.person(request.user)
    subject: VersionedModel
    try:
        if ref is None:
            subject, version = last_task(by=by, user=request.user, now=timezone.now())  # type: ignore[arg-type]
        else:
            subject = visible(ref, request.user)  # type: ignore[arg-type]
            version = _version(request) or last_own(subject, by=by, now=timezone.now())
        plan = reversal(subject, version, by=by)
    except CannotUndo as why:
        messages.warning(request, str(why))
        return _answer(request)
    key = request.POST.get("key", "")[:200]
    try:
        outcome = gate.commit(
            Proposal(
                action=plan.action,
                by=by,
                params=plan.params,
                basis=(Read(subject=Ref.of(subject), version=plan.version),),
                key=f"person:{by.key}:undo:{key}" if key else "",
                source="undo",
            )
        )
    except BadParams:
        messages.warning(request, _("This change cannot be taken back; change it again instead."))
        return _answer(request)
    if outcome.result is Result.DUPLICATE:
        return _answer(request)
    if outcome.done:
        said = _("Taken back: v%(old)d. Now v%(new)d.") % {"old": plan.version, "new": outcome.version}
        messages.success(request, said if ref else _("%(name)s: %(said)s") % {"name": subject, "said": said})
        if ref is None and request.htmx:  # type: ignore[attr-defined]
            # A list has no parts that renew themselves; the message is kept for the page that comes.
            return HttpResponse(headers={"HX-Refresh": "true"})
    else:
        messages.warning(request, str(outcome.sentence.told_to(by)) if outcome.sentence else "")
    return _answer(request)


def _version(request: HttpRequest) -> int | None:
    text = request.POST.get("version", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
        raise BadVersion
    return int(text)


def _answer(request: HttpRequest) -> HttpResponse:
    """Back to the page one was on; htmx gets the words, and the page brings itself up to date."""
    if request.htmx:  # type: ignore[attr-defined]
        response = TemplateResponse(request, "_toasts.html#more", {})
        response["HX-Trigger"] = "vigente:refresh"
        return response
    back = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return HttpResponseRedirect(back if ours else "/")
