"""The app of the installation itself: commands and no model."""

from django.apps import AppConfig


class Installation(AppConfig):
    name = "config"
    verbose_name = "Installation"

    def ready(self) -> None:
        # So that a task rung from a page or a command goes to our broker, not to Celery's default one.
        from config import celery  # noqa: F401
