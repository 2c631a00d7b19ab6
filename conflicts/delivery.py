"""Delivery: takes a message from the outbox to its destination, and knows when it does not know.

Guarantees that a message is sent by one holder at a time, after a last look; that an answer which was lost, or a worker
which died between sending and noting, leaves `outcome_unknown`; and that such a message is never sent again blindly:
the destination is asked, and where it cannot tell, a person. Every step is a compare-and-swap on the state and, in the
same transaction, on the leases under which it is taken.

    queued -> failed                     a person took it back (conflicts/outbox.py)
    queued -> sending -> last look -> send -> sent
                 |           `-> failed, with the reason
                 |-> queued             it surely did not leave
                 `-> outcome_unknown -> read back -> sent | queued (surely not there) | a person

A destination that was sent as much as it may get (settings.VIGENTE_LIMITS, `api:` and its name) is left in peace: the
message stays queued, says so, and its job is due again when there is room.

What remains: a process that is stopped between its last look at the clock and the first byte on the line, for longer
than its claim and `settles_in`, and then goes on. A conditional destination turns that copy away by its key.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from django.db import transaction
from django.db.models import F

from conflicts import destinations, jobs, leases, limits, outbox, waiting
from conflicts.actors import SYSTEM, Actor
from conflicts.clock import ClockTimestamp
from conflicts.destinations import Destination, Found, Missing, NotAccepted, NotSent
from conflicts.exceptions import LeaseLost
from conflicts.heartbeat import Heartbeat
from conflicts.jobs import PutOff
from conflicts.leases import Claim
from conflicts.models.job import Job
from conflicts.models.outbox import Delivery, OutboxMessage
from conflicts.sentences import Sentence

logger = logging.getLogger(__name__)

PROMPT = 0.5
"""Share of the claim's shortest length within which the sending must begin after it was noted."""

LEAST_WAIT = 1.0
"""Seconds until a full destination is asked for again, at least: each time costs a claim."""

LONGEST = 60.0
"""Seconds that one delivery may take, with all its calls to the destination."""


def deliver(job: Job, claim: Claim) -> None:
    """The handler of `outbox.deliver`. Raises when the message could not be brought to an end; it is tried again."""
    message = OutboxMessage.objects.get(key=job.payload["message"])
    if message.state in (Delivery.SENT, Delivery.FAILED):
        return
    destination = destinations.get(message.destination)
    with _served(destination, message) as also:
        try:
            Sending(message, destination, [claim, *also]).run()
        except LeaseLost:
            if OutboxMessage.objects.filter(pk=message.pk, state=Delivery.FAILED).exists():
                return  # a person took it back in the moment before: nothing has left us, and nothing is to be done
            raise


@contextmanager
def _served(destination: Destination, message: OutboxMessage) -> Iterator[Sequence[Claim]]:
    """A destination that can only overwrite is written to under a lease on what is overwritten there."""
    if destinations.trusted(destination):
        yield ()
        return
    key = f"to:{destination.name}:{message.subject or message.key}"[:200]
    why = "it can only be overwritten"
    with leases.holding(key, by=SYSTEM, unit=message.key, reason=why, seconds=jobs.claim_seconds()) as got:
        if isinstance(got, leases.Busy):
            raise PutOff(min(got.seconds_left, 5.0) + 0.1, "somebody else is writing there")
        with Heartbeat(got, most=LONGEST):
            yield (got.claim,)


class Sending:
    """One holder's work on one message."""

    def __init__(self, message: OutboxMessage, destination: Destination, claims: Sequence[Claim]) -> None:
        self.message = message
        self.destination = destination
        self.claims = claims
        self.mine = claims[0]

    def run(self) -> None:
        if self.message.state == Delivery.SENDING:
            # Not ours, for ours is noted before we return: its holder died, or lives on without its claim.
            self.move(Delivery.OUTCOME_UNKNOWN, reason=Sentence("delivery.lost_sight").as_json())
        if self.message.state == Delivery.OUTCOME_UNKNOWN:
            self.reconcile()
        if self.message.state == Delivery.QUEUED and not self.there_already():
            self.wait_for_room()
            self.send()

    def there_already(self) -> bool:
        """Nobody turns away a second copy for us where writing is not conditional: look before."""
        if self.destination.conditional or self.message.attempt == 0:
            return False
        found = self.destination.read_back(self.message.key)
        if not isinstance(found, Found):
            return False
        self.move(Delivery.SENDING)
        self.move(Delivery.SENT, remote_id=found.remote_id)
        return True

    def wait_for_room(self) -> None:
        """Agents wait where nobody can count, people do not (conflicts/limits.py)."""
        room = limits.of_destination(self.destination.name, by=Actor.parse(self.message.by))
        if room:
            return
        why = Sentence(
            "delivery.full" if room.counted else "delivery.uncounted",
            {"destination": destinations.title(self.destination)},
        )
        self.move(Delivery.QUEUED, reason=why.as_json())
        raise PutOff(max(room.retry_after, LEAST_WAIT), why.code)

    def send(self) -> None:
        began = monotonic()
        self.move(
            Delivery.SENDING,
            attempt=self.message.attempt + 1,
            reason={},
            holder=self.mine.holder,
            fence=self.mine.fence,
            sending_at=ClockTimestamp(),
        )
        try:
            refusal = self.destination.last_look(self.message)
        except Exception:
            self.move(Delivery.QUEUED)
            raise
        if refusal is not None:
            self.fail(refusal)
            return
        if monotonic() - began > PROMPT * jobs.claim_seconds():
            raise LeaseLost  # we were stopped here, and somebody else may be at it: nothing has left us
        try:
            remote_id = self.destination.send(self.message.key, self.message.payload)
        except (NotSent, PutOff):
            self.move(Delivery.QUEUED)
            raise
        except NotAccepted as error:
            self.fail(
                Sentence(
                    "delivery.refused", {"destination": destinations.title(self.destination), "error": str(error)[:200]}
                )
            )
            return
        except Exception as error:  # a lost answer, a time-out, an error of theirs: it may have arrived
            logger.warning("The answer to %s is lost: %s", self.message, type(error).__name__)
            self.move(Delivery.OUTCOME_UNKNOWN)
            self.reconcile()
            if self.message.state == Delivery.QUEUED:
                raise  # surely not there: tried again after a pause, as after any failure
            return
        if destinations.trusted(self.destination):
            self.move(Delivery.SENT, remote_id=remote_id)
        else:
            self.look_after(remote_id)

    def look_after(self, remote_id: str) -> None:
        """It said yes, but anybody may have overwritten it since: what is there now must be ours."""
        try:
            found = self.destination.read_back(self.message.key)
        except Exception:
            self.move(Delivery.OUTCOME_UNKNOWN)
            raise
        if isinstance(found, Found):
            self.move(Delivery.SENT, remote_id=found.remote_id or remote_id)
        else:
            self.move(Delivery.OUTCOME_UNKNOWN)
            self.ask_a_person()

    def reconcile(self) -> None:
        found = self.destination.read_back(self.message.key)
        if isinstance(found, Found):
            self.move(Delivery.SENT, remote_id=found.remote_id, reason={})
        elif found is Missing.CANNOT_TELL:
            self.ask_a_person()
        else:
            self.surely_not_there()

    def surely_not_there(self) -> None:
        """Sending again is safe if the destination takes a key once, or if the first copy can arrive no more."""
        if not self.destination.conditional:
            left = self.seconds_left()
            if left > 0:
                raise PutOff(left, "the first copy may still arrive")
        self.move(Delivery.QUEUED, reason={})

    def seconds_left(self) -> float:
        age = (
            OutboxMessage.objects.annotate(age=ClockTimestamp() - F("sending_at"))
            .values_list("age", flat=True)
            .get(pk=self.message.pk)
        )
        return float(self.destination.settles_in - age.total_seconds()) if age is not None else 0.0

    def fail(self, reason: Sentence) -> None:
        with transaction.atomic():
            self.move(Delivery.FAILED, reason=reason.as_json())
            waiting.note(outbox.matter(self.message), reason)

    def ask_a_person(self) -> None:
        sentence = Sentence(outbox.UNKNOWN, {"destination": destinations.title(self.destination)})
        with transaction.atomic():
            self.check_claims()
            locked = OutboxMessage.objects.select_for_update().get(pk=self.message.pk)
            if locked.state != Delivery.OUTCOME_UNKNOWN:
                return  # a report of the destination came in between and settled it
            record = waiting.open_for_a_person(
                outbox.matter(self.message),
                sentence,
                avoided=Sentence("delivery.unknown.avoided"),
                next_step=Sentence("next.look_there"),
            )
            OutboxMessage.objects.filter(pk=locked.pk).update(conflict=record, reason=sentence.as_json())

    def move(self, to: Delivery, **values: object) -> None:
        """Compare-and-swap on the state and on the claim that set it, with all our leases in force. Or LeaseLost."""
        message = self.message
        with transaction.atomic():
            self.check_claims()
            if to in (Delivery.SENT, Delivery.FAILED):
                values["ended_at"] = ClockTimestamp()
            was = OutboxMessage.objects.filter(pk=message.pk, state=message.state, holder=message.holder)
            if was.update(state=to, **values) != 1:
                raise LeaseLost
            if to in (Delivery.SENT, Delivery.FAILED):
                destinations.tell(message, to)
        message.refresh_from_db()

    def check_claims(self) -> None:
        if leases.in_force(self.claims) != set(self.claims):
            raise LeaseLost


jobs.register(outbox.DELIVER, deliver, seconds=LONGEST)
