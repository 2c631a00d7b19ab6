"""The task queue: a doorbell, never the truth.

A message carries a kind and a key; due times, attempts and cancellations are rows. Losing every message delays work and
loses none: the watch over rows finds it again. Next in the flow: `conflicts/tasks.py`, `agents/tasks.py`.
"""

import os
from typing import Any

from celery import Celery
from celery.signals import task_prerun, worker_init
from kombu import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django
from django.conf import settings  # asks for the variable above
from django.core.management.base import SystemCheckError
from django.db import close_old_connections, connections

from config import embedded
from conflicts import partitions

# How long a message may stay unacknowledged before another worker gets it. Far above a task's time, or it runs twice.
VISIBILITY = 900
TRANSPORT = {
    "visibility_timeout": VISIBILITY,
    "unacked_restore_interval": settings.VIGENTE_RESTORE_SECONDS,
    "unacked_restore_throttle": 1,
    "socket_timeout": 15,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "retry_on_timeout": False,
}

CONNECTION_SECONDS = 300

# Each with an exchange of its own: under a common one, a message for one queue would land in both.
QUEUES = ["default", "agents", *partitions.queues()]

app = Celery("vigente")
app.conf.update(
    # Celery's own rule closes the connection around every task; ours is below.
    CELERY_DB_REUSE_MAX=10_000,
    broker_url=embedded.broker_url(settings.REDIS_URL),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options=TRANSPORT,
    result_backend_transport_options=TRANSPORT,
    visibility_timeout=VISIBILITY,
    # A page must not wait for a broker that is away; the sweep finds what could not be announced.
    task_publish_retry_policy={"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
    # JSON only, and nobody reads results: an outcome is a row.
    accept_content=["json"],
    task_serializer="json",
    result_serializer="json",
    task_ignore_result=True,
    # A worker that dies gives its message back; attempts are counted in the database.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_soft_time_limit=120,
    task_time_limit=150,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_soft_shutdown_timeout=60.0,
    worker_enable_soft_shutdown_on_idle=True,
    worker_hijack_root_logger=False,  # LOGGING in the settings decides
    # Language models answer slowly: whatever may call one has a queue of its own.
    task_default_queue="default",
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in QUEUES],
    task_default_exchange="default",
    task_default_routing_key="default",
    task_create_missing_queues=False,
    task_routes=[partitions.route, {"agents.tasks.*": {"queue": "agents"}}],
    timezone=settings.TIME_ZONE,
    enable_utc=True,
    # One leader at a time, however many schedulers run; a leader that froze is replaced after the lock's time.
    beat_scheduler="redbeat.RedBeatScheduler",
    beat_max_loop_interval=10,
    redbeat_redis_url=settings.REDIS_URL,
    redbeat_redis_options={"retry_period": 30, "socket_timeout": 15, "health_check_interval": 25},
    redbeat_key_prefix="vigente:beat:",
    redbeat_lock_timeout=60,
    beat_schedule={
        "sweep": {
            "task": "agents.tasks.sweep",
            "schedule": float(settings.VIGENTE_SWEEP_SECONDS),
            # No `expires`: a worker whose clock is ahead would throw every bell away. Bells that nobody heard for a
            # while bring one sweep, not as many as there are: the task asks the rows (agents/tasks.py).
            "options": {"queue": "agents"},
        },
    },
)
app.autodiscover_tasks(["agents", "crm", "conflicts"])


@worker_init.connect  # type: ignore[untyped-decorator]
def refuse_to_start(**signal: Any) -> None:
    """Where a guarantee of the kernel is not in place; an exit, since Celery goes on past any other exception here."""
    django.setup()
    from conflicts import checks  # it needs the apps

    try:
        checks.refuse_to_start()
    except SystemCheckError as broken:
        raise SystemExit(str(broken)) from None


@worker_init.connect  # type: ignore[untyped-decorator]
def keep_connections(**signal: Any) -> None:
    """A worker's connection goes from task to task, tried before each: a new one costs more than a turn or a job."""
    for alias in connections:
        found = connections.settings[alias]
        if not found["OPTIONS"].get("pool"):
            found.update(CONN_MAX_AGE=CONNECTION_SECONDS, CONN_HEALTH_CHECKS=True)


@task_prerun.connect  # type: ignore[untyped-decorator]
def look_at_connections(**signal: Any) -> None:
    close_old_connections()
