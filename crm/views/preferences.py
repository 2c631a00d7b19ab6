"""The viewer's own language, time zone and colours. An account is no subject: it is saved directly, field by field."""

import zoneinfo
from functools import cache

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from crm.models import User

THEMES = {"", "light", "dark"}
LANGUAGES = (("en", "English"), ("pt-br", "Português do Brasil"))


@cache
def zones() -> list[str]:
    """Those with a place in their name; "Etc/GMT+3" and the like help nobody."""
    return sorted(name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/"))


@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    errors: dict[str, str] = {}
    if request.method == "POST":
        user: User = request.user  # type: ignore[assignment]
        language, zone, theme = (request.POST.get(name, "").strip() for name in ("language", "time_zone", "theme"))
        if zone and zone not in zoneinfo.available_timezones():
            errors["time_zone"] = _("“%(zone)s” is not a time zone. Choose one from the list.") % {"zone": zone[:64]}
        if not errors:
            user.language = language if language in dict(LANGUAGES) else ""
            user.time_zone, user.theme = zone, theme if theme in THEMES else ""
            user.save(update_fields=["language", "time_zone", "theme"])
            with translation.override(user.language or translation.get_language()):
                messages.success(request, _("Your preferences are saved."))
            return redirect("preferences")
    context = {
        "languages": LANGUAGES,
        "zones": zones(),
        "default_zone": settings.TIME_ZONE,
        "errors": errors,
        "typed": request.POST,
    }
    return TemplateResponse(request, "preferences.html", context, status=422 if errors else 200)
