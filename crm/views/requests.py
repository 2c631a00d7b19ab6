"""Request: what a view gets, as the middleware leaves it: of a signed-in person, and asked by htmx or not."""

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from crm.models import User


class Request(HttpRequest):
    user: "User"  # LoginRequiredMiddleware lets nobody else through
    htmx: "HtmxDetails"
