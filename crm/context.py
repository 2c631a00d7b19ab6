"""What the frame around every page shows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def shell(request: HttpRequest) -> dict[str, Any]:
    return {"workspace": settings.VIGENTE_WORKSPACE}
