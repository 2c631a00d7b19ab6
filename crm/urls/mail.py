"""URLs: django-anymail's webhooks, only where a secret is set: nobody signs in there, the secret is the proof."""

from collections.abc import Sequence
from typing import Any

from anymail.urls import urlpatterns as webhooks
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path


def open_to_services(patterns: Sequence[Any]) -> list[Any]:
    for pattern in patterns:
        pattern.callback = login_not_required(pattern.callback)
    return list(patterns)


urlpatterns: list[Any] = []
if settings.ANYMAIL.get("WEBHOOK_SECRET"):
    urlpatterns = [path("anymail/", include((open_to_services(webhooks), "anymail")))]
