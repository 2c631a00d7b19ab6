"""The app that holds commands and checks of the installation itself; it has no model."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Installation"
