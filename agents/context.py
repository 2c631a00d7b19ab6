"""Snapshot: what an agent knows of a deal, read once, frozen. The only way in which a recommender sees the world.

Guarantees that every fact in it belongs to the version it names (a deal and its version come from one row in one
statement) and that nothing of it can be changed or loaded later. It is read by `agents/loading.py`.
Next in the flow: `agents/recommenders/`.
"""

import datetime as dt
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from conflicts.proposals import Read
from conflicts.refs import Ref
from conflicts.values import Value
from crm import contacting
from crm.models.contact import ConsentStatus

DEAL = "crm.opportunity"
CONTACT = "crm.contact"
SUPPRESSED = dt.timedelta(days=30)
"""How long a declined kind of suggestion stays away, unless the deal changes before."""

RESTS_ON = (
    "status",
    "stage",
    "stage_since",
    "owner",
    "contact",
    "next_step",
    "next_step_on",
    "last_contact_at",
    "opened_on",
    "expected_close",
    "amount",
)
"""The fields of a deal that a decision may rest on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StageFacts:
    name: str
    is_first: bool
    contact_allowed: bool
    limit: int | None
    """Calendar days until a deal in it counts as stuck."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerFacts:
    pk: int
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsentFacts:
    granted: bool
    on: dt.date


@dataclass(frozen=True, kw_only=True, slots=True)
class ContactFacts:
    pk: int
    version: int
    name: str
    blocked: bool
    consents: Mapping[str, ConsentFacts] = field(default_factory=dict)
    """The statement in force, by channel; a channel that is missing was never spoken about."""

    def stated(self, channel: str) -> str:
        statement = self.consents.get(channel)
        return "" if statement is None else ConsentStatus.GRANTED if statement.granted else ConsentStatus.REFUSED

    def refuses(self, channel: str) -> bool:
        return contacting.barred(blocked=self.blocked, stated=self.stated(channel)) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFacts:
    """The open task behind the deal's next step."""

    pk: int
    title: str
    claimed_by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Declined:
    rule: str
    """Empty: a person put another value in an agent's place, and no suggestion of any kind follows."""
    at: dt.datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """What is known of the talk with the customer. A deal without one has `None`: then it holds nothing back."""

    human_since: dt.datetime | None = None
    """The last sign of a person who owns the conversation."""
    human: str = ""
    waiting_since: dt.datetime | None = None
    """The first message of the customer that nobody has answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    read_at: dt.datetime
    pk: int
    version: int
    changed_at: dt.datetime
    name: str
    company: str
    status: str
    amount: Decimal | None
    stage: StageFacts
    stage_since: dt.date
    owner: OwnerFacts | None
    zone: str
    """Where the owner works: whose day it is."""
    language: str
    """In which the owner reads."""
    contact: ContactFacts | None
    opened_on: dt.date | None
    expected_close: dt.date | None
    next_step: str
    next_step_on: dt.date | None
    last_contact_at: dt.datetime | None
    step: StepFacts | None = None
    unanswered_mails: int = 0
    """E-mails in a row since the last call or meeting, the newest contact being one of them."""
    suggestion: str = ""
    """The rule of the suggestion that is open for this deal."""
    unsettled: bool = False
    """An earlier attempt of an agent waits for a person's decision."""
    declined: tuple[Declined, ...] = ()
    conversation: Conversation | None = None
    team: int | None = None
    """Whose queue a deal without an owner waits in (agents/backpressure.py)."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """`RESTS_ON` in plain form, as the gate will compare it."""

    def today(self, now: dt.datetime) -> dt.date:
        return now.astimezone(zoneinfo.ZoneInfo(self.zone)).date()

    def day_of(self, moment: dt.datetime) -> dt.date:
        return self.today(moment)

    def reads(self, *names: str) -> Read:
        """The read set: exactly these fields of the deal, at this version."""
        return Read(
            subject=Ref(DEAL, self.pk), version=self.version, values={name: self.values[name] for name in names}
        )

    def reads_contact(self) -> Read:
        """That the contact may be reached: not blocked.

        Not the aspect `consents`: a word about e-mail says nothing about a call. Whether this channel is refused is a
        rule that the gate asks on the locked contact (crm/actions/tasks.py `check_consent`).
        """
        assert self.contact is not None
        return Read(
            subject=Ref(CONTACT, self.contact.pk),
            version=self.contact.version,
            values={"blocked": self.contact.blocked},
        )
