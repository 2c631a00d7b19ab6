"""The work that Celery's workers have in hand when something dies: an offer to be mailed, as a job and as a message.

Loaded by those workers and schedulers with `celery -A config.lab.reserved`, and by whoever enqueues. Two variables of
the environment make hours short: after how long an unfinished message comes back, and how often the schedule ticks.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django
from django.apps import apps

if not apps.ready:
    django.setup()

from config.celery import app
from config.lab.rounds import wish
from config.lab.worker import ask_the_model
from config.lab.world import AGENT, SOON, load
from conflicts import gate, jobs
from conflicts.leases import Claim
from conflicts.models import Job
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import Activity

KIND = "lab.mail"
NAIVE_TASK = "lab.mail_naively"
TICK = "lab.tick"
"""Nobody works on it: the schedule is listened to."""

VISIBILITY, SCHEDULE, LOCK = "VIGENTE_LAB_VISIBILITY", "VIGENTE_LAB_SCHEDULE", "VIGENTE_LAB_LOCK"
"""Seconds."""

if VISIBILITY in os.environ:
    app.conf.broker_transport_options = {
        **app.conf.broker_transport_options,
        "visibility_timeout": float(os.environ[VISIBILITY]),
    }
if SCHEDULE in os.environ:
    every = float(os.environ[SCHEDULE])
    app.conf.beat_schedule = {"tick": {"task": TICK, "schedule": every, "options": {"queue": "default"}}}
    app.conf.beat_max_loop_interval = every
    app.conf.redbeat_lock_timeout = float(os.environ[LOCK])


def mail(job: Job, claim: Claim) -> None:
    ref = Ref.parse(job.subject)
    ask_the_model(job.payload.get("model", ""))
    read = Read.of(load(ref))
    offer: Proposal = wish(
        "opportunity.log", read, by=AGENT, key=f"{job.key}:mail", lease=claim, kind="mail", text=str(ref)
    )
    outcome: Outcome = gate.commit(offer)
    if not outcome.done:
        raise RuntimeError(str(outcome.sentence))


jobs.register(KIND, mail)


@app.task(name=NAIVE_TASK, acks_late=False)  # type: ignore[untyped-decorator]
def mail_naively(deal: str, model: str = "") -> None:
    """The message is the work. Taken off the queue before it is done, as is the default."""
    ref = Ref.parse(deal)
    ask_the_model(model)
    Activity.objects.create(opportunity_id=ref.pk, kind="mail", at=f"{SOON}T12:00Z", by=str(AGENT), text=deal)
