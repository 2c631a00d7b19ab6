"""What the pages of a company and of a contact share: facts that are edited in place, and what comes back after.

Guarantees that a form keeps the version of the first time it was shown (a save beside it renews the page around it,
never the form), that a clash goes to the settle page, and that without JavaScript the same addresses show the same
forms (`?edit=sector`, `?edit=all`, `?before=12`). Next in the flow: `crm/views/companies.py`, `crm/views/contacts.py`.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from conflicts.models import VersionedModel
from conflicts.refs import Ref
from conflicts.values import read
from crm import inputs, presence
from crm.models import Opportunity, User
from crm.showing import Shower
from crm.timeline import Entry
from crm.views.records_history import news, story
from crm.views.settle import settle_or, typed_before
from crm.views.submit import submit, version_of

DEALS = 20
"""Of a record that has more, the board shows the rest."""

FRESH = dt.timedelta(minutes=10)

type Faults = dict[str, list[str]]
type Tidy = Callable[[dict[str, Any], Faults, VersionedModel], None]

_HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?(/\S*)?")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One line of the facts: what it says, or the open form."""

    name: str
    label: str
    text: str = ""
    form: tuple[inputs.Input, ...] = ()
    fresh: Entry | None = None
    """The entry by which somebody else changed it a moment ago."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A form that comes back: which fact, what was typed, what is wrong with it, and the version it was shown with."""

    edit: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, list[str]] = field(default_factory=dict)
    version: int | None = None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How one kind of record is shown and edited."""

    template: str
    action: str
    facts: Mapping[str, tuple[str, ...]]
    """Fact -> the fields that are edited together."""
    find: Callable[[int], Any]
    """The record with its relations, in force. Raises Http404."""
    context: Callable[[HttpRequest, Any], dict[str, Any]]
    """What the page shows beside the facts and the story."""
    address: Callable[[Any], str]
    tidy: Tidy = lambda params, faults, subject: None
    """Checks and completes what was typed."""
    prepare: Callable[[list[inputs.Input]], None] = lambda found: None
    """Gives inputs what only this kind knows (options, help)."""

    @property
    def editable(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for names in self.facts.values() for name in names))


def show(request: HttpRequest, kind: Kind, subject: VersionedModel) -> HttpResponse:
    """The page; for htmx one line of the facts (`edit`, `fact`) or the older part of the story (`before`)."""
    edit = request.GET.get("edit", "")
    doing = edit if edit == "all" or edit in kind.facts else ""
    presence.enter(Ref.of(subject), user=request.user, doing=doing)
    if request.htmx:  # type: ignore[attr-defined]
        name = edit or request.GET.get("fact", "")
        if name in kind.facts:
            [fact] = facts(kind, subject, [name], draft=Draft(edit=edit))
            return _own_form(
                TemplateResponse(request, "records/_facts.html#fact", _about(kind, subject) | {"fact": fact})
            )
        if "before" in request.GET:
            return _own_form(TemplateResponse(request, "records/_story.html#older", whole(request, kind, subject)))
    draft = Draft(edit=doing, typed=typed_before(request, subject))
    return _own_form(TemplateResponse(request, kind.template, whole(request, kind, subject, draft=draft)))


def parts(request: HttpRequest, kind: Kind, subject: VersionedModel) -> HttpResponse:
    """All that is only read, as it is now; with `since`, a sentence on what others changed after that version."""
    context = {**whole(request, kind, subject), "oob": True}
    since = number(request, "since")
    if since and since < subject.version:
        editing = [name for name in request.GET.get("editing", "").split(",") if name in kind.facts]
        context["news"] = news(subject, since=since, viewer=request.user, editing=editing)  # type: ignore[arg-type]
    return TemplateResponse(request, f"{kind.template}#parts", context)


def edit(request: HttpRequest, kind: Kind, subject: VersionedModel) -> HttpResponse:
    """A posted form of facts; `fact` says which one (`all`: the whole form)."""
    name = request.POST.get("fact", "")
    if name != "all" and name not in kind.facts:
        raise Http404
    shown = version_of(request)
    fields = kind.editable if name == "all" else kind.facts[name]
    params, faults = inputs.read(request.POST, fields, model=type(subject), subject=subject)
    kind.tidy(params, faults, subject)
    if faults:
        return _returned(request, kind, subject, name, faults, shown=shown)
    submission = submit(request, action=kind.action, params=params, subject=subject)
    if submission.errors:
        return _returned(request, kind, subject, name, submission.errors, shown=shown)
    answer = settle_or(
        request, submission, subject=subject, action=kind.action, params=params, done_url=kind.address(subject)
    )
    return answer or renewed(request, kind, subject)


def renewed(request: HttpRequest, kind: Kind, subject: VersionedModel) -> HttpResponse:
    """After a form was done: the parts with the new version for htmx, else the page."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(kind.address(subject))
    context = {**whole(request, kind, kind.find(subject.pk)), "oob": True}
    return TemplateResponse(request, f"{kind.template}#parts", context)


def _about(kind: Kind, subject: VersionedModel) -> dict[str, Any]:
    """What every part of the page needs."""
    address = kind.address(subject)
    return {
        "record": subject,
        "address": address,
        "model": subject._meta.label_lower,
    }


def _returned(
    request: HttpRequest,
    kind: Kind,
    subject: VersionedModel,
    name: str,
    faults: Mapping[str, list[str]],
    *,
    shown: int,
) -> HttpResponse:
    """The form with its faults, everything typed still there, on the version it was first shown with."""
    typed = {key: request.POST[key] for key in kind.editable if key in request.POST}
    draft = Draft(edit=name, typed=typed, faults=faults, version=shown)
    if request.htmx and name != "all":  # type: ignore[attr-defined]
        [fact] = facts(kind, subject, [name], draft=draft)
        found = {"fact": fact, "draft": draft, "oob": True}
        return TemplateResponse(request, "records/_facts.html#fact", _about(kind, subject) | found, status=422)
    return TemplateResponse(request, kind.template, whole(request, kind, subject, draft=draft), status=422)


def whole(request: HttpRequest, kind: Kind, subject: VersionedModel, *, draft: Draft | None = None) -> dict[str, Any]:
    draft = draft or Draft()
    form = None
    if draft.edit == "all" or (draft.typed and not draft.edit):
        form = _inputs(kind, subject, kind.editable, draft)
    before, down_to = number(request, "before"), number(request, "down_to")
    related = tuple(getattr(subject, name, None) for name in ("owner", "parent", "company"))
    told = story(subject, before=before, down_to=down_to, known=related)
    return {
        **_about(kind, subject),
        "facts": facts(kind, subject, list(kind.facts), draft=draft, fresh=told.fresh, viewer=request.user),
        "form": form,
        "draft": draft,
        "story": told,
        "older": before is not None,
        "here": presence.others(Ref.of(subject), user=request.user),
        **kind.context(request, subject),
    }


def facts(
    kind: Kind,
    subject: VersionedModel,
    names: list[str],
    *,
    draft: Draft,
    fresh: Mapping[str, Entry] | None = None,
    viewer: Any = None,
) -> list[Fact]:
    shower = Shower(type(subject), currency=getattr(subject, "currency", ""))
    shower.knows(*(getattr(subject, name, None) for name in ("owner", "parent", "company")))
    values = read(subject, names)
    return [
        Fact(
            name=name,
            label=str(subject._meta.get_field(name).verbose_name),  # type: ignore[union-attr]
            text=shower.text(name, values[name]),
            form=tuple(_inputs(kind, subject, kind.facts[name], draft)) if draft.edit == name else (),
            fresh=_if_news((fresh or {}).get(name), viewer),
        )
        for name in names
    ]


def _if_news(entry: Entry | None, viewer: Any) -> Entry | None:
    """Somebody else changed it a moment ago."""
    if entry is None or entry.version == 1 or timezone.now() - entry.at > FRESH:
        return None
    return None if entry.by.is_person and entry.by.key == str(viewer.pk) else entry


def _inputs(kind: Kind, subject: VersionedModel, names: tuple[str, ...], draft: Draft) -> list[inputs.Input]:
    found = inputs.build(subject, names, typed=draft.typed, faults=draft.faults)
    kind.prepare(found)
    return found


def number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def deals_of(user: User, **about: Any) -> tuple[list[Opportunity], bool]:
    """The record's deals that the viewer may see, open ones first; and whether there are more."""
    rows: QuerySet[Opportunity] = Opportunity.objects.visible_to(user).filter(**about)
    found = list(rows.select_related("stage", "owner", "company").order_by("closed_on", "-changed_at")[: DEALS + 1])
    found.sort(key=lambda deal: (not deal.is_open, -(deal.closed_on.toordinal() if deal.closed_on else 0)))
    return found[:DEALS], len(found) > DEALS


def web_address(text: str) -> str:
    """Where a website's text leads; empty for what is no web address, least of all a script."""
    if text.lower().startswith(("http://", "https://")):
        return text
    return f"https://{text}" if _HOST.fullmatch(text) else ""


def _own_form(response: TemplateResponse) -> HttpResponse:
    """One address, two forms: going back must not show the part for the page."""
    patch_vary_headers(response, ["HX-Request"])
    return response
