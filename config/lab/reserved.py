"""The work that Celery's workers have in hand when they are killed: an offer to be mailed, as a job and as a message.

Loaded by those workers with `celery -A config.lab.reserved`, and by whoever enqueues.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django
from django.apps import apps

if not apps.ready:
    django.setup()

from config.celery import app
from config.lab.rounds import wish
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


def mail(job: Job, claim: Claim) -> None:
    ref = Ref.parse(job.subject)
    read = Read.of(load(ref))
    offer: Proposal = wish(
        "opportunity.log", read, by=AGENT, key=f"{job.key}:mail", lease=claim, kind="mail", text=str(ref)
    )
    outcome: Outcome = gate.commit(offer)
    if not outcome.done:
        raise RuntimeError(str(outcome.sentence))


jobs.register(KIND, mail)


@app.task(name=NAIVE_TASK, acks_late=False)  # type: ignore[untyped-decorator]
def mail_naively(deal: str) -> None:
    """The message is the work. Taken off the queue before it is done, as is the default."""
    ref = Ref.parse(deal)
    Activity.objects.create(opportunity_id=ref.pk, kind="mail", at=f"{SOON}T12:00Z", by=str(AGENT), text=deal)
