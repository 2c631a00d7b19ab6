"""What the workers that tests start can do besides the product's own: work that tests can watch and hold up.

Work leaves its traces as rows written through the gate (once per key, whoever does it) and as files in a directory of
the test: `begun-KEY-PID` before the write, and it waits for the file `go` where its payload says so.
"""

import os
import time
from pathlib import Path

from conflicts import destinations, gate, jobs
from conflicts.leases import Claim
from conflicts.models import Job
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from crm.models import Opportunity
from tests import cast
from tests.fakes.destinations import Mailbox, Record

LOG = "test.log"
PLACE = Path(os.environ.get("VIGENTE_TEST_PLACE", "/nonexistent"))


def log(job: Job, claim: Claim) -> None:
    """Write one activity; `hold` first tells that it has begun, and waits."""
    if job.payload.get("poison"):
        os._exit(7)  # as a worker that runs out of memory would
    begun = job.payload.get("hold")
    if begun:
        (PLACE / f"begun-{job.attempts}-{os.getpid()}").touch()
        wait_for(PLACE / "go")
    outcome = write(job, claim)
    if begun:
        (PLACE / f"wrote-{job.attempts}-{outcome}").touch()


def write(job: Job, claim: Claim) -> str:
    pk = Ref.parse(job.subject).pk
    for _ in range(5):  # a fresh look, where somebody was faster
        outcome = gate.commit(
            Proposal(
                action="opportunity.log",
                by=cast.AGENT,
                params={"kind": "note", "text": job.key},
                basis=(Read.of(Opportunity.objects.get(pk=pk)),),
                lease=claim,
                key=f"log:{job.key}" + (f":{job.attempts}" if job.payload.get("key_per_attempt") else ""),
            )
        )
        if outcome.result.value != "conflict":
            return outcome.result.value
    raise RuntimeError(outcome.result)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(path)
        time.sleep(0.01)


class SlowMailbox(Mailbox):
    """Tells when it is about to send and, where the test says so, waits before it does."""

    def send(self, key: str, payload: dict[str, object]) -> str:
        if payload.get("hold"):
            (PLACE / f"sending-{os.getpid()}").touch()
            wait_for(PLACE / "go")
        answer = super().send(key, payload)
        if payload.get("hold_after"):
            (PLACE / f"sent-{os.getpid()}").touch()
            wait_for(PLACE / "noted")
        return answer


jobs.register(LOG, log)
if "VIGENTE_TEST_PORT" in os.environ:
    port = int(os.environ["VIGENTE_TEST_PORT"])
    destinations.register(SlowMailbox("mailbox", port))
    destinations.register(Record("record", port, settles_in=3.0))
