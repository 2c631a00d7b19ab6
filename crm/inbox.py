"""The inbox: conversations as a list. Who answers them, how long they wait, what was said last.

Guarantees that only conversations a person may see are in it, that those which wait stand first and the longest wait on
top, that a page costs the same number of statements however many there are and however far one has gone (keyset), and
that whatever stands in the address bar is read as what it can mean or left out.
Next in the flow: `crm/views/inbox.py`; one conversation: `crm/thread.py`.
"""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject, Left
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from conflicts.sentences import Sentence
from crm import naming, slots, timers
from crm.channels import media
from crm.models import Contact, Conversation, Message, User
from crm.models.channel_account import Medium
from crm.models.conversation import Direction, Owner, Status

PAGE = 30
OF_RECORD = 5
"""Conversations that the page of a deal or a contact shows; the inbox has the rest."""
LONGEST = 100
WHOSE = {
    "": gettext_lazy("All"),
    "mine": gettext_lazy("Mine"),
    "unassigned": gettext_lazy("Unassigned"),
    "agent": gettext_lazy("Agent"),
}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the address bar says. All texts; empty means no filter."""

    whose: str = ""
    q: str = ""
    medium: str = ""
    closed: str = ""
    """ "1": those that are closed, instead of the open ones."""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filters":
        kept = {name: given.get(name, "").strip()[:LONGEST] for name in ("whose", "q", "medium", "closed")}
        if kept["whose"] not in WHOSE:
            kept["whose"] = ""
        if kept["medium"] not in Medium.values:
            kept["medium"] = ""
        if kept["closed"] != "1":
            kept["closed"] = ""
        return cls(**kept)

    @property
    def query(self) -> str:
        return self.but()

    def but(self, **changes: str) -> str:
        values = {**self.__dict__, **changes}
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def narrows(self) -> bool:
        return any((self.whose, self.q, self.medium, self.closed))

    @property
    def tabs(self) -> list[dict[str, Any]]:
        return [
            {"slug": slug, "label": label, "query": self.but(whose=slug), "current": slug == self.whose}
            for slug, label in WHOSE.items()
        ]


@dataclass(kw_only=True)
class Row:
    """One conversation in a list: the last line, and what is going on."""

    conversation: Conversation
    viewer: User
    left: float | None = None
    """Seconds until the agent's answer is due; None where none is."""
    writing: bool = False
    """The agent is writing right now."""

    @property
    def last(self) -> dict[str, Any]:
        return self.conversation.last or {}  # type: ignore[attr-defined]

    @property
    def line(self) -> str:
        """What was said last; of a message without words, what came with it."""
        if text := self.last.get("text"):
            return str(text)
        return ", ".join(capfirst(media.words(one)) for one in self.last.get("media") or [])

    @property
    def ours(self) -> bool:
        return bool(self.last.get("direction") == Direction.OUT)

    @property
    def about(self) -> str:
        """Whose company, else which deal."""
        talk = self.conversation
        return str(talk.contact.company or talk.opportunity or "")

    @property
    def at(self) -> dt.datetime:
        talk = self.conversation
        return talk.waiting_since or max(filter(None, (talk.last_inbound_at, talk.last_outbound_at, talk.changed_at)))

    @property
    def waits(self) -> bool:
        return self.conversation.waiting_since is not None

    @property
    def mine(self) -> bool:
        return self.conversation.owner_kind == Owner.PERSON and self.conversation.owner_id == self.viewer.pk

    @property
    def for_people(self) -> bool:
        return not self.conversation.is_agents

    @property
    def tone(self) -> str:
        if self.conversation.status == Status.CLOSED:
            return ""
        if self.waits and self.for_people and (self.mine or self.conversation.owner_id is None):
            return "warn"
        return "agent" if self.writing or self.left is not None else ""

    @property
    def icon(self) -> str:
        talk = self.conversation
        if talk.status == Status.CLOSED:
            return "check"
        if talk.is_agents:
            return "agent" if self.waits else "check"
        return "hand" if self.waits else "people"

    @property
    def words(self) -> str:
        """What is going on, in a few words."""
        talk = self.conversation
        if talk.status == Status.CLOSED:
            return pgettext("conversation", "Closed")
        if talk.is_agents:
            if self.writing:
                return _("The agent is writing")
            if self.left is not None:
                return counting(self.left)
            if self.waits:
                return _("Waits for the agent")
            return _("Answered by the agent") if talk.last_outbound_at else _("Agent has it")
        if talk.handed_over:
            why = reason_of(talk)
            if self.mine:
                return _("Handed to you: %(why)s") % {"why": why}
            if talk.owner is None:
                return _("Nobody has this one yet: %(why)s") % {"why": why}
            return _("Handed to %(who)s: %(why)s") % {"who": talk.owner, "why": why}
        if talk.owner is None:
            return _("Nobody has this one yet") if self.waits else _("Answered outside Vigente")
        if self.mine:
            return _("Waits for you") if self.waits else _("Yours")
        return _("Waits for %(who)s") % {"who": talk.owner} if self.waits else _("%(who)s has it") % {"who": talk.owner}


def counting(left: float) -> str:
    """The words beside the clock; static/js/inbox.js goes on counting."""
    return _("The agent answers in %(n)d s") % {"n": max(round(left), 0)} if left >= 1 else _("The agent answers now")


def reason_of(conversation: Conversation) -> str:
    """Why a person has it, in words."""
    return str(Sentence(f"handover.{conversation.handed_over}")) if conversation.handed_over else ""


# ------------------------------------------------------------------------------------------------------- which ones

_LAST = (
    Message.objects.filter(conversation=OuterRef("pk"), withdrawn=False)
    .exclude(direction=Direction.NOTE)
    .order_by("-at", "-id")
    .values(json=JSONObject(text=Left("text", 200), direction="direction", media="media", by="made_by"))[:1]
)


def around(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """With all that a row shows, in one statement."""
    return rows.select_related(
        "contact__company", "account", "owner", "opportunity__company", "opportunity__stage"
    ).annotate(last=Subquery(_LAST))


def conversations(filters: Filters, *, user: User) -> QuerySet[Conversation]:
    rows: QuerySet[Conversation] = Conversation.objects.visible_to(user)
    rows = rows.filter(status=Status.CLOSED if filters.closed else Status.OPEN)
    match filters.whose:
        case "mine":
            rows = rows.filter(owner_kind=Owner.PERSON, owner=user)
        case "unassigned":
            rows = rows.filter(owner_kind=Owner.PERSON, owner=None)
        case "agent":
            rows = rows.filter(owner_kind=Owner.AGENT)
    if filters.medium:
        rows = rows.filter(medium=filters.medium)
    if filters.q:
        key, text, digits = naming.key(filters.q), filters.q.lower(), re.sub(r"\D", "", filters.q)
        wanted = Q(title__icontains=filters.q) | Q(reply_to__icontains=text)
        if key:
            wanted |= Q(contact__name_key__contains=key) | Q(contact__company__name_key__contains=key)
        if len(digits) >= 4:
            wanted |= Q(peer__contains=digits)
        rows = rows.filter(wanted)
    return rows


@dataclass(kw_only=True)
class Page:
    rows: list[Row]
    after: str
    """Where the next page begins; empty on the last."""
    resumed: bool
    """Does not begin at the top."""


def page(request: HttpRequest, filters: Filters, *, after: str = "") -> Page:
    """Those that wait, the longest first; then the others, the last to move first."""
    user: User = request.user  # type: ignore[assignment]
    wanted = around(conversations(filters, user=user))
    part, start = _start(after)
    found: list[Conversation] = []
    if part == "w":
        waiting = wanted.filter(waiting_since__isnull=False)
        found = list(
            (waiting.filter(start) if start is not None else waiting).order_by("waiting_since", "pk")[: PAGE + 1]
        )
    if len(found) <= PAGE:
        rest = wanted.filter(waiting_since__isnull=True)
        rest = rest.filter(start) if start is not None and part == "a" else rest
        found += list(rest.order_by(F("changed_at").desc(), "-pk")[: PAGE + 1 - len(found)])
    more = len(found) > PAGE
    shown = found[:PAGE]
    return Page(rows=rows_of(request, shown), after=_mark(shown[-1]) if more else "", resumed=start is not None)


def rows_of(request: HttpRequest, found: Sequence[Conversation]) -> list[Row]:
    """Rows with the agent's clock and pen, in two statements for all of them."""
    user: User = request.user  # type: ignore[assignment]
    theirs = [one.pk for one in found if one.is_agents and one.waiting_since and one.status == Status.OPEN]
    left = timers.seconds_left(theirs) if theirs else {}
    writing = (
        {pk for given in slots.filled("inbox.writing", request, conversations=theirs) for pk in given}
        if theirs
        else set()
    )
    return [Row(conversation=one, viewer=user, left=left.get(one.pk), writing=one.pk in writing) for one in found]


def _mark(last: Conversation) -> str:
    if last.waiting_since is not None:
        return f"w~{last.waiting_since.isoformat()}~{last.pk}"
    return f"a~{last.changed_at.isoformat() if last.changed_at else ''}~{last.pk}"


def _start(after: str) -> tuple[str, Q | None]:
    """Which part the page begins in, and what lies behind the mark there; from the top for a mark that is none."""
    part, _tilde, rest = after.partition("~")
    text, _tilde, key = rest.rpartition("~")
    if part not in ("w", "a") or not (key.isascii() and key.isdigit() and len(key) < 19):
        return "w", None
    try:
        at = dt.datetime.fromisoformat(text)
    except ValueError:
        return "w", None
    if at.tzinfo is None:
        return "w", None
    pk = int(key)
    if part == "w":
        return "w", Q(waiting_since__gt=at) | Q(waiting_since=at, pk__gt=pk)
    return "a", Q(changed_at__lt=at) | Q(changed_at=at, pk__lt=pk)


# ------------------------------------------------------------------------------------------------------- how many


def counts(user: User) -> dict[str, int]:
    """Of the open ones the person may see, how many wait; by whom they wait for."""
    waiting = Conversation.objects.visible_to(user).filter(status=Status.OPEN, waiting_since__isnull=False)
    person = Q(owner_kind=Owner.PERSON)
    return waiting.aggregate(
        all=Count("pk"),
        mine=Count("pk", filter=person & Q(owner=user)),
        unassigned=Count("pk", filter=person & Q(owner=None)),
        agent=Count("pk", filter=Q(owner_kind=Owner.AGENT)),
    )


@slots.fill("nav.counts")
def nav_counts(request: HttpRequest, **offered: Any) -> dict[str, QuerySet[Any]]:
    """Those that wait for this person: their own, and those that nobody has."""
    return {"inbox": for_person(request.user)} if request.user.is_authenticated else {}


def for_person(user: User) -> QuerySet[Conversation]:
    """What waits for the person, or for whoever takes it."""
    return Conversation.objects.visible_to(user).filter(
        Q(owner=user) | Q(owner=None), owner_kind=Owner.PERSON, status=Status.OPEN, waiting_since__isnull=False
    )


# ------------------------------------------------------------------------------------------------------- other pages


@dataclass(kw_only=True)
class Waiting:
    """For My day: what waits for the person, and what waits for anybody."""

    rows: list[Row] = field(default_factory=list)
    more: bool = False


def waiting_for(request: HttpRequest, *, most: int = 8) -> Waiting:
    user: User = request.user  # type: ignore[assignment]
    found = list(around(for_person(user)).order_by("waiting_since", "pk")[: most + 1])
    return Waiting(rows=[Row(conversation=one, viewer=user) for one in found[:most]], more=len(found) > most)


def of_record(request: HttpRequest, **about: Any) -> list[Row]:
    """The conversations of a deal or a contact, the last to move first."""
    user: User = request.user  # type: ignore[assignment]
    rows = around(Conversation.objects.visible_to(user).filter(**about))
    found = list(rows.order_by("-changed_at", "-pk")[:OF_RECORD])
    return [Row(conversation=one, viewer=user) for one in found]


_PLAIN = ("status", "owner_kind", "handed_over", "waiting_since", "last_outbound_at", "last_inbound_at", "changed_at")

OF_DEAL = (
    Conversation.objects.filter(opportunity=OuterRef("pk"))
    .order_by("-changed_at", "-pk")
    .values(
        json=JSONObject(
            pk="pk",
            **{name: name for name in _PLAIN},
            contact="contact_id",
            contact_name="contact__name",
            owner="owner_id",
            first="owner__first_name",
            family="owner__last_name",
            last=Subquery(_LAST),
        )
    )[:OF_RECORD]
)
"""The conversations about a deal, with the deal, in one query (as its participants are)."""


def rows_of_deal(found: Sequence[Mapping[str, Any]], deal: Any, *, viewer: User) -> list[Row]:
    """What OF_DEAL has brought along, as rows."""
    rows = []
    for one in found:
        values = {name: one[name] for name in _PLAIN}
        for name in ("waiting_since", "last_outbound_at", "last_inbound_at", "changed_at"):
            values[name] = dt.datetime.fromisoformat(values[name]) if values[name] else None
        talk = Conversation(
            pk=one["pk"], opportunity=deal, contact=Contact(pk=one["contact"], name=one["contact_name"])
        )
        for name, value in values.items():
            setattr(talk, name, value)
        if one["owner"]:
            talk.owner = User(pk=one["owner"], first_name=one["first"], last_name=one["family"])
        talk.last = one["last"]  # type: ignore[attr-defined]
        rows.append(Row(conversation=talk, viewer=viewer))
    return rows
