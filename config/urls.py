"""Which path leads where; each room keeps its own list. Next in the flow: `crm/urls/`."""

from django.contrib import admin
from django.urls import include, path
from django.views.decorators.http import require_safe

from conflicts.admin import policies

urlpatterns = [
    path("admin/policies/", require_safe(admin.site.admin_view(policies.page)), name="policies"),
    path("admin/", admin.site.urls),
    path("", include("crm.urls")),
    path("", include("agents.urls")),
]

handler400 = "crm.views.errors.bad_request"
handler403 = "crm.views.errors.forbidden"
handler404 = "crm.views.errors.not_found"
handler500 = "crm.views.errors.server_error"
