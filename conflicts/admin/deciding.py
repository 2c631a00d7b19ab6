"""WorkAdmin: what the kernel is busy with, to be looked at; and the few decisions that are left to a person.

Guarantees that a decision is about what its page showed: the form carries a mark of it, which is compared with the row,
locked, in the transaction of the decision; whoever comes second is told and nothing is done. Decisions are POSTs of
those who may decide; anybody else who is signed in meets a 403. Subclassed and registered by the app that knows teams.
Next in the flow: `templates/admin/vigente/work.html`.
"""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from conflicts import actors, waiting
from conflicts.actors import Actor
from conflicts.admin.read_only import ReadOnlyAdmin
from conflicts.admin.words import NOTHING
from conflicts.models import Conflict
from conflicts.resolutions import RESOLUTIONS

SHOWN = 50
"""Events on one page, newest first."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What became of a decision: done, or the words and the status that say why not."""

    words: str
    status: int = 200

    @property
    def done(self) -> bool:
        return self.status == 200


@dataclass(frozen=True, kw_only=True)
class Told:
    """One line of what happened to the work."""

    mark: str
    what: str
    by: Actor
    at: dt.datetime
    detail: str = ""
    url: str = ""


class Reason(forms.Form):
    """Why, in a person's words."""

    why = forms.CharField(max_length=200, label=_("Why"), widget=forms.Textarea(attrs={"rows": 3}))


class WorkAdmin(ReadOnlyAdmin):
    template = "admin/vigente/work.html"

    def may_decide(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def about(self, obj: Any) -> dict[str, Any]:
        """What the page says: headline, state, tone, facts, payload, told, records."""
        raise NotImplementedError

    def decide(self, request: HttpRequest, obj: Any, *, by: Actor) -> Answer:
        """In a transaction of its own, which it may end by nothing but its answer."""
        raise NotImplementedError

    def ask(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """The page before the decision, where there is one."""
        return HttpResponseNotAllowed(["POST"])

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_decide"
        return [path("<path:object_id>/decide/", self._deciding, name=name), *super().get_urls()]

    def url_of(self, page: str, obj: models.Model) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=[obj.pk])

    def found(self, request: HttpRequest, object_id: str) -> Any:
        obj = self.get_object(request, object_id)
        if obj is None:
            raise Http404
        if not self.has_view_permission(request, obj):
            raise PermissionDenied
        return obj

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of one piece of work. A POST meets a 403: there is nothing to save here."""
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        return self.shown(request, object_id)

    def shown(self, request: HttpRequest, object_id: str, *, stood: str = "", status: int = 200) -> HttpResponse:
        obj = self.found(request, object_id)
        return TemplateResponse(
            request,
            self.template,
            {**self.context(request, obj), **self.about(obj), "stood": stood},
            status=status,
        )

    def context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": str(obj),
            "opts": self.opts,
            "original": obj,
            "may_decide": self.may_decide(request),
            "decide_url": self.url_of("decide", obj),
            "page_url": self.url_of("change", obj),
        }

    def _deciding(self, request: HttpRequest, object_id: str) -> HttpResponse:
        if request.user.is_authenticated and not self.may_decide(request):
            raise PermissionDenied
        answer: HttpResponse = self.admin_site.admin_view(self._decide)(request, object_id)
        return answer

    def _decide(self, request: HttpRequest, object_id: str) -> HttpResponse:
        obj = self.found(request, object_id)
        if request.method != "POST":
            return self.ask(request, obj)
        if not request.POST.get("seen"):
            stood = _t("This form does not say what it was made for. Open the page again.")
            return self.shown(request, object_id, stood=stood, status=428)
        with transaction.atomic():
            answer = self.decide(request, obj, by=actors.person(request.user))
        if answer.done:
            messages.success(request, answer.words)
            return HttpResponseRedirect(self.url_of("change", obj))
        return self.shown(request, object_id, stood=answer.words, status=answer.status)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        raise Http404  # its events stand on its page


def moment(at: dt.datetime | None) -> str:
    """To the second: a claim lasts a few."""
    if at is None:
        return NOTHING
    local = timezone.localtime(at)
    return f"{date_format(local, 'SHORT_DATE_FORMAT')} {date_format(local, 'H:i:s')}"


def label(model: type[models.Model], name: str) -> str:
    return str(model._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def facts(obj: models.Model, *names: str) -> list[tuple[str, Any]]:
    """Fields as they are, under the names they have."""
    found = []
    for name in names:
        value = getattr(obj, name)
        if isinstance(value, dt.datetime):
            value = moment(value)
        found.append((label(type(obj), name), NOTHING if value in (None, "") else value))
    return found


def subject_link(text: str) -> Any:
    """The record that the work is about, by its name, where it is there and has a page."""
    ref, row = waiting.subject_of(text)
    if ref is None or row is None:
        return text or NOTHING
    try:
        url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    except NoReverseMatch:
        return f"{row} ({text})"
    return format_html('<a class="v-link" href="{}">{}</a>', url, row)


def link(model: type[models.Model], text: object, **which: Any) -> Any:
    """`text`, leading to the page of that row if there is one."""
    key = model._default_manager.filter(**which).values_list("pk", flat=True).first()
    if key is None:
        return str(text)
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[key])
    return format_html('<a class="v-link" href="{}">{}</a>', url, text)


def as_text(payload: Any) -> str:
    return json.dumps(payload, ensure_ascii=False, indent=2, sort_keys=True) if payload else ""


def records_of(key: str, action: str) -> list[Told]:
    """The conflict records that this work has left in the review queue, and how a person settled each."""
    found = []
    for record in Conflict.objects.filter(key=key, action=action).order_by("-id")[:SHOWN]:
        open_ = record.closed_at is None
        found.append(
            Told(
                mark=_t("waits") if open_ else _t("settled"),
                what=str(record.told),
                by=Actor.parse(record.actor if open_ else record.closed_by),
                at=record.opened_at if open_ else record.closed_at or record.opened_at,
                detail="" if open_ else str(RESOLUTIONS.get(record.resolution, record.resolution)),
                url=reverse("admin:conflicts_conflict_change", args=[record.pk]),
            )
        )
    return found
