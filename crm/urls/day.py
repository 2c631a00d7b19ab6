"""URLs: day."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
