"""URLs: the start page and what is settled on it in place."""

from django.urls import URLPattern, path

from crm.views import my_day

urlpatterns: list[URLPattern] = [
    path("", my_day.my_day, name="my_day"),
    path("day/task/", my_day.task, name="my_day_task"),
]
