"""The admin's content security policy, wider than the one of the pages, and only under the admin's path.

Unfold's Alpine is the build that evaluates expressions from attributes (`unsafe-eval`), and its widgets set styles in
attributes. The pages proper hold under SECURE_CSP in `config/settings.py` without either.
Stands in MIDDLEWARE right after `ContentSecurityPolicyMiddleware`, which writes the header.
"""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.csp import CSP
from django.utils.decorators import sync_and_async_middleware
from django.views.decorators.csp import csp_override

WIDER: dict[str, list[str]] = {
    "script-src": [CSP.SELF, CSP.UNSAFE_EVAL],
    "style-src": [CSP.SELF, CSP.UNSAFE_INLINE],
}


@sync_and_async_middleware
def admin_policy(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    policy: dict[str, Any] = {**settings.SECURE_CSP, **WIDER}
    wider = csp_override(policy)(get_response)

    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            answer: Awaitable[HttpResponseBase] = (wider if under_admin(request) else get_response)(request)
            return await answer

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = (wider if under_admin(request) else get_response)(request)
        return response

    return answer


def under_admin(request: HttpRequest) -> bool:
    return request.path.startswith(reverse("admin:index"))
