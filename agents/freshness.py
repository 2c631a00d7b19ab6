"""Is it still so? What a suggestion rests on, as read and as it is now, with one verdict.

Guarantees that the card says the same as the gate would: a line is "still so" by the comparison the gate makes (values
of the read set; aspects that were written since; a refusal of the channel that is meant). It is a look, not a lock: the
gate asks again when somebody says yes.
Next in the flow: `agents/cards.py`.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from agents import changes
from agents.changes import Moved
from agents.context import CONTACT, DEAL, Snapshot
from agents.facts import LINES
from agents.identity import short_name
from agents.models import Recommendation
from agents.recommenders.wording import CHANNEL
from conflicts.proposals import Read
from conflicts.refs import Ref
from conflicts.sentences import Sentence, aspects, date
from crm import follow_ups
from crm.follow_ups import Answered, Ground
from crm.models import User

UNREAD = {"contact_blocked": "stale.blocked", "stage_forbids_contact": "stale.stage"}
"""Questions of the gate about what need not be in a read set, in words for before the press."""
HEARD = {"customer_answered": "stale.customer_answered", "customer_waits": "stale.customer_waits"}
DERIVED = frozenset({"next_step", "next_step_at", "next_step_on", "stage_since"})
"""Not named in "what else has changed": they follow from what is named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    label: Sentence
    then: Sentence
    now: Sentence
    same: bool
    by: str = ""
    """Who changed it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Freshness:
    good: bool
    sentence: Sentence
    facts: tuple[Fact, ...]
    version_read: int
    version_now: int
    touched: frozenset[str] = frozenset()
    overtaken_by: str = ""
    """The text form of the Actor whose change it was."""

    @property
    def tone(self) -> str:
        return "ok" if self.good else "warn"


def moved_reads(recommendation: Recommendation, snapshot: Snapshot) -> list[Read]:
    """Those of the basis whose subject has another version now."""
    now = {Ref(DEAL, snapshot.pk): snapshot.version}
    if snapshot.contact:
        now[Ref(CONTACT, snapshot.contact.pk)] = snapshot.contact.version
    return [read for read in recommendation.reads if now.get(read.subject, read.version) != read.version]


def touched(reads: Iterable[Read], snapshot: Snapshot, moved: Mapping[Ref, Sequence[Moved]]) -> frozenset[str]:
    """What the suggestion rests on and what is not so any more: the gate's comparison, on the snapshot."""
    found: set[str] = set()
    for read in reads:
        if read.subject.label == DEAL:
            now = snapshot.values
        else:
            now = {"blocked": snapshot.contact.blocked} if snapshot.contact else {}
        found |= {name for name, value in read.values.items() if name in now and now[name] != value}
        # What the model's policy says of a yes, and of what an agent had read, beyond the read set.
        policy = read.subject.model.policy
        ground = read.aspects | policy.voids_approval | policy.demands_reread
        found |= ground & {change.aspect for change in moved.get(read.subject, ())}
    return frozenset(found)


def ground(
    recommendation: Recommendation,
    snapshot: Snapshot,
    *,
    now: dt.datetime,
    heard: tuple[str, dt.datetime] | None = None,
) -> Ground | None:
    """The facts of the gate's own questions (crm/follow_ups.py), from the snapshot; None for what is no follow-up."""
    if recommendation.action != "opportunity.follow_up":
        return None
    contact = snapshot.contact
    if contact is not None and Ref(CONTACT, contact.pk) not in {read.subject for read in recommendation.reads}:
        contact = None
    kind = str(recommendation.params.get("kind", ""))
    waits = snapshot.conversation.waiting_since if snapshot.conversation else None
    answered = Answered(on=snapshot.day_of(waits)) if waits else None
    if heard:
        answered = Answered(by=heard[0], on=snapshot.day_of(heard[1]))
    return Ground(
        kind=kind,
        today=snapshot.today(now),
        status=snapshot.status,
        status_words=snapshot.status,
        stage=snapshot.stage.name,
        contact_allowed=snapshot.stage.contact_allowed,
        next_step=snapshot.next_step,
        next_step_on=snapshot.next_step_on,
        planned_by="",
        owner=snapshot.owner.name if snapshot.owner else "",
        owner_moved=_owner_moved(recommendation, snapshot),
        contact=contact.name if contact else "",
        blocked=contact.blocked if contact else False,
        stated=contact.stated(CHANNEL.get(kind, "")) if contact else "",
        answered=answered,
    )


def _owner_moved(recommendation: Recommendation, snapshot: Snapshot) -> bool:
    read = next((read.values for read in recommendation.reads if read.subject.label == DEAL), {})
    return "owner" in read and read["owner"] != snapshot.values["owner"]


def refused(ground: Ground | None) -> frozenset[str]:
    """`consents`, if the contact refuses the very channel of this task. What is said of other channels does no harm."""
    no = follow_ups.may_be_reached(ground) if ground else None
    return frozenset({"consents"} if no and no.code == "consent_refused" else ())


def look(
    pairs: Sequence[tuple[Recommendation, Snapshot]], *, now: dt.datetime, viewer: User | None = None
) -> dict[int, Freshness]:
    """The freshness of each suggestion, by its key, in at most four queries for all of them."""
    old = {recommendation.pk: moved_reads(recommendation, snapshot) for recommendation, snapshot in pairs}
    moved = _since([read for reads in old.values() for read in reads])
    talked = {
        one.opportunity_id: one.version_read
        for one, _snapshot in pairs
        if any(m.aspect == "activities" for m in moved.get(Ref(DEAL, one.opportunity_id), ()))
    }
    heard = follow_ups.heard_since(talked) if talked else {}
    return {
        one.pk: _freshness(
            one, snapshot, old[one.pk], moved, now, viewer, ground(one, snapshot, now=now, heard=heard.get(snapshot.pk))
        )
        for one, snapshot in pairs
    }


def freshness(
    recommendation: Recommendation, snapshot: Snapshot, *, now: dt.datetime, viewer: User | None = None
) -> Freshness:
    return look([(recommendation, snapshot)], now=now, viewer=viewer)[recommendation.pk]


def _since(reads: Sequence[Read]) -> dict[Ref, tuple[Moved, ...]]:
    """One answer per subject: where two suggestions read one contact at two versions, from the older on."""
    oldest: dict[Ref, Read] = {}
    for read in reads:
        known = oldest.get(read.subject)
        if known is None or read.version < known.version:
            oldest[read.subject] = read
    return changes.since(oldest.values())


def _freshness(
    recommendation: Recommendation,
    snapshot: Snapshot,
    old: Sequence[Read],
    all_moved: Mapping[Ref, Sequence[Moved]],
    now: dt.datetime,
    viewer: User | None,
    stands_on: Ground | None,
) -> Freshness:
    moved = {read.subject: [m for m in all_moved.get(read.subject, ()) if m.version > read.version] for read in old}
    gone = touched(recommendation.reads, snapshot, moved) | refused(stands_on)
    flat = [(ref, change) for ref, found in moved.items() for change in found]
    decisive = [change for _, change in flat if change.aspect in gone]
    sentence = _verdict(recommendation, snapshot, gone, flat, decisive, now, viewer, stands_on)
    return Freshness(
        good=sentence.code.startswith("fresh."),
        sentence=sentence,
        facts=tuple(_facts(recommendation, snapshot, gone, decisive, viewer)),
        version_read=recommendation.version_read,
        version_now=snapshot.version,
        touched=gone,
        overtaken_by=decisive[-1].by if decisive else "",
    )


def _facts(
    recommendation: Recommendation,
    snapshot: Snapshot,
    gone: frozenset[str],
    decisive: Sequence[Moved],
    viewer: User | None,
) -> Iterable[Fact]:
    for stored in recommendation.facts:
        line = LINES.get(stored["aspect"])
        if line is None:
            continue  # a line of an older release; its field is still in the read set
        by = [change for change in decisive if change.aspect in line.aspects]
        then, now_is, lost = Sentence.from_json(stored["value"]), line.say(snapshot), line.aspects & gone
        yield Fact(
            label=Sentence(line.label),
            then=then,
            now=now_is,
            # A refused call does not change what was said about e-mails.
            same=not lost or (lost == {"consents"} and now_is == then),
            by=_who(by[-1], viewer) if by else "",
        )


def _verdict(
    recommendation: Recommendation,
    snapshot: Snapshot,
    gone: frozenset[str],
    flat: Sequence[tuple[Ref, Moved]],
    decisive: Sequence[Moved],
    now: dt.datetime,
    viewer: User | None,
    stands_on: Ground | None,
) -> Sentence:
    no = follow_ups.first_no(stands_on) if stands_on else None
    if no and no.code in HEARD:
        # Also where something else has moved: that the customer spoke is what the reader needs to know.
        return Sentence(HEARD[no.code], {**no.facts, "who": _name(no.facts.get("who"), viewer)})
    if gone:
        who = _who(decisive[-1], viewer) if decisive else "-"
        if "status" in gone and snapshot.status != "open":
            return Sentence("stale.closed", {"who": who})
        if "next_step_on" in gone and snapshot.next_step_on and snapshot.next_step_on >= snapshot.today(now):
            step = {"next_step": snapshot.next_step, "day": date(snapshot.next_step_on)}
            return Sentence("stale.planned", {"who": who, **step})
        if gone == {"consents"} and refused(stands_on) and snapshot.contact:
            statement = snapshot.contact.consents[CHANNEL[recommendation.params["kind"]]]
            code = f"stale.refused.{recommendation.params['kind']}"
            return Sentence(code, {"who": snapshot.contact.name, "day": date(statement.on)})
        label = DEAL if gone & snapshot.values.keys() else CONTACT
        names = [name for name in sorted(gone) if name not in DERIVED] or sorted(gone)
        return Sentence("stale.moved", {"who": who, "what": aspects(label, names)})
    if no:
        # The read set holds, and still the gate would say no: whatever it is, it is said before the press.
        return Sentence(UNREAD.get(no.code, no.code), no.facts)
    if recommendation.expires_at <= now:
        return Sentence("stale.expired")
    of_deal = [change for ref, change in flat if ref.label == DEAL]
    if of_deal:
        seen = list(dict.fromkeys(change.aspect for change in of_deal))
        shown = aspects(DEAL, [name for name in seen if name not in DERIVED] or seen)
        read, who = recommendation.version_read, _who(of_deal[-1], viewer)
        return Sentence("fresh.moved", {"read": read, "what": shown, "who": who})
    if flat:
        return Sentence("fresh.contact", {"who": _who(flat[-1][1], viewer)})
    return Sentence("fresh.unmoved", {"read": recommendation.version_read})


def _name(fact: dict[str, str] | None, viewer: User | None) -> str:
    return _who(Moved(0, "", fact["actor"]), viewer) if fact else ""


def _who(change: Moved, viewer: User | None) -> str:
    actor = change.actor
    if viewer is not None and actor.is_person and actor.key == str(viewer.pk):
        return gettext("You")
    return short_name(actor)
