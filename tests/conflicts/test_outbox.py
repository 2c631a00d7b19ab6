"""The outbox: an effect outside is a row beside the change that decided on it; delivered once, or left in doubt."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from config.embedded.processes import until
from conflicts import actions, delivery, destinations, gate, leases, limits, outbox, running, watching
from conflicts.actions import Action
from conflicts.destinations import Missing
from conflicts.exceptions import BadJob
from conflicts.models import Conflict, Delivery, Job, Lease, OutboxMessage
from conflicts.models.outbox import MOVES
from conflicts.outbox import Dropped
from conflicts.outcomes import Result
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.work import Work
from crm.actions.fields import Params
from crm.models import Opportunity
from tests import cast
from tests.conflicts.chores import CHORE, goes_silent, now, partition, run_all, told
from tests.fakes.destination_server import DestinationServer
from tests.fakes.destinations import Mailbox, Record


@pytest.fixture
def server() -> Iterator[DestinationServer]:
    with DestinationServer() as server:
        yield server


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Register destinations for one test."""
    monkeypatch.setattr(destinations, "_DESTINATIONS", {})
    return destinations.register


@pytest.fixture
def mailbox(server: DestinationServer, known: Callable[..., None]) -> Mailbox:
    box = Mailbox("mailbox", server.port)
    known(box)
    return box


@pytest.fixture
def record(server: DestinationServer, known: Callable[..., None]) -> Record:
    server.minds_keys = False
    record = Record("record", server.port)
    known(record)
    return record


def post(key: str = "hello", *, to: str = "mailbox", subject: Ref | None = None, **payload: Any) -> OutboxMessage:
    return outbox.post(to, key, payload or {"text": "Hello"}, subject=subject, by=cast.AGENT)


def now_is(message: OutboxMessage) -> OutboxMessage:
    return OutboxMessage.objects.get(pk=message.pk)


def job_of(message: OutboxMessage) -> Job:
    return Job.objects.get(key=f"deliver:0:{message.key}")


@pytest.mark.django_db
class TestPosting:
    def test_the_same_key_and_content_is_one_message_with_one_job(self) -> None:
        assert post().pk == post().pk
        assert (OutboxMessage.objects.count(), Job.objects.count()) == (1, 1)

    def test_the_same_key_with_other_content_is_refused(self) -> None:
        post()
        with pytest.raises(BadJob, match="another message"):
            post(text="Bye")

    @pytest.mark.parametrize("key", ["", "k" * 201])
    def test_a_key_has_bounds(self, key: str) -> None:
        with pytest.raises(BadJob, match="1 to 200"):
            post(key)

    def test_no_message_is_ever_deleted(self) -> None:
        message = post()
        with pytest.raises(DatabaseError, match="Cannot delete"), transaction.atomic():
            message.delete()

    @pytest.mark.parametrize("old", Delivery)
    @pytest.mark.parametrize("new", Delivery)
    def test_the_database_itself_lets_a_delivery_move_along_the_arrows_only(self, old: Delivery, new: Delivery) -> None:
        message = post()
        OutboxMessage.objects.bulk_create([OutboxMessage(key="there", state=old, by="x")])
        there = OutboxMessage.objects.filter(key="there")
        if new == old or new in MOVES[old]:
            assert there.update(state=new) == 1
        else:
            with pytest.raises(DatabaseError, match="Invalid transition"), transaction.atomic():
                there.update(state=new)
        assert now_is(message).state == "queued"

    def test_a_name_is_one_destination(self, mailbox: Mailbox) -> None:
        with pytest.raises(ValueError, match="already"):
            destinations.register(Mailbox("mailbox", 1))


def greet(work: Work) -> None:
    work.send("mailbox", {"text": "Hello"}, key=work.proposal.key)
    work.later(CHORE, {}, key=f"after:{work.proposal.key}")


@pytest.fixture
def greeting() -> Iterator[str]:
    """An action that has effects, as the crm's own would."""
    name = "opportunity.test_greet"
    action = Action(
        name=name,
        subject=Opportunity,
        params=Params,
        words="Greet",
        apply=greet,
        writes_aspects=frozenset({"activities"}),
    )
    actions._ACTIONS[name] = action
    yield name
    del actions._ACTIONS[name]


@pytest.mark.django_db
class TestInTheGatesTransaction:
    def commit(self, name: str, deal: Opportunity, **more: Any) -> Result:
        proposal = Proposal(action=name, by=cast.AGENT, basis=(Read.of(deal, "name"),), key="greet:1")
        return gate.commit(proposal, **more).result

    def test_an_effect_is_there_with_the_change(self, greeting: str) -> None:
        deal = cast.deal()
        assert self.commit(greeting, deal) is Result.APPLIED
        message = OutboxMessage.objects.get()
        assert (message.key, message.subject, message.by) == ("greet:1", str(Ref.of(deal)), str(cast.AGENT))
        assert list(Job.objects.order_by("sequence").values_list("kind", flat=True)) == ["outbox.deliver", CHORE]

    def test_a_repetition_has_no_second_effect(self, greeting: str) -> None:
        deal = cast.deal()
        assert [self.commit(greeting, deal) for _ in range(2)] == [Result.APPLIED, Result.DUPLICATE]
        assert (OutboxMessage.objects.count(), Job.objects.count()) == (1, 2)

    def test_what_is_not_applied_has_no_effect(self, greeting: str) -> None:
        deal = cast.deal()
        cast.propose("opportunity.edit", Opportunity.objects.get(pk=deal.pk), by=cast.alice(), name="Other")
        assert self.commit(greeting, deal) is Result.CONFLICT
        assert (OutboxMessage.objects.count(), Job.objects.count()) == (0, 0)

    def test_what_is_rolled_back_has_no_effect(self, greeting: str) -> None:
        def breaks(outcomes: Any) -> None:
            raise KeyError

        with pytest.raises(KeyError):
            self.commit(greeting, cast.deal(), settle=breaks)
        assert (OutboxMessage.objects.count(), Job.objects.count()) == (0, 0)


@pytest.mark.django_db
class TestDelivery:
    def test_a_message_is_sent_once_with_its_key(self, server: DestinationServer, mailbox: Mailbox) -> None:
        message = post(text="Hello")
        run_all()
        message = now_is(message)
        assert (message.state, message.remote_id, message.attempt) == ("sent", "1", 1)
        assert server.taken == [("hello", {"text": "Hello"})]
        assert message.ended_at is not None

    def test_the_last_look_may_refuse(self, server: DestinationServer, mailbox: Mailbox) -> None:
        mailbox.objection = lambda message: Sentence("not_allowed", {"who": "Ana"})
        message = post(subject=Ref.of(cast.deal()))
        run_all()
        assert (now_is(message).state, server.taken) == ("failed", [])
        assert now_is(message).why == Sentence("not_allowed", {"who": "Ana"})
        evidence = Conflict.objects.get()
        assert (evidence.key, evidence.result, evidence.closed_at is None) == ("hello", "refused", False)
        assert job_of(message).state == "done"

    def test_a_last_look_that_fails_sends_nothing(self, server: DestinationServer, mailbox: Mailbox) -> None:
        looks: list[int] = []

        def fails_once(message: OutboxMessage) -> None:
            looks.append(1)
            if len(looks) == 1:
                raise ValueError

        mailbox.objection = fails_once
        message = post()
        run_all()
        assert (now_is(message).state, len(looks), server.keys()) == ("sent", 2, ["hello"])

    def test_what_the_destination_refuses_has_failed(self, server: DestinationServer, mailbox: Mailbox) -> None:
        server.faults.append("refuse")
        message = post()
        run_all()
        assert (now_is(message).state, server.taken) == ("failed", [])
        assert "no such address" in str(now_is(message).why)

    @pytest.mark.parametrize("fault", ["unavailable", "error_before"])
    def test_what_surely_did_not_arrive_is_sent_again(
        self, server: DestinationServer, mailbox: Mailbox, fault: str
    ) -> None:
        server.faults += [fault, fault]
        message = post()
        run_all()
        assert (now_is(message).state, now_is(message).attempt, server.keys()) == ("sent", 3, ["hello"])

    def test_a_destination_that_is_away_ends_in_front_of_a_person(self, known: Callable[..., None]) -> None:
        with DestinationServer() as gone:
            port = gone.port
        known(Mailbox("mailbox", port))
        message = post()
        run_all()
        assert (now_is(message).state, job_of(message).state) == ("queued", "review")
        assert Conflict.objects.waiting().count() == 1

    @pytest.mark.parametrize("fault", ["error_after", "drop_answer"])
    @pytest.mark.parametrize("minds_keys", [True, False])
    def test_a_lost_answer_is_read_back_and_not_sent_again(
        self, server: DestinationServer, mailbox: Mailbox, fault: str, minds_keys: bool
    ) -> None:
        server.minds_keys = minds_keys
        server.faults.append(fault)
        message = post()
        run_all()
        assert (now_is(message).state, now_is(message).attempt, server.keys()) == ("sent", 1, ["hello"])
        assert now_is(message).reason == {}

    def test_an_answer_that_takes_too_long_is_in_doubt(self, server: DestinationServer, mailbox: Mailbox) -> None:
        """It is not there yet when it is read back; sent again under its key, the destination takes it once."""
        mailbox.seconds = 0.2
        server.faults.append("hold")
        message = post()
        run_all()
        server.release.set()
        assert (now_is(message).state, server.keys()) == ("sent", ["hello"])

    @pytest.mark.parametrize("fault", ["error_before", "error_after"])
    def test_where_the_destination_cannot_tell_a_person_decides(
        self, server: DestinationServer, mailbox: Mailbox, fault: str
    ) -> None:
        server.says_what_it_has = False
        server.faults.append(fault)
        message = post(subject=Ref.of(cast.deal()))
        run_all()
        assert (now_is(message).state, now_is(message).attempt) == ("outcome_unknown", 1)
        waiting = Conflict.objects.waiting().get()
        assert (waiting.state, waiting.key, now_is(message).conflict_id) == (
            "needs_human_decision",
            "hello",
            waiting.pk,
        )
        assert job_of(message).state == "done"
        assert run_all() == []  # and nobody tries by himself

    def in_doubt(self, server: DestinationServer) -> OutboxMessage:
        server.says_what_it_has = False
        server.faults.append("error_after")
        message = post()
        run_all()
        return message

    def test_a_person_says_that_it_arrived(self, server: DestinationServer, mailbox: Mailbox) -> None:
        message = self.in_doubt(server)
        assert outbox.settle("hello", by=cast.AGENT, arrived=True)
        assert not outbox.settle("hello", by=cast.AGENT, arrived=False)
        assert (now_is(message).state, Conflict.objects.get().resolution) == ("sent", "arrived")

    def test_a_person_has_it_sent_again(self, server: DestinationServer, mailbox: Mailbox) -> None:
        message = self.in_doubt(server)
        assert outbox.settle("hello", by=cast.AGENT, arrived=False, send_again=True)
        run_all()
        assert (now_is(message).state, now_is(message).attempt) == ("sent", 2)
        assert Conflict.objects.get().resolution == "again"

    def test_a_person_drops_it(self, server: DestinationServer, mailbox: Mailbox) -> None:
        message = self.in_doubt(server)
        assert outbox.settle("hello", by=cast.AGENT, arrived=False)
        assert (now_is(message).state, run_all()) == ("failed", [])

    def test_a_second_job_for_what_is_sent_does_nothing(self, server: DestinationServer, mailbox: Mailbox) -> None:
        message = post()
        run_all()
        Job.objects.filter(key=job_of(message).key).update(state="queued")
        run_all()
        assert server.keys() == ["hello"]

    def test_a_destination_of_a_newer_release_is_left_to_it(self, known: Callable[..., None]) -> None:
        message = post(to="fax")
        run_all()
        assert (now_is(message).state, job_of(message).state) == ("queued", "review")
        assert job_of(message).error == "UnknownDestination: There is no destination 'fax'."


@pytest.mark.django_db
class TestTakingBack:
    def test_what_waits_is_taken_back_with_who_and_why(self, server: DestinationServer, mailbox: Mailbox) -> None:
        message = post(subject=Ref.of(cast.deal()))
        assert outbox.drop("hello", by=cast.actors.person(cast.alice()), why="Rui called") is Dropped.BEFORE
        assert (now_is(message).state, job_of(message).state, run_all()) == ("failed", "cancelled", [])
        assert now_is(message).why == Sentence("delivery.taken_back", {"who": "Alice Amaral", "why": "Rui called"})
        evidence = Conflict.objects.get()
        assert (evidence.key, evidence.resolution, evidence.closed_at is None) == ("hello", "dropped", False)
        assert cast.actors.Actor.parse(evidence.closed_by).name == "Alice Amaral"
        assert server.taken == []

    def test_it_stays_so(self, mailbox: Mailbox) -> None:
        message = post()
        outbox.drop("hello", by=cast.AGENT, why="no")
        assert outbox.drop("hello", by=cast.AGENT, why="again") is Dropped.TOO_LATE
        assert post().pk == message.pk
        assert run_all() == []

    @pytest.mark.parametrize(
        ("state", "answer"),
        [("sending", "sending"), ("outcome_unknown", "sending"), ("sent", "too_late"), ("failed", "too_late")],
    )
    def test_what_has_left_cannot_be_taken_back(self, state: str, answer: str) -> None:
        message = post()
        for step in {"sent": ["sending", "sent"], "outcome_unknown": ["sending", "outcome_unknown"]}.get(
            state, [state]
        ):
            OutboxMessage.objects.filter(pk=message.pk).update(state=step)
        assert outbox.drop("hello", by=cast.AGENT, why="no").value == answer
        assert (now_is(message).state, Conflict.objects.exists()) == (state, False)

    def test_what_never_was_is_unknown(self) -> None:
        assert outbox.drop("nothing", by=cast.AGENT, why="no") is Dropped.UNKNOWN

    def test_one_that_is_taken_back_under_its_worker_ends_quietly(
        self, server: DestinationServer, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The worker has claimed the job and not yet noted that it sends."""
        message = post()
        room = delivery.Sending.wait_for_room

        def meanwhile(self: delivery.Sending) -> None:
            assert outbox.drop("hello", by=cast.AGENT, why="no") is Dropped.BEFORE
            room(self)

        monkeypatch.setattr(delivery.Sending, "wait_for_room", meanwhile)
        run_all()
        assert (now_is(message).state, job_of(message).state, server.taken) == ("failed", "done", [])
        assert told(job_of(message)) == []

    def test_a_message_whose_job_waits_for_a_person_takes_it_along(self, known: Callable[..., None]) -> None:
        message = post(to="fax")
        run_all()
        assert job_of(message).state == "review"
        assert outbox.drop("hello", by=cast.AGENT, why="no fax there") is Dropped.BEFORE
        assert (now_is(message).state, job_of(message).state) == ("failed", "cancelled")
        assert not Conflict.objects.waiting().exists()


@pytest.mark.django_db
class TestLimits:
    @pytest.fixture(autouse=True)
    def _rates(self, settings: Any) -> None:
        settings.VIGENTE_LIMITS = {"api:mailbox": "2/hour"}
        client = limits._storage().storage
        for key in client.scan_iter(f"{limits.PREFIX}*"):
            client.delete(key)

    def test_over_the_limit_of_its_destination_a_message_waits_and_says_so(
        self, server: DestinationServer, mailbox: Mailbox
    ) -> None:
        messages = [post(f"m{number}") for number in range(4)]
        run_all()
        assert len(server.keys()) == 2
        left = OutboxMessage.objects.filter(state="queued")
        assert left.count() == 2
        for message in left:
            assert message.why == Sentence("delivery.full", {"destination": "mailbox"})
            job = job_of(message)
            assert (job.state, job.attempts, message.attempt) == ("queued", 0, 0)
            assert job.due_at > timezone.now()
        assert not Conflict.objects.exists()
        assert len(messages) == 4

    def test_when_there_is_room_again_it_goes_out(
        self, server: DestinationServer, mailbox: Mailbox, settings: Any
    ) -> None:
        for number in range(3):
            post(f"m{number}")
        run_all()
        settings.VIGENTE_LIMITS = {"api:mailbox": "20/hour"}
        Job.objects.filter(state="queued").update(due_at=timezone.now())
        run_all()
        assert len(server.keys()) == 3
        assert not OutboxMessage.objects.exclude(state="sent", reason={}).exists()

    def test_who_waits_can_be_taken_back(self, server: DestinationServer, mailbox: Mailbox) -> None:
        for number in range(3):
            post(f"m{number}")
        run_all()
        key = OutboxMessage.objects.get(state="queued").key
        assert outbox.drop(key, by=cast.AGENT, why="enough") is Dropped.BEFORE


@pytest.mark.django_db
class TestAWorkerThatDied:
    def dies(self, monkeypatch: pytest.MonkeyPatch, mailbox: Mailbox, *, after: bool) -> OutboxMessage:
        """Its worker takes the message, dies right before or right after the sending, and its claim ends."""
        message = post()

        class Killed(BaseException):
            """Passes every `except Exception`, as a kill would."""

        send = mailbox.send

        def killed(key: str, payload: dict[str, Any]) -> str:
            if after:
                send(key, payload)
            raise Killed

        monkeypatch.setattr(mailbox, "send", killed)
        with pytest.raises(Killed):
            running.run_next(partition(job_of(message)))
        monkeypatch.setattr(mailbox, "send", send)
        assert now_is(message).state == "sending"
        goes_silent(job_of(message))
        assert watching.watch().recovered == 1
        return message

    def test_before_the_sending(
        self, server: DestinationServer, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        message = self.dies(monkeypatch, mailbox, after=False)
        run_all()
        assert (now_is(message).state, now_is(message).attempt, server.keys()) == ("sent", 2, ["hello"])

    @pytest.mark.parametrize("minds_keys", [True, False])
    def test_after_the_sending(
        self, server: DestinationServer, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, minds_keys: bool
    ) -> None:
        server.minds_keys = minds_keys
        message = self.dies(monkeypatch, mailbox, after=True)
        run_all()
        assert (now_is(message).state, now_is(message).attempt, server.keys()) == ("sent", 1, ["hello"])

    def test_where_nobody_can_tell(
        self, server: DestinationServer, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.says_what_it_has = False
        message = self.dies(monkeypatch, mailbox, after=True)
        run_all()
        assert (now_is(message).state, server.keys()) == ("outcome_unknown", ["hello"])
        assert Conflict.objects.waiting().count() == 1

    def test_a_zombie_notes_nothing(self, server: DestinationServer, mailbox: Mailbox) -> None:
        """Its claim ended while it was sending; another one has looked and noted. Then its answer comes."""
        message = post()
        send = mailbox.send

        def slow(key: str, payload: dict[str, Any]) -> str:
            mailbox.send = send  # type: ignore[method-assign]
            answer = send(key, payload)
            goes_silent(job_of(message))
            watching.watch()
            run_all()
            assert now_is(message).state == "sent"
            return answer + " of the zombie"

        mailbox.send = slow  # type: ignore[method-assign]
        running.run_next(partition(job_of(message)))
        assert (now_is(message).remote_id, server.keys()) == ("1", ["hello"])
        assert told(job_of(message))[-1] == "lost"

    def test_whose_claim_ended_before_the_sending_does_not_send(
        self, server: DestinationServer, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody has taken over yet, so the state alone would let it pass."""
        honest = delivery.Sending.run

        def late(self: delivery.Sending) -> None:
            goes_silent(job_of(message))
            honest(self)

        message = post()
        monkeypatch.setattr(delivery.Sending, "run", late)
        running.run_next(partition(job_of(message)))
        assert (server.taken, now_is(message).state, told(job_of(message))) == ([], "queued", ["lost"])

    def test_who_was_stopped_before_the_sending_does_not_send(
        self, server: DestinationServer, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its own clock tells it, before anything leaves; the message is then somebody else's."""
        clock = [0.0]
        monkeypatch.setattr(delivery, "monotonic", lambda: clock[0])

        def stopped(message: OutboxMessage) -> None:
            clock[0] += 1.01  # half of the claim's two seconds

        mailbox.objection = stopped
        message = post()
        running.run_next(partition(job_of(message)))
        assert server.taken == []
        mailbox.objection = lambda message: None
        run_all()
        assert (now_is(message).state, server.keys()) == ("sent", ["hello"])


@pytest.mark.django_db
class TestADestinationWithoutConditionalWrite:
    def test_it_is_written_under_a_lease_and_read_back(self, server: DestinationServer, record: Record) -> None:
        deal = Ref.of(cast.deal())
        message = post(to="record", subject=deal)
        run_all()
        assert (now_is(message).state, now_is(message).remote_id) == ("sent", "1")
        lease = Lease.objects.get(key=f"to:record:{deal}")
        assert (lease.holder, lease.fence) == ("", 1)

    def test_who_finds_it_taken_waits(self, server: DestinationServer, record: Record) -> None:
        deal = Ref.of(cast.deal())
        grant = leases.acquire(f"to:record:{deal}", by=cast.AGENT, unit="other", reason="test", seconds=30)
        assert isinstance(grant, leases.Grant)
        message = post(to="record", subject=deal)
        run_all()
        assert (server.taken, now_is(message).state, job_of(message).attempts) == ([], "queued", 0)
        assert leases.release(grant)
        Job.objects.update(due_at="2000-01-01T00:00Z")
        run_all()
        assert now_is(message).state == "sent"

    def test_one_that_was_overwritten_at_once_is_a_persons_matter(
        self, server: DestinationServer, record: Record
    ) -> None:
        send = record.send

        def and_somebody_else(key: str, payload: dict[str, Any]) -> str:
            answer = send(key, payload)
            server.take("a stranger's", {})
            return answer

        record.send = and_somebody_else  # type: ignore[method-assign]
        message = post(to="record")
        run_all()
        assert now_is(message).state == "outcome_unknown"
        assert Conflict.objects.waiting().get().key == "hello"
        assert server.keys() == ["hello", "a stranger's"]  # and nobody overwrote the stranger

    def test_a_lost_answer_is_read_back(self, server: DestinationServer, record: Record) -> None:
        server.faults.append("drop_answer")
        message = post(to="record")
        run_all()
        assert (now_is(message).state, server.keys()) == ("sent", ["hello"])

    def test_a_first_copy_that_may_still_arrive_is_waited_for(self, server: DestinationServer, record: Record) -> None:
        record.settles_in, record.seconds = 60.0, 0.2
        server.faults.append("hold")
        message = post(to="record")
        run_all()
        assert (now_is(message).state, job_of(message).state) == ("outcome_unknown", "queued")
        server.release.set()  # and it arrives
        assert until(lambda: bool(server.taken), seconds=30)
        Job.objects.update(due_at="2000-01-01T00:00Z")
        run_all()
        assert (now_is(message).state, server.keys()) == ("sent", ["hello"])

    def test_one_that_can_arrive_no_more_is_sent_again(self, server: DestinationServer, record: Record) -> None:
        record.settles_in = 60.0
        server.faults.append("error_before")
        message = post(to="record")
        run_all()
        assert server.taken == []
        OutboxMessage.objects.update(sending_at="2000-01-01T00:00Z")
        Job.objects.update(due_at="2000-01-01T00:00Z")
        run_all()
        assert (now_is(message).state, server.keys()) == ("sent", ["hello"])

    def test_nothing_is_overwritten_where_it_is_there_already(
        self, server: DestinationServer, record: Record, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Found absent and queued again, the first copy arrived after all: looked at once more before sending."""
        server.faults.append("error_before")
        message = post(to="record")
        running.run_next(partition(job_of(message)))
        assert now_is(message).state == "queued"
        server.take("hello", {})
        run_all()
        assert (now_is(message).state, server.keys()) == ("sent", ["hello"])

    def test_where_it_cannot_be_read_a_person_decides(self, server: DestinationServer, record: Record) -> None:
        record.read_back = lambda key: Missing.CANNOT_TELL  # type: ignore[method-assign]
        message = post(to="record")
        run_all()
        assert now_is(message).state == "outcome_unknown"
        assert now(job_of(message)).state == "done"
