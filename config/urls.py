"""Which path leads where; each room keeps its own list. Next in the flow: `crm/urls.py`."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("crm.urls")),
    path("", include("agents.urls")),
]
