"""The thread: one conversation from top to bottom, with everything that happened around it told in its place.

Guarantees that the customer, the agent, colleagues, notes and the system are told apart, that each message of ours
says how far it got (the outbox, and what the provider reported), and that what was taken back or dropped stays, with
the reason; in a fixed number of statements. What other apps know of it comes through the slot `conversation.told`:
each filler returns a list of `Told`. Next in the flow: `templates/inbox/thread.html`.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from conflicts import history
from conflicts.actors import Actor, Kind
from conflicts.models import Delivery, OutboxMessage
from conflicts.sentences import Sentence
from crm import slots
from crm.channels import media
from crm.models import Consent, Conversation, Message, MessageReport, Opportunity, User
from crm.models.contact import ConsentStatus
from crm.models.conversation import Direction, Owner, Status
from crm.models.conversation_timer import Report
from crm.templatetags.vigente import name_for

PAGE = 60
STORY = 400
"""Versions looked at for what happened beside the messages of a page."""
RUN = dt.timedelta(minutes=5)
"""Lines of one author within that time stand together, with one signature."""


@dataclass(kw_only=True)
class Told:
    """One thing in the thread. `part` is another app's: `{"template", "context"}`, shown by `{% part %}`."""

    at: dt.datetime
    kind: str
    """message, note, system or part."""
    words: str = ""
    by: Actor | None = None
    message: Message | None = None
    part: dict[str, Any] | None = None
    icon: str = "gear"
    tone: str = ""
    delivery: "Way | None" = None
    reactions: list[str] = field(default_factory=list)
    """Emoji, the customer's and ours."""
    order: int = 0
    version: int | None = None
    more: bool = False
    """Goes on from the line above."""
    signed: bool = True
    """The last of a run: says who and when."""
    new_day: bool = False

    @property
    def day(self) -> dt.date:
        return timezone.localtime(self.at).date()

    @property
    def inbound(self) -> bool:
        return self.message is not None and self.message.direction == Direction.IN

    @property
    def is_reaction(self) -> bool:
        return self.message is not None and reaction_of(self.message) is not None

    @property
    def media(self) -> list[str]:
        return [capfirst(media.words(one)) for one in self.message.media] if self.message else []

    @property
    def from_phone(self) -> bool:
        return self.by is not None and self.by.kind is Kind.INTEGRATION and not self.inbound


@dataclass(frozen=True, kw_only=True)
class Way:
    """How far a message of ours got."""

    state: str
    words: str
    tone: str = ""
    why: str = ""

    @property
    def under_way(self) -> bool:
        return self.state in (Delivery.QUEUED, Delivery.SENDING)


@dataclass(kw_only=True)
class Thread:
    told: list[Told]
    before: str
    """The key of the oldest message shown, where there are older ones."""
    last_said: int
    """The key of our last message, 0 for none: what an answer says that its author has seen."""
    newest: bool = True
    """It reaches to the present."""
    under_way: bool = False
    """Something is about to change by itself."""
    consents: list[Consent] = field(default_factory=list)


def thread(request: HttpRequest, conversation: Conversation, *, before: int | None = None) -> Thread:
    """The last PAGE messages, or those before the message `before`, with what happened between them."""
    rows = Message.objects.filter(conversation=conversation)
    if before is not None and (mark := rows.filter(pk=before).values_list("at", "pk").first()):
        rows = rows.filter(Q(at__lt=mark[0]) | Q(at=mark[0], pk__lt=mark[1]))
    found = list(rows.order_by("-at", "-id")[: PAGE + 1])
    more, found = len(found) > PAGE, found[:PAGE][::-1]
    since = found[0].at if more else None
    until = found[-1].at if before is not None and found else None
    ways = _ways(conversation, found)
    told = _with_reactions([_message(one, ways.get(one.pk)) for one in found])
    consents = list(Consent.objects.filter(contact=conversation.contact_id))
    viewer: User = request.user  # type: ignore[assignment]
    events = _events(conversation, viewer=viewer)
    _before_their_words(events, found)
    told += _within(events, since, until)
    first = min((one.at for one in told), default=None)  # what was agreed to before stands beside the thread
    told += _within(_statements(conversation, consents), since or first, until)
    for given in slots.filled("conversation.told", request, conversation=conversation):
        told += _within(given, since, until)
    told.sort(key=lambda one: (one.at, one.order))
    _group(told)
    ours = [one.pk for one in found if one.direction == Direction.OUT and not one.withdrawn]
    return Thread(
        told=told,
        before=str(found[0].pk) if more else "",
        last_said=max(ours, default=0),
        newest=before is None,
        under_way=any(way.under_way for way in ways.values()),
        consents=consents,
    )


def _before_their_words(events: Sequence[Told], messages: Sequence[Message]) -> None:
    """Who takes a conversation over by writing has it before the words."""
    spoken = {one.subject_version: one for one in messages if one.direction == Direction.OUT and not one.withdrawn}
    for event in events:
        if (message := spoken.get(event.version or 0)) is not None:
            event.at, event.order = message.at, message.pk - 1


def _within(told: Sequence[Told], since: dt.datetime | None, until: dt.datetime | None) -> list[Told]:
    return [one for one in told if (since is None or one.at >= since) and (until is None or one.at <= until)]


def _message(message: Message, way: Way | None) -> Told:
    kind = "note" if message.direction == Direction.NOTE else "message"
    return Told(at=message.at, kind=kind, by=message.maker, message=message, delivery=way, order=message.pk)


def reaction_of(message: Message) -> str | None:
    """The provider's number of the message that it is a reaction to; None for any other message."""
    [item] = message.media if len(message.media) == 1 else [{}]
    return item.get("id", "") if item.get("kind") == "reaction" and not message.text else None


def _with_reactions(told: list[Told]) -> list[Told]:
    """Reactions stand with their message where that is on the page; of each side the last one counts, none takes it
    back. What they react to may be further up: then they stand by themselves."""
    if not any(one.is_reaction for one in told):
        return told
    messages: list[tuple[Told, Message]] = [(one, one.message) for one in told if one.message is not None]
    keys = [message.outbox_key for _, message in messages if message.outbox_key]
    numbers = dict(OutboxMessage.objects.filter(key__in=keys).values_list("key", "remote_id"))
    known = {message.provider_id or numbers.get(message.outbox_key, ""): one for one, message in messages}
    known.pop("", None)
    left: list[Told] = []
    given: dict[tuple[str, bool], tuple[Told, str]] = {}
    for one, message in messages:
        about = reaction_of(message)
        if about is None or about not in known:
            left.append(one)
        else:
            given[about, one.inbound] = known[about], str(message.media[0].get("name", ""))
    for target, emoji in given.values():
        if emoji:
            target.reactions.append(emoji)
    return left


def _group(told: Sequence[Told]) -> None:
    """Days are parted, and lines of one author in a row are signed once."""
    for one in told[:1]:
        one.new_day = True
    for above, one in pairwise(told):
        one.new_day = above.day != one.day
        if one.new_day or {above.kind, one.kind} != {"message"} or not (above.inbound and one.inbound):
            continue
        if one.at - above.at <= RUN and not (above.message.late or one.message.late):  # type: ignore[union-attr]
            one.more, above.signed = True, False


# ------------------------------------------------------------------------------------------------ what became of it


def _ways(conversation: Conversation, messages: Sequence[Message]) -> dict[int, Way]:
    """Message -> how far it got: our outbox, then what the provider said of the number it gave."""
    ours = [one for one in messages if one.direction == Direction.OUT]
    keys = [one.outbox_key for one in ours if one.outbox_key]
    sent = {row.key: row for row in OutboxMessage.objects.filter(key__in=keys)} if keys else {}
    numbers = {row.remote_id for row in sent.values()} | {one.provider_id for one in ours} - {""}
    reports: dict[str, MessageReport] = {}
    if numbers:
        about = MessageReport.objects.filter(account=conversation.account_id)
        for told in about.filter(Q(provider_id__in=numbers) | Q(key__in=keys)):
            reports[told.provider_id] = told
            if told.key:
                reports[told.key] = told
    ways: dict[int, Way] = {}
    for one in ours:
        row = sent.get(one.outbox_key)
        number = row.remote_id if row else one.provider_id
        report = reports.get(number) or reports.get(one.outbox_key or "-")
        if way := _way(one, row, report):
            ways[one.pk] = way
    return ways


def _way(message: Message, row: OutboxMessage | None, report: MessageReport | None) -> Way | None:
    why = str(row.why) if row and row.why else ""
    if report is not None and report.state == Report.FAILED:
        return Way(state=report.state, words=_("not delivered"), tone="bad", why=report.error)
    refused = row is not None and row.why is not None and row.why.code.startswith("delivery.")
    if message.withdrawn and not refused:  # else it was the channel that failed, not we who thought better of it
        return Way(state="withdrawn", words=_("taken back, not sent"), tone="warn", why=why)
    if report is not None and report.state in (Report.DELIVERED, Report.READ):
        return Way(state=report.state, words=str(report.get_state_display()))
    if row is None:
        return Way(state=report.state, words=str(report.get_state_display())) if report else None
    match row.state:
        case Delivery.OUTCOME_UNKNOWN:
            words = _("nobody can tell yet whether it arrived")
            return Way(state=row.state, words=words, tone="warn", why=why)
        case Delivery.FAILED:
            return Way(state=row.state, words=_("not sent"), tone="bad", why=why)
    return Way(state=row.state, words=str(row.get_state_display()), why=why if row.state != Delivery.SENT else "")


# ------------------------------------------------------------------------------------------------ what happened


_SHOWN = ("owner_kind", "owner_id", "owner_epoch", "status", "opportunity_id", "handed_over")


def _events(conversation: Conversation, *, viewer: User) -> list[Told]:
    """Who took it, gave it, closed it: read from the history that the database keeps, so nothing can be left out."""
    events: Any = history.events_of(Conversation)._default_manager.filter(pgh_obj_id=conversation.pk)
    rows = list(events.order_by("-version").values("version", "changed_by", "changed_at", *_SHOWN)[:STORY])[::-1]
    changed = [(was, now) for was, now in pairwise(rows) if any(was[name] != now[name] for name in _SHOWN)]
    people = {row["owner_id"] for _, row in changed} - {None}
    deals = {row["opportunity_id"] for _, row in changed} - {None}
    names: dict[int, Any] = {one.pk: one for one in User.objects.filter(pk__in=people)} if people else {}
    seen = Opportunity.objects.visible_to(viewer).filter(pk__in=deals)
    about: dict[int, str] = dict(seen.values_list("pk", "name")) if deals else {}
    told = []
    if rows and rows[0]["version"] == 1:
        by = Actor.parse(rows[0]["changed_by"])
        if by.is_person:
            words = _("%(who)s began this conversation") % {"who": name_for(viewer, by, capital=True)}
            told.append(Told(at=rows[0]["changed_at"], kind="system", words=words, by=by, icon="chat"))
    for was, now in changed:
        by = Actor.parse(now["changed_by"])
        for words, icon, tone in _words(was, now, by, viewer=viewer, people=names, deals=about):
            told.append(
                Told(
                    at=now["changed_at"],
                    kind="system",
                    words=words,
                    by=by,
                    icon=icon,
                    tone=tone,
                    order=10**15,
                    version=now["version"],
                )
            )
    return told


def _words(
    was: dict[str, Any], now: dict[str, Any], by: Actor, *, viewer: User, people: dict[int, Any], deals: dict[int, str]
) -> Iterator[tuple[str, str, str]]:
    """(words, icon, tone) of one version beside the one before."""
    who = {"who": name_for(viewer, by, capital=True)}
    mine = (was["owner_kind"], was["owner_id"]) != (now["owner_kind"], now["owner_id"])
    if mine and now["owner_kind"] == Owner.AGENT:
        if by.is_person:
            yield _("%(who)s gave it back to the agent") % who, "agent", ""
        else:
            yield _("Back to the agent: nobody had given a sign for as long as this channel allows"), "agent", ""
    elif mine and now["handed_over"]:
        why = {"why": str(Sentence(f"handover.{now['handed_over']}"))}
        if (owner := people.get(now["owner_id"])) is not None:
            to = {**why, "who": name_for(viewer, owner)}
            yield _("Handed over to %(who)s. %(why)s") % to, "hand", "warn"
        else:
            yield _("Handed over; somebody has to take it. %(why)s") % why, "hand", "warn"
    elif mine and now["owner_id"] is None:
        yield _("Somebody answered outside Vigente. A person has it now"), "phone", ""
    elif mine and by.is_person and by.key == str(now["owner_id"]):
        yield _("%(who)s took it over") % who, "hand", ""
    elif mine:
        to = {**who, "to": name_for(viewer, people[now["owner_id"]]) if now["owner_id"] in people else "-"}
        yield _("%(who)s gave it to %(to)s") % to, "people", ""
    elif was["owner_epoch"] != now["owner_epoch"] and by.key.startswith("channel-"):
        yield _("Asked not to be written to any more. Nothing more is said by itself"), "x", "warn"
    if was["status"] != now["status"]:
        if now["status"] == Status.CLOSED:
            yield _("%(who)s closed it") % who, "check", ""
        elif by.is_person:
            yield _("%(who)s opened it again") % who, "back", ""
        else:
            yield _("Open again: the customer wrote"), "back", ""
    if was["opportunity_id"] != now["opportunity_id"]:
        if now["opportunity_id"] is None:
            yield _("%(who)s took the deal off it") % who, "x", ""
        else:
            deal = {**who, "deal": deals.get(now["opportunity_id"], "-")}
            yield _("%(who)s said it is about “%(deal)s”") % deal, "board", ""


def _statements(conversation: Conversation, consents: Sequence[Consent]) -> list[Told]:
    """What the customer said about being written to on this channel: opt-outs, and the way back."""
    told = []
    for one in consents:
        if one.channel != conversation.medium:
            continue
        refused = one.status == ConsentStatus.REFUSED
        words = (
            _("Does not want messages on this channel: %(source)s")
            if refused
            else _("Agreed to messages on this channel: %(source)s")
        )
        told.append(
            Told(
                at=one.at,
                kind="system",
                words=words % {"source": one.source},
                icon="x" if refused else "check",
                tone="warn" if refused else "",
                order=10**15,
            )
        )
    return told
