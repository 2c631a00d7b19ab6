"""Saved views: a list as one person likes to see it, kept under a name and shown beside every page.

They belong to that person alone, so they are no subjects and need no version. Next: `crm/slots.py` (`nav.saved`).
"""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crm import naming, slots
from crm.actions.fields import clean_line
from crm.models import SavedView

PAGES = ("board", "companies", "contacts")
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters that are shown as nothing."""
MOST = 40
"""Of one person; a column of more is no help."""


@slots.fill("nav.saved")
def beside_every_page(request: HttpRequest) -> list[dict[str, Any]]:
    if not request.user.is_authenticated:
        return []
    return [{"label": view.name, "url": address(view)} for view in SavedView.objects.filter(user=request.user)]


def address(view: SavedView) -> str:
    return f"{reverse(view.page)}?{view.query}" if view.query else reverse(view.page)


def of_page(request: HttpRequest, page: str, *, query: str) -> dict[str, Any]:
    """For the list itself: its views, and the one that is shown right now."""
    views = list(SavedView.objects.filter(user=request.user, page=page))  # type: ignore[misc]
    current = next((view for view in views if view.query == query), None)
    return {"views": [(view, address(view)) for view in views], "current_view": current}


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """`page`, `query` (as in the address bar) and `name`. The same name again replaces what it meant."""
    page, name = request.POST.get("page", ""), str(clean_line(request.POST.get("name", "")))
    if page not in PAGES:
        raise Http404
    query = _tidy(request.POST.get("query", ""))
    back = f"{reverse(page)}?{query}" if query else reverse(page)
    if not naming.key(name).strip(FILLERS) or len(name) > 80 or len(query) > 1000:
        messages.warning(
            request, _("A view needs a name of at most 80 characters, with a letter or digit. It was not saved.")
        )
        return redirect(back)
    mine = SavedView.objects.filter(user=request.user)  # type: ignore[misc]
    if mine.count() >= MOST and not mine.filter(page=page, name=name).exists():
        messages.warning(request, _("There are %(n)d views already. Delete one to save another.") % {"n": MOST})
        return redirect(back)
    SavedView.objects.update_or_create(user=request.user, page=page, name=name, defaults={"query": query})  # type: ignore[misc]
    messages.success(request, _("The view “%(name)s” stands beside every page now.") % {"name": name})
    return redirect(back)


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    view = SavedView.objects.filter(pk=pk, user=request.user).first()  # type: ignore[misc]
    if view is None:
        raise Http404
    back = address(view)
    view.delete()
    messages.info(request, _("The view “%(name)s” is gone; the list is not.") % {"name": view.name})
    return redirect(back)


def _tidy(query: str) -> str:
    """Without empty parts, and without the place where a page began."""
    pairs = parse_qsl(QueryDict(query).urlencode())
    return urlencode([(name, value) for name, value in pairs if name != "after"])
