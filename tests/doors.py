"""The table of doors: every route, action, command and task that can change a subject, and how to try it.

`tests/test_every_door.py` walks what the product really has and fails for whatever is not in here: a new door needs a
line that says how it is locked, or why it needs no lock.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conflicts.actors import Actor
from conflicts.models import AuthorityLevel
from conflicts.outcomes import Outcome
from crm.models import (
    AccessRequest,
    Activity,
    ChannelAccount,
    Company,
    Consent,
    Contact,
    ContactPoint,
    Contract,
    Conversation,
    Invoice,
    MessageTemplate,
    Opportunity,
    Product,
    Reservation,
    StockItem,
    Task,
    Ticket,
    User,
)
from tests import cast, papers

type Values = Mapping[str, Any]


@dataclass
class World:
    """Alice's deal with a task, a company and a contact, and Bob, who is always a moment faster."""

    alice: User = field(default_factory=cast.alice)
    bob: User = field(default_factory=cast.bob)
    deal: Opportunity = field(init=False)
    company: Company = field(init=False)
    contact: Contact = field(init=False)
    task: Task = field(init=False)
    point: ContactPoint = field(init=False)
    product: Product = field(init=False)
    level: AuthorityLevel = field(init=False)
    contract: Contract = field(init=False)
    draft: Contract = field(init=False)
    invoice: Invoice = field(init=False)
    ticket: Ticket = field(init=False)
    item: StockItem = field(init=False)
    reservation: Reservation = field(init=False)
    asked: AccessRequest = field(init=False)
    channel: ChannelAccount = field(init=False)
    mailbox: ChannelAccount = field(init=False)
    talk: Conversation = field(init=False)
    agents_talk: Conversation = field(init=False)
    template: MessageTemplate = field(init=False)

    def __post_init__(self) -> None:
        made = cast.propose("company.create", by=self.alice, name="Cold Chain Ltd", location="Natal")
        self.company = Company.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]
        self.contact = cast.contact(addresses=[{"kind": "email", "value": "rui@example.org"}], job_title="Buyer")
        self.point = self.contact.points.get()
        made = cast.propose("product.create", by=cast.manager(), name="PT-1000", series="A", currency="BRL")
        self.product = Product.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]
        made = cast.propose("authority.create", by=cast.administrator(), role="manager", amount="1000", currency="BRL")
        self.level = AuthorityLevel.objects.get(pk=made.subject.pk)  # type: ignore[union-attr]
        self.contract, self.draft, self.invoice = papers.offered(), papers.contract(), papers.invoice()
        self.deal = cast.deal(amount="100", company=self.company.pk)
        cast.propose("opportunity.plan_task", self.deal, by=self.alice, title="Send the offer", due_on=cast.MONDAY)
        self.deal.refresh_from_db()
        self.task = self.deal.tasks.get()
        doors_desk.build(self)
        doors_inbox.build(self)

    def before(self, action: str, subject: str, *, by: User | None = None, **params: Any) -> Outcome:
        """Bob does it first, on the version that Alice has in front of her too."""
        outcome = cast.propose(action, self.fresh(subject), by=by or self.bob, **params)
        assert outcome.written, outcome
        return outcome

    def fresh(self, name: str) -> Any:
        row = getattr(self, name)
        return type(row).objects.get(pk=row.pk)


@dataclass(frozen=True, kw_only=True)
class Door:
    """One way to change a subject. `sent` is the form without its version; `kept` says that Bob's work is in force."""

    subject: str
    sent: Callable[[World], Values]
    done: Callable[[World], bool]
    clash: Callable[[World], Any]
    kept: Callable[[World], bool]
    stale: frozenset[int] = frozenset({409})
    """Answers to the stale form; an addition beside another addition is in order (and leaves its record)."""
    url: Callable[[World], Values] = lambda w: {}
    by: Callable[[], User] = cast.alice


ADDS = frozenset({200, 302})


def deal(w: World) -> Values:
    return {"pk": w.deal.pk}


def contact(w: World) -> Values:
    return {"pk": w.contact.pk}


def completed_by_bob(w: World) -> bool:
    return w.fresh("task").state == "done" and w.fresh("task").author.name == "Bob Borges"


def amount(text: str) -> Callable[[World], bool]:
    return lambda w: str(w.fresh("deal").amount) == text


def in_stage(name: str) -> Callable[[World], bool]:
    return lambda w: w.fresh("deal").stage.name == name


def said(channel: str) -> bool:
    return Consent.objects.filter(channel=channel).exists()


DOORS: dict[str, tuple[Door, ...]] = {
    "deal_edit": (
        Door(
            subject="deal",
            url=deal,
            sent=lambda w: {"amount": "120"},
            done=amount("120.00"),
            clash=lambda w: w.before("opportunity.edit", "deal", amount="110"),
            kept=amount("110.00"),
        ),
    ),
    "deal_stage": (
        Door(
            subject="deal",
            url=deal,
            sent=lambda w: {"stage": cast.stage("Proposal").pk},
            done=in_stage("Proposal"),
            clash=lambda w: w.before("opportunity.move", "deal", stage=cast.stage("Negotiation").pk),
            kept=in_stage("Negotiation"),
        ),
        Door(
            subject="deal",
            url=deal,
            sent=lambda w: {"stage": cast.stage("Lost").pk, "reason": "price"},
            done=in_stage("Lost"),
            clash=lambda w: w.before("opportunity.move", "deal", stage=cast.stage("Won").pk),
            kept=in_stage("Won"),
        ),
    ),
    "deal_move": (
        Door(
            subject="deal",
            sent=lambda w: {"deal": w.deal.pk, "stage": cast.stage("Proposal").pk},
            done=in_stage("Proposal"),
            clash=lambda w: w.before("opportunity.move", "deal", stage=cast.stage("Negotiation").pk),
            kept=in_stage("Negotiation"),
        ),
        Door(  # the hand that moves the card relies on what the card says
            subject="deal",
            sent=lambda w: {"deal": w.deal.pk, "stage": cast.stage("Proposal").pk},
            done=in_stage("Proposal"),
            clash=lambda w: w.before("opportunity.edit", "deal", amount="110"),
            kept=lambda w: amount("110.00")(w) and in_stage("New")(w),
        ),
    ),
    "deal_plan": (
        Door(
            subject="deal",
            url=deal,
            sent=lambda w: {"title": "Call Rui", "due_on": "2031-06-20"},
            done=lambda w: Task.objects.filter(title="Call Rui").count() == 1,
            clash=lambda w: w.before("opportunity.plan_task", "deal", title="Visit", due_on="2031-06-01"),
            kept=lambda w: w.fresh("deal").next_step == "Visit",
            stale=ADDS,
        ),
    ),
    "deal_log": (
        Door(
            subject="deal",
            url=deal,
            sent=lambda w: {"kind": "note", "text": "They like it"},
            done=lambda w: Activity.objects.filter(text="They like it").count() == 1,
            clash=lambda w: w.before("opportunity.log", "deal", kind="note", text="Bob was here"),
            kept=lambda w: Activity.objects.filter(text="Bob was here").count() == 1,
            stale=ADDS,
        ),
    ),
    "deal_task": (
        Door(
            subject="deal",
            url=lambda w: {"pk": w.deal.pk, "task": w.task.pk, "verb": "complete"},
            sent=lambda w: {},
            done=lambda w: w.fresh("task").state == "done",
            clash=lambda w: w.before("opportunity.complete_task", "deal", task=w.task.pk),
            kept=completed_by_bob,
            stale=ADDS,  # done is done; the page says who was first
        ),
        Door(
            subject="deal",
            url=lambda w: {"pk": w.deal.pk, "task": w.task.pk, "verb": "put-off"},
            sent=lambda w: {"due_on": "2031-07-01"},
            done=lambda w: str(w.fresh("task").due_on) == "2031-07-01",
            clash=lambda w: w.before("opportunity.complete_task", "deal", task=w.task.pk),
            kept=completed_by_bob,
            stale=ADDS,
        ),
        Door(
            subject="deal",
            url=lambda w: {"pk": w.deal.pk, "task": w.task.pk, "verb": "give"},
            sent=lambda w: {"owner": w.bob.pk},
            done=lambda w: w.fresh("task").owner == w.bob,
            clash=lambda w: w.before("opportunity.complete_task", "deal", task=w.task.pk),
            kept=completed_by_bob,
            stale=ADDS,
        ),
        Door(
            subject="deal",
            url=lambda w: {"pk": w.deal.pk, "task": w.task.pk, "verb": "take"},
            sent=lambda w: {},
            done=lambda w: w.fresh("task").claimed_by == w.alice,
            clash=lambda w: w.before("opportunity.claim_task", "deal", task=w.task.pk),
            kept=lambda w: w.fresh("task").claimed_by == w.bob,
        ),
    ),
    "deal_people": (
        Door(
            subject="deal",
            url=lambda w: {"pk": w.deal.pk},
            sent=lambda w: {"contact": w.contact.name, "role": "buys"},
            done=lambda w: w.deal.participants.filter(contact=w.contact, removed=False).count() == 1,
            clash=lambda w: w.before("opportunity.log", "deal", kind="note", text="Bob was here"),
            kept=lambda w: Activity.objects.filter(text="Bob was here").count() == 1,
            stale=ADDS,
        ),
    ),
    "my_day_task": (
        Door(
            subject="deal",
            sent=lambda w: {"task": w.task.pk, "do": "done"},
            done=lambda w: w.fresh("task").state == "done",
            clash=lambda w: w.before("opportunity.complete_task", "deal", task=w.task.pk),
            kept=completed_by_bob,
        ),
    ),
    "company_edit": (
        Door(
            subject="company",
            url=lambda w: {"pk": w.company.pk},
            sent=lambda w: {"fact": "location", "location": "Recife"},
            done=lambda w: w.fresh("company").location == "Recife",
            clash=lambda w: w.before("company.edit", "company", location="Fortaleza"),
            kept=lambda w: w.fresh("company").location == "Fortaleza",
        ),
    ),
    "contact_edit": (
        Door(
            subject="contact",
            url=contact,
            sent=lambda w: {"fact": "job_title", "job_title": "Head of purchasing"},
            done=lambda w: w.fresh("contact").job_title == "Head of purchasing",
            clash=lambda w: w.before("contact.edit", "contact", job_title="Retired"),
            kept=lambda w: w.fresh("contact").job_title == "Retired",
        ),
    ),
    "contact_address_add": (
        Door(
            subject="contact",
            url=contact,
            sent=lambda w: {"kind": "email", "value": "rui@example.net", "label": ""},
            done=lambda w: ContactPoint.objects.filter(value="rui@example.net", removed=False).count() == 1,
            clash=lambda w: w.before("contact.add_address", "contact", kind="email", value="amaro@example.org"),
            kept=lambda w: ContactPoint.objects.filter(value="amaro@example.org", removed=False).exists(),
            stale=ADDS,
        ),
    ),
    "contact_address_remove": (
        Door(
            subject="contact",
            url=contact,
            sent=lambda w: {"point": w.point.pk},
            done=lambda w: w.fresh("point").removed,
            clash=lambda w: w.before("contact.remove_address", "contact", point=w.point.pk),
            kept=lambda w: w.fresh("point").removed and w.fresh("point").author.name == "Bob Borges",
        ),
    ),
    "contact_consent": (
        Door(
            subject="contact",
            url=contact,
            sent=lambda w: {"channel": "phone", "status": "granted", "source": "on the phone"},
            done=lambda w: said("phone"),
            clash=lambda w: w.before(
                "contact.state_consent", "contact", channel="email", status="refused", source="by mail"
            ),
            kept=lambda w: said("email"),
            stale=ADDS,
        ),
    ),
}

CREATES: dict[str, tuple[Any, Callable[[World], Values]]] = {
    "deal_new": (
        Opportunity,
        lambda w: {"name": "New deal", "stage": cast.stage("New").pk, "currency": "BRL", "owner": w.alice.pk},
    ),
    "company_new": (Company, lambda w: {"name": "Warm Chain Ltd"}),
    "contact_new": (Contact, lambda w: {"name": "Inês Prado"}),
}
"""Routes that make a new subject: nothing was read, so the key of the form is what makes it one."""

OTHERS: dict[str, str] = {
    "settle": "a decision on a version: tried below",
    "undo": "takes back a version: tried below",
    "suggestion_approve": "a yes to one content: tried below",
    "suggestions_approve": "the same yes to many at once: tried in tests/agents/test_suggestion_pages.py",
    "companies_bulk": "each on the version it was shown at: tried in tests/crm/test_bulk.py",
    "contacts_bulk": "each on the version it was shown at: tried in tests/crm/test_bulk.py",
    "suggestion_edit": "a suggestion is no subject; its yes is tried below",
    "suggestion_decline": "a suggestion is no subject: compare-and-swap on its state",
    "suggestion_snooze": "a suggestion is no subject: compare-and-swap on its state",
    "suggestion_ask_again": "a suggestion is no subject: compare-and-swap on its state",
    "deal_move_leave": "closes the person's own record of a refused move: compare-and-swap on still open",
    "live_here": "who looks at which page, in Redis",
    "preferences": "the person's own account",
    "ticket_next": "asks for any ticket: each is claimed on the version just read (tests/crm/test_ticket_pages.py)",
    "saved_view_save": "the person's own view of a list",
    "saved_view_delete": "the person's own view of a list",
    "chat_say": "a visitor's line under their own token, each line once: tried in tests/crm/test_webchat.py",
    "chat_typing": "who is typing, in Redis",
    "conversation_typing": "who is typing, in Redis",
    "whatsapp_webhook": "what a provider tells: signed, each message once (tests/channels)",
    "twilio_webhook": "what a provider tells: signed, each message once (tests/channels)",
    "twilio_status": "what became of a message, forward only: signed (tests/channels)",
    "sign_in": "a session",
    "sign_out": "a session",
}
"""Routes that take a POST and need no version, each with the reason."""

ADMIN: dict[str, str] = {
    "conflicts_authoritylevel_set": "through the gate, on the version that was shown",
    "conflicts_conflict_claim": "takes the conflict, or makes the claim longer: a lease",
    "conflicts_conflict_giveback": "gives one's own claim back: compare-and-swap on holder and fencing token",
    "conflicts_conflict_decide": "through the gate, on revision, version and claim as shown",
    "conflicts_conflict_many": "each a decision of its own, through the gate",
    "conflicts_lease_decide": "breaks the lease that was shown: compare-and-swap on its fencing token",
    "conflicts_job_decide": "retries or cancels the work in the state that was shown: compare-and-swap on it",
    "conflicts_outboxmessage_decide": "a word on the doubt that was shown: compare-and-swap on its record",
}
"""Addresses of the admin beyond Django's own, each tried in tests/admin/."""

WITHOUT_SUBJECT = frozenset(OTHERS) - {"settle", "undo", "suggestion_approve", "suggestion_edit", "ticket_next"}


@dataclass(frozen=True, kw_only=True)
class Deed:
    """How an action is tried: what it says, what Bob did first, which of it the author rested on."""

    subject: str
    params: Callable[[World], Values]
    clash: Callable[[World], Any]
    rests_on: tuple[str, ...] = ()
    """What the decision rested on, where it does not write the very same field."""
    prepare: Callable[[World], Any] = lambda w: None
    by: Callable[[], User | Actor] = cast.alice


def bob_edits(what: str, **params: Any) -> Callable[[World], Any]:
    return lambda w: w.before(f"{'opportunity' if what == 'deal' else what}.edit", what, **params)


def bob_plans(w: World) -> Any:
    return w.before("opportunity.plan_task", "deal", title="Visit", due_on="2031-06-01")


def bob_completes(w: World) -> Any:
    return w.before("opportunity.complete_task", "deal", task=w.task.pk)


def task_of(w: World) -> Values:
    return {"task": w.task.pk}


DEEDS: dict[str, Deed] = {
    "authority.edit": Deed(
        subject="level",
        by=cast.administrator,
        params=lambda w: {"amount": "5000"},
        clash=lambda w: w.before("authority.edit", "level", by=cast.other_administrator(), amount="7000"),
    ),
    "company.edit": Deed(
        subject="company", params=lambda w: {"location": "Recife"}, clash=bob_edits("company", location="Fortaleza")
    ),
    "contact.edit": Deed(
        subject="contact", params=lambda w: {"job_title": "Head"}, clash=bob_edits("contact", job_title="Retired")
    ),
    "contact.add_address": Deed(
        subject="contact",
        params=lambda w: {"kind": "email", "value": "new@example.org"},
        clash=lambda w: w.before("contact.add_address", "contact", kind="email", value="bobs@example.org"),
        rests_on=("points",),
    ),
    "contact.remove_address": Deed(
        subject="contact",
        params=lambda w: {"point": w.point.pk},
        clash=lambda w: w.before("contact.remove_address", "contact", point=w.point.pk),
    ),
    "contact.state_consent": Deed(
        subject="contact",
        params=lambda w: {"channel": "phone", "status": "granted", "source": "call"},
        clash=lambda w: w.before(
            "contact.state_consent", "contact", channel="phone", status="refused", source="by mail"
        ),
        rests_on=("consents",),
    ),
    "opportunity.edit": Deed(subject="deal", params=lambda w: {"amount": "120"}, clash=bob_edits("deal", amount="110")),
    "opportunity.move": Deed(
        subject="deal",
        params=lambda w: {"stage": cast.stage("Proposal").pk},
        clash=lambda w: w.before("opportunity.move", "deal", stage=cast.stage("Negotiation").pk),
    ),
    "opportunity.log": Deed(
        subject="deal",
        params=lambda w: {"kind": "note", "text": "Nobody has called"},
        clash=lambda w: w.before("opportunity.log", "deal", kind="call", text="I have"),
        rests_on=("activities",),
    ),
    "opportunity.plan_task": Deed(
        subject="deal", params=lambda w: {"title": "Call"}, clash=bob_plans, rests_on=("next_step_on",)
    ),
    "opportunity.follow_up": Deed(
        subject="deal",
        prepare=lambda w: w.before("opportunity.cancel_task", "deal", task=w.task.pk),
        params=lambda w: {"title": "Call", "due_on": "2031-06-10"},
        clash=bob_plans,
    ),
    "opportunity.add_participant": Deed(
        subject="deal",
        params=lambda w: {"contact": w.contact.pk},
        clash=lambda w: w.before("opportunity.add_participant", "deal", contact=w.contact.pk),
    ),
    "opportunity.remove_participant": Deed(
        subject="deal",
        prepare=lambda w: w.before("opportunity.add_participant", "deal", contact=w.contact.pk),
        params=lambda w: {"participant": w.deal.participants.get().pk},
        clash=lambda w: w.before("opportunity.remove_participant", "deal", participant=w.deal.participants.get().pk),
    ),
    "opportunity.complete_task": Deed(subject="deal", params=task_of, clash=bob_completes),
    "opportunity.cancel_task": Deed(subject="deal", params=task_of, clash=bob_completes),
    "opportunity.reschedule_task": Deed(
        subject="deal", params=lambda w: {"task": w.task.pk, "due_on": "2031-07-01"}, clash=bob_completes
    ),
    "opportunity.claim_task": Deed(
        subject="deal",
        params=task_of,
        clash=lambda w: w.before("opportunity.claim_task", "deal", task=w.task.pk),
    ),
    "opportunity.reopen_task": Deed(
        subject="deal",
        prepare=bob_completes,
        params=task_of,
        clash=lambda w: w.before("opportunity.reopen_task", "deal", task=w.task.pk),
    ),
    "product.edit": Deed(
        subject="product",
        by=cast.manager,
        params=lambda w: {"series": "B"},
        clash=lambda w: w.before("product.edit", "product", by=cast.administrator(), series="C"),
    ),
}
"""Every registered action that writes a subject which is there already."""

COMMANDS: dict[str, str] = {
    "import_csv": "through commit_many: tried below",
    "export_csv": "writes a file and no record",
    "receive_email": "what a mail server hands over, each mail once: tried in tests/crm/test_mail.py",
    "sweep": "through commit_many: tried below",
    "prune": "no subject: old ledger entries, ended jobs and their leases, events",
    "stages": "makes what is missing; changes nothing that is there",
    "load_sample": "only into a workspace without a deal; through the gate",
    "bench": "only its own scratch database",
    "race": "only its own scratch database",
    "replay_log": "only its own scratch database",
    "replay_chat": "only its own scratch database",
    "run": "starts processes, writes nothing",
}
TASKS: dict[str, str] = {
    "agents.tasks.sweep": "the same sweep as the command",
    "agents.tasks.turn": "answers what is due there, through the gate",
    "conflicts.tasks.work": "does what a job's row says, through the gate",
}

from tests import doors_desk, doors_inbox, doors_papers  # noqa: E402 - they take their words from here

DOORS |= doors_papers.DOORS | doors_desk.DOORS | doors_inbox.DOORS
CREATES |= doors_papers.CREATES | doors_desk.CREATES | doors_inbox.CREATES
OTHERS |= doors_inbox.OTHERS
DEEDS |= doors_papers.DEEDS | doors_desk.DEEDS | doors_inbox.DEEDS


def moves_elsewhere(w: World, name: str) -> bool:
    return doors_desk.elsewhere(w, name) or doors_inbox.elsewhere(w, name)
