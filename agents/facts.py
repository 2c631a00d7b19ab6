"""The lines of a suggestion's card: what it rests on, said once when it was read and again from what is in force now.

Guarantees that "then" and "now" are put into words by the same function, so that they differ only if the deal does.
Each line names the fields and aspects it stands for: by them `agents/freshness.py` knows which line has moved.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agents.context import Snapshot
from conflicts.sentences import Sentence, date

NOTHING = Sentence("value.none")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    label: str
    """Sentence code."""
    aspects: frozenset[str]
    say: Callable[[Snapshot], Sentence]


def _text(text: str) -> Sentence:
    return Sentence("value.text", {"text": text}) if text else NOTHING


def _next_step(deal: Snapshot) -> Sentence:
    if deal.next_step_on is None:
        return NOTHING
    return Sentence("value.step", {"what": deal.next_step, "day": date(deal.next_step_on)})


def _last_contact(deal: Snapshot) -> Sentence:
    if deal.last_contact_at is None:
        return NOTHING
    return Sentence("value.day", {"day": date(deal.day_of(deal.last_contact_at))})


def _stage(deal: Snapshot) -> Sentence:
    return Sentence("value.since", {"what": deal.stage.name, "day": date(deal.stage_since)})


def _closes(deal: Snapshot) -> Sentence:
    return Sentence("value.day", {"day": date(deal.expected_close)}) if deal.expected_close else NOTHING


def _status(deal: Snapshot) -> Sentence:
    return Sentence(f"value.{deal.status}")


def _consent(channel: str) -> Callable[[Snapshot], Sentence]:
    def say(deal: Snapshot) -> Sentence:
        contact = deal.contact
        if contact is None:
            return NOTHING
        if contact.blocked:
            return Sentence("value.blocked", {"who": contact.name})
        statement = contact.consents.get(channel)
        if statement is None:
            return Sentence("value.not_refused", {"who": contact.name})
        code = "value.allowed" if statement.granted else "value.refused"
        return Sentence(code, {"who": contact.name, "day": date(statement.on)})

    return say


_REACH = frozenset({"contact", "blocked", "consents"})

LINES: dict[str, Line] = {
    "status": Line(label="fact.status", aspects=frozenset({"status"}), say=_status),
    "next_step": Line(label="fact.next_step", aspects=frozenset({"next_step", "next_step_on"}), say=_next_step),
    "last_contact": Line(label="fact.last_contact", aspects=frozenset({"last_contact_at"}), say=_last_contact),
    "stage": Line(label="fact.stage", aspects=frozenset({"stage", "stage_since"}), say=_stage),
    "expected_close": Line(label="fact.closes", aspects=frozenset({"expected_close"}), say=_closes),
    "owner": Line(
        label="fact.owner", aspects=frozenset({"owner"}), say=lambda deal: _text(deal.owner.name if deal.owner else "")
    ),
    "calls": Line(label="fact.calls", aspects=_REACH, say=_consent("phone")),
    "mails": Line(label="fact.mails", aspects=_REACH, say=_consent("email")),
}
