"""What the replay's workers load (`celery -A config.lab.chat.workers`): the product's tasks, at the lab's pace."""

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django
from django.apps import apps

if not apps.ready:
    django.setup()

from celery.signals import worker_ready

import config.lab.chat.naive  # noqa: F401 - its task
from config.celery import app
from config.lab.chat.pace import Pace

__all__ = ["READY", "app"]

READY = "VIGENTE_LAB_READY"
"""Names the file by which a worker says that it takes work."""

Pace.at_hand().set()


@worker_ready.connect  # type: ignore[untyped-decorator]
def say_so(**signal: Any) -> None:
    Path(os.environ[READY]).touch()
