"""URLs: django-anymail's webhooks, only where a secret is set: nobody signs in there, the secret is the proof.

Guarantees that a customer's mail with its attachments is taken as large as `manage.py receive_email` takes it, from
whoever has the secret and from nobody else: Django's own limit is for forms, and a service does not ask for ever.
"""

import base64
import hmac
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from anymail.urls import urlpatterns as webhooks
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from crm.channels.mail import LARGEST


def open_to_services(patterns: Sequence[Any]) -> list[Any]:
    for pattern in patterns:
        pattern.callback = login_not_required(with_attachments(pattern.callback))
    return list(patterns)


def with_attachments(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def read_first(request: HttpRequest, *args: Any, **more: Any) -> HttpResponse:
        if request.content_type == "application/json" and not hasattr(request, "_body") and _has_secret(request):
            raw = request.read(LARGEST + 1)
            if len(raw) > LARGEST:
                return HttpResponse("refused", status=413, content_type="text/plain")
            request._body = raw  # what `body` would have kept, but for its limit
        return view(request, *args, **more)

    return read_first


def _has_secret(request: HttpRequest) -> bool:
    secrets = settings.ANYMAIL["WEBHOOK_SECRET"]
    given = request.headers.get("Authorization", "").encode()
    known = [secrets] if isinstance(secrets, str) else secrets
    return any(hmac.compare_digest(b"Basic " + base64.b64encode(one.encode()), given) for one in known)


urlpatterns: list[Any] = []
if settings.ANYMAIL.get("WEBHOOK_SECRET"):
    urlpatterns = [path("anymail/", include((open_to_services(webhooks), "anymail")))]
