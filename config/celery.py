"""The task queue: a doorbell, never the truth.

A message carries a kind and a key; due times, attempts and cancellations are rows. Losing every message delays work and
loses none: the sweep over rows finds it again. Next in the flow: `agents/tasks.py`.
"""

import os

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings  # noqa: E402  (needs the variable above)

from config import embedded  # noqa: E402

# A message is given to someone else if its worker has not acknowledged it for this long: well above the time limit.
VISIBILITY = 900
TRANSPORT = {
    "visibility_timeout": VISIBILITY,
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,
    "socket_timeout": 15,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "retry_on_timeout": False,
}

app = Celery("vigente")
app.conf.update(
    broker_url=embedded.broker_url(settings.REDIS_URL),
    broker_connection_retry_on_startup=True,
    broker_transport_options=TRANSPORT,
    result_backend_transport_options=TRANSPORT,
    visibility_timeout=VISIBILITY,
)
app.autodiscover_tasks(["agents", "crm"])
