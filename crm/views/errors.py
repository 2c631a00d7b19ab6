"""What a person reads when a page cannot be shown or a request cannot be carried out.

Guarantees words that a salesperson uses: what happened, what was prevented, what to do; no code, no stack trace. htmx
gets the same words as one toast, so that nothing typed on the page is lost. The middleware (crm/middleware.py) and
Django's own handlers (config/urls.py) come here.
"""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.csrf import requires_csrf_token

from conflicts import sentences
from conflicts.models import VersionedModel
from conflicts.sentences import Sentence
from crm.models import Company, Contact, Opportunity


def words(status: int) -> dict[str, str]:
    """Title, sentence and what to do, for a status."""
    known = {
        400: (
            _("This request cannot be read"),
            _("Something in it is broken or of a form nobody expects. Nothing was written."),
            _("Go back, look at what you entered, and send it again."),
        ),
        403: (
            _("This is not yours to change"),
            _("It belongs to another team, or your role does not include it. Nothing was written."),
            _("Ask your manager if you need it."),
        ),
        404: (
            _("Nothing to see at this address"),
            _("It is not there, or it belongs to a team whose deals you do not see."),
            _("Search for the name instead."),
        ),
        405: (
            _("This address only takes a form"),
            _("Nothing was written."),
            _("Go back and use the button on the page."),
        ),
        409: (
            _("Somebody was faster"),
            _("What this rested on has changed meanwhile. Nothing was written."),
            _("Open the page again and look at what changed."),
        ),
        422: (
            _("Not saved yet"),
            _("One of the values does not fit."),
            _("Go back: what you typed is still there."),
        ),
        428: (
            _("Which state was this made for?"),
            _(
                "The request does not say which version it saw, so it might write over a colleague's work. "
                "Nothing was written."
            ),
            _("Open the record and change it there."),
        ),
        500: (
            _("This did not work, and it is not your doing"),
            _(
                "The fault is in the system and has been noted. "
                "What was being saved was either written whole or not at all."
            ),
            _("Try again in a moment. If it stays, tell your administrator when it happened."),
        ),
    }
    title, happened, to_do = known.get(status, known[500 if status >= 500 else 400])
    return {"title": title, "happened": happened, "to_do": to_do}


def page(request: HttpRequest, status: int, **more: Any) -> HttpResponse:
    """The page for `status`; `more` replaces its words (`title`, `happened`, `to_do`) or adds `details`, a list."""
    context = {**words(status), **{key: value for key, value in more.items() if value}, "status": status}
    htmx = getattr(request, "htmx", None)
    if htmx:
        response = render(request, "errors/page.html#note", context, status=status)
        response["HX-Retarget"], response["HX-Reswap"] = "#toasts", "beforeend"
        return response
    user = getattr(request, "user", None)
    template = "errors/page.html" if user is not None and user.is_authenticated else "errors/plain.html"
    return render(request, template, context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Looks for no token in the form: a body that cannot be read would break this answer too, nobody would tell that
    the request is over, and its database connection would never return to the pool.
    """
    return page(request, 400)


@requires_csrf_token
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(request, 403)


@requires_csrf_token
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without the frame, and without a look into the form: whatever broke may be what these need."""
    return render(None, "errors/plain.html", {**words(500), "status": 500}, status=500)


def signed_out(request: HttpRequest) -> HttpResponse:
    """To a form that was sent after the session had ended: no way to a page that only takes forms."""
    context = {
        "title": _("Not saved yet"),
        "happened": _("You have been signed out. Nothing was written; what you typed is still here."),
        "to_do": _("Go back: what you typed is still there."),
    }
    return render(request, "errors/plain.html", {**context, "status": 401}, status=401)


def somebody_else(request: HttpRequest) -> HttpResponse:
    """To a form on a page that was opened by another person than who is signed in now."""
    return page(
        request,
        403,
        title=_("Somebody else is signed in now"),
        happened=_(
            "This page was opened under another account; you are signed in as %(name)s. "
            "Nothing was written; what you typed is still here."
        )
        % {"name": request.user},
        to_do=_("Keep what you need, then open the page again, or sign in as before."),
        details=list(_typed(request)) if not getattr(request, "htmx", False) else [],
    )


def _typed(request: HttpRequest) -> Iterator[str]:
    """What a person typed, by the names of its fields: a page that was left does not give it back by itself."""
    for name, value in request.POST.items():
        label = next((label for model in (Opportunity, Contact, Company) if (label := _label(model, name))), "")
        if not label and name != "task" and sentences.known(f"param.{name}"):
            label = str(Sentence(f"param.{name}"))
        if label and str(value).strip():
            yield _("%(what)s: %(value)s") % {"what": capfirst(label), "value": value}


def _label(model: type[VersionedModel], name: str) -> str:
    if name not in model.content_fields():
        return ""
    field = model._meta.get_field(name)
    return "" if field.is_relation else str(field.verbose_name)  # type: ignore[union-attr]


def no_csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    return page(
        request,
        403,
        title=_("This form is too old to be sent"),
        happened=_("It was opened before you signed in again, or cookies are switched off. Nothing was written."),
        to_do=_("Go back, bring the page up to date, and send it again."),
    )
