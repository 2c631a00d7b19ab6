"""What runs out by itself: a promise of stock, a grant of access. Each due time is a job of its own.

Guarantees that what has run out is ended by the same registered actions that anybody else would use, once, with the
evidence that every act leaves. A grant has no effect after its time whether this has run or not
(crm/models/access.py), and a promise of stock is free again when this has run.
"""

from collections.abc import Callable

from django.db.models.functions import Now

from conflicts import gate, jobs
from conflicts.actors import SYSTEM
from conflicts.leases import Claim
from conflicts.models import Job
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.actions import access, stock
from crm.models import AccessRequest, Reservation
from crm.models.access import AccessState
from crm.models.stock import ReservationState


def _promises(item: int) -> bool:
    return Reservation.objects.filter(item=item, state=ReservationState.HELD, until__lte=Now()).exists()


def _grant(request: int) -> bool:
    return AccessRequest.objects.filter(pk=request, state=AccessState.GRANTED, expires_at__lte=Now()).exists()


RUNS_OUT: dict[str, Callable[[int], bool]] = {stock.EXPIRE: _promises, access.EXPIRE: _grant}


def _end(job: Job, claim: Claim) -> None:
    """Propose what the job is named after. What was held longer, or has ended, leaves nothing to do and no record."""
    ref = Ref.parse(job.subject)
    if not RUNS_OUT[job.kind](ref.pk):
        return
    subject = ref.model._base_manager.get(pk=ref.pk)
    gate.commit(
        Proposal(
            action=job.kind,
            by=SYSTEM,
            basis=(Read.of(subject),),
            key=f"{job.key}:{subject.version}",
            source=f"job:{job.key}",
            lease=claim,
        )
    )


for kind in RUNS_OUT:
    jobs.register(kind, _end, seconds=20)
