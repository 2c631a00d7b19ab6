"""Per request: the viewer's language and time zone; and the one place that maps exceptions to HTTP.

Guarantees that a request without its version is answered with 428 and one that cannot be read with 400, in words, and
that neither reaches the gate; and that a page opened by one person is not sent in the name of another. Expected ends
of a race are not exceptions: `crm/views/settle.py` shows those.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import render, resolve_url
from django.utils import timezone, translation

from conflicts.exceptions import BadParams, KernelError, MissingVersion
from crm.clock import zone_of
from crm.views import errors as pages
from crm.views.submit import BadVersion, VersionRequired

logger = logging.getLogger(__name__)

WEBHOOKS = "/webhooks/"
"""Where machines speak to us: signed, without a session."""

type Handler = Callable[[HttpRequest], HttpResponse]


def viewer(get_response: Handler) -> Handler:
    """Language: the person's own, else what the browser asks for. Zone: the person's, else the workspace's."""

    def middleware(request: HttpRequest) -> HttpResponse:
        user = request.user if request.user.is_authenticated else None
        language = (user.language if user else "") or translation.get_language_from_request(request)
        with translation.override(language), timezone.override(zone_of(user)):
            request.LANGUAGE_CODE = language
            response = get_response(request)
        response.headers.setdefault("Content-Language", language)
        return response

    return middleware


def errors(get_response: Handler) -> Handler:
    """Stands innermost, so that its answers pass through all others."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if _unreadable(request):
            return pages.page(request, 400)
        response = get_response(request)
        if getattr(request, "htmx", False) and _leads_to_sign_in(response):
            # Followed by htmx it would put the sign-in page into a corner of this one.
            told = render(request, "errors/signed_out.html", status=401)
            told["HX-Retarget"], told["HX-Reswap"] = "#toasts", "beforeend"
            return told
        if request.method == "POST" and _leads_to_sign_in(response) and "next=" in response.headers["Location"]:
            # Signed in again, the person would be led back to an address that only takes forms, without the form.
            return pages.signed_out(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            told = pages.page(request, 405)
            told["Allow"] = response["Allow"]
            return told
        return response

    middleware.process_view = _of_another  # type: ignore[attr-defined]
    middleware.process_exception = _answer  # type: ignore[attr-defined]
    return middleware


def _of_another(request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
    """A page that says whose it is (static/js/vigente.js) is not sent in the name of whoever signed in since."""
    if request.method != "POST" or not request.user.is_authenticated:
        return None
    who = request.headers.get("X-Opened-By") or request.POST.get("opened_by", "")
    match = request.resolver_match
    if not who or who == str(request.user.pk) or (match and match.url_name == "sign_out"):
        return None
    return pages.somebody_else(request)


def _answer(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    match exception:
        case VersionRequired() | MissingVersion():
            return pages.page(request, 428)
        case BadVersion() | BadRequest():
            return pages.page(request, 400)
        case BadParams():
            return pages.page(request, 422, details=[line for lines in exception.errors.values() for line in lines])
        case PermissionDenied():
            return pages.page(request, 403)
        case Http404() if not settings.DEBUG:
            return pages.page(request, 404)
        case KernelError():
            logger.error("%s %s called the kernel wrongly", request.method, request.path, exc_info=exception)
            return pages.page(request, 500)
    return None


def _unreadable(request: HttpRequest) -> bool:
    """A NUL byte: no field of ours can hold one, and PostgreSQL would answer with a crash."""
    if any("\0" in text for text in _texts(request.path_info, request.GET)):
        return True
    if request.path_info.startswith(WEBHOOKS):
        return False  # its size is looked at before its body is (crm/views/webhooks.py)
    if request.method == "POST" and request.content_type in (
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ):
        return any("\0" in text for text in _texts("", request.POST))
    return False


def _texts(path: str, query: QueryDict) -> Iterator[str]:
    yield path
    for name, values in query.lists():
        yield name
        yield from (value for value in values if isinstance(value, str))


def _leads_to_sign_in(response: Any) -> bool:
    return response.status_code == 302 and response.headers.get("Location", "").startswith(
        resolve_url(settings.LOGIN_URL)
    )
