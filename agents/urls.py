"""URLs: suggestions."""

from django.urls import path

from agents import views

urlpatterns = [
    path("suggestions/", views.suggestions, name="suggestions"),
    path("suggestions/approve/", views.approve_many, name="suggestions_approve"),
    path("suggestions/<int:pk>/", views.suggestion, name="suggestion"),
    path("suggestions/<int:pk>/approve/", views.approve, name="suggestion_approve"),
    path("suggestions/<int:pk>/decline/", views.decline, name="suggestion_decline"),
    path("suggestions/<int:pk>/snooze/", views.snooze, name="suggestion_snooze"),
    path("suggestions/<int:pk>/edit/", views.edit, name="suggestion_edit"),
    path("suggestions/<int:pk>/ask-again/", views.ask_again, name="suggestion_ask_again"),
]
