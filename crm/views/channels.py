"""Channels and templates: by which doors customers write to us, at which pace they are answered, and with which words.

Everybody reads them; managers and administrators change them, through the gate like everything else. A clash of two
managers comes back as a choice (crm/views/settle.py).
"""

import zoneinfo
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from conflicts import actors
from conflicts.models import VersionedModel
from crm import inputs
from crm.models import ChannelAccount, MessageTemplate, Stage
from crm.permissions import permits_catalogue
from crm.views.requests import Request
from crm.views.settle import settle_or, typed_before
from crm.views.submit import fresh_key, submit, version_of

PACE = ("agent_answers", "quiet_seconds", "cap_seconds", "flush_at", "give_back_minutes")
HOURS = ("opens_at", "closes_at", "open_days", "contact_from", "contact_until", "time_zone", "language")
EDITABLE = ("name", "active", *PACE, *HOURS)
NEW = ("name", "provider", "medium", "address")
TEMPLATE = ("name", "text", "stage", "medium", "approved_as", "active")
NEW_TEMPLATE = ("slug", "language", *TEMPLATE)
LANGUAGES = (("en", "English"), ("pt-br", "Português"))

type Faults = Mapping[str, list[str]]


@require_safe
def channels(request: Request) -> HttpResponse:
    context = {
        "accounts": ChannelAccount.objects.order_by("-active", "name"),
        "templates": MessageTemplate.objects.select_related("stage").order_by("-active", "name", "language", "pk")[
            :300
        ],
        "manages": _why_not(request) is None,
    }
    return TemplateResponse(request, "inbox/channels.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def channel(request: Request, pk: int) -> HttpResponse:
    account = get_object_or_404(ChannelAccount, pk=pk)
    return _edit(request, account, EDITABLE, action="channel.edit", name="inbox_channel")


@require_http_methods(["GET", "HEAD", "POST"])
def channel_new(request: Request) -> HttpResponse:
    return _new(request, ChannelAccount(), NEW, action="channel.create")


@require_http_methods(["GET", "HEAD", "POST"])
def template(request: Request, pk: int) -> HttpResponse:
    one = get_object_or_404(MessageTemplate, pk=pk)
    return _edit(request, one, TEMPLATE, action="template.edit", name="inbox_template")


@require_http_methods(["GET", "HEAD", "POST"])
def template_new(request: Request) -> HttpResponse:
    return _new(request, MessageTemplate(language="en"), NEW_TEMPLATE, action="template.create")


# ------------------------------------------------------------------------------------------------------- both kinds


def _why_not(request: Request) -> Any:
    return permits_catalogue(actors.person(request.user), None)


def _edit(request: Request, subject: VersionedModel, names: Sequence[str], *, action: str, name: str) -> HttpResponse:
    if request.method != "POST":
        return _form(request, subject, names, typed=typed_before(request, subject))
    shown = version_of(request)
    params, faults = _read(request.POST, names, subject)
    if faults:
        return _form(request, subject, names, typed=request.POST, faults=faults, version=shown, status=422)
    submission = submit(request, action=action, params=params, subject=subject)
    if submission.errors:
        typed = request.POST
        return _form(request, subject, names, typed=typed, faults=submission.errors, version=shown, status=422)
    outcome = submission.outcome.settled if submission.outcome else None
    if outcome is not None and outcome.result == "refused":
        refused = str(outcome.sentence or "")
        return _form(request, subject, names, typed=request.POST, version=shown, refused=refused, status=422)
    done_url = reverse(name, args=[subject.pk])
    answer = settle_or(request, submission, subject=subject, action=action, params=params, done_url=done_url)
    return answer or redirect("inbox_channels")


def _new(request: Request, blank: VersionedModel, names: Sequence[str], *, action: str) -> HttpResponse:
    if (why := _why_not(request)) is not None:
        raise PermissionDenied(str(why))
    if request.method != "POST":
        return _form(request, blank, names)
    params, faults = _read(request.POST, names, blank)
    if faults:
        return _form(request, blank, names, typed=request.POST, faults=faults, status=422)
    submission = submit(request, action=action, params=params)
    if submission.outcome is None:
        return _form(request, blank, names, typed=request.POST, faults=submission.errors, status=422)
    if not submission.done:
        refused = str(submission.outcome.settled.sentence or "")
        return _form(request, blank, names, typed=request.POST, refused=refused, status=422)
    messages.success(request, _("%(name)s is added.") % {"name": params["name"]})
    return redirect("inbox_channels")


def _read(posted: Mapping[str, str], names: Iterable[str], subject: Any) -> tuple[dict[str, Any], dict[str, list[str]]]:
    plain = [name for name in names if name not in ("stage", "language")]
    params, faults = inputs.read(posted, plain, model=type(subject), subject=subject)
    zone = params.get("time_zone", "")
    if zone and zone not in zoneinfo.available_timezones():
        faults["time_zone"] = [_("There is no time zone “%(zone)s”; one is America/Sao_Paulo.") % {"zone": zone[:40]}]
    for name, options in (("stage", _stages()), ("language", LANGUAGES)):
        if name not in names or name not in posted:
            continue
        text = posted[name].strip()
        if text and text not in dict(options):
            faults[name] = [_("Choose one from the list.")]
        params[name] = (int(text) if text.isdigit() else None) if name == "stage" else text
    return {name: value for name, value in params.items() if name not in faults}, faults


def _stages() -> list[tuple[str, str]]:
    rows = Stage.objects.select_related("pipeline").order_by("pipeline", "position")
    return [(str(one.pk), one.name) for one in rows]


def _form(
    request: Request,
    subject: VersionedModel,
    names: Sequence[str],
    *,
    typed: Mapping[str, str] | None = None,
    faults: Faults | None = None,
    version: int | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    typed, faults = typed or {}, faults or {}
    fields = {name: _input(subject, name, typed, faults) for name in names}
    context = {
        "subject": subject,
        "fields": fields,
        "faults": faults,
        "refused": refused,
        "version": version or subject.version,
        "key": fresh_key() if refused or not typed else typed.get("key") or fresh_key(),
        "is_channel": isinstance(subject, ChannelAccount),
        "new": subject.pk is None,
        "manages": (why := _why_not(request)) is None,
        "why": why,
    }
    return TemplateResponse(request, "inbox/channel.html", context, status=status)


HELP = {
    "quiet_seconds": lambda: _("So long nothing new has come before the agent answers; 0 answers at once."),
    "cap_seconds": lambda: _("From the first unanswered message on, however fast somebody types."),
    "give_back_minutes": lambda: _("Counted from the last sign of the person. Empty: only by hand."),
    "open_days": lambda: _("1 is Monday, 7 is Sunday: 12345."),
    "contact_from": lambda: _("In the customer's zone. What answers a message of theirs goes out at any hour."),
    "address": lambda: _("As the provider names it: a number, its id, a mailbox, the short name of a chat."),
    "text": lambda: _("May name {contact}, {deal}, {owner}, {company}, {workspace}."),
    "approved_as": lambda: _("Only for WhatsApp: the name under which the provider has approved exactly this text."),
    "slug": lambda: _("The same one in both languages. greeting, opening-hours and status are what the agent uses."),
}


def _input(subject: Any, name: str, typed: Mapping[str, str], faults: Faults) -> inputs.Input:
    field: Any = subject._meta.get_field(name)
    if name in ("stage", "language"):
        own = str(getattr(subject, field.attname) or "")
        options = _stages() if name == "stage" else LANGUAGES
        one = inputs.Input(name=name, label=str(field.verbose_name), kind="choice", options=tuple(options))
        one.value, one.fault = typed.get(name, own), " ".join(faults.get(name, ()))
        one.required = name == "language" and isinstance(subject, MessageTemplate)
    else:
        required = () if field.blank or isinstance(field, models.BooleanField) else (name,)
        [one] = inputs.build(subject, [name], typed=typed, faults=faults, required=required)
    if one.kind == "yes" and name in typed:
        one.value = str(typed[name] in ("1", "on", "true"))
    one.help = str(HELP[name]()) if name in HELP else ""
    return one
