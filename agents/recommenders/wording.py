"""From a rule's wish to a follow-up task: its kind, its words and the read set that goes with them.

Guarantees that a call or an e-mail is only wished for where the stage and the contact allow it, that the read set then
holds the consent, and that the text of the task stands in the owner's language. Templates with facts of the database,
never free text.
"""

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.utils.text import Truncator
from django.utils.translation import override

from agents.context import Snapshot
from agents.recommenders.answers import Points, Suggestion
from conflicts.sentences import Sentence, date

CHANNEL = {"call": "phone", "mail": "email"}
"""The channel whose consent a kind of task needs."""
FAMILIES = ("follow", "reply", "close")
KINDS = ("call", "mail", "todo")


@dataclass(frozen=True, kw_only=True, slots=True)
class FollowUp:
    rule: str
    words: str
    """Which family of words: `follow`, `reply` (an e-mail waits) or `close` (the closing day has passed)."""
    why: Sentence
    due_on: dt.date
    fields: tuple[str, ...]
    """What the rule looked at, beyond what every follow-up rests on."""
    rests_on: tuple[str, ...]
    score: tuple[Points, ...]


def expiry(deal: Snapshot, due: dt.date) -> dt.datetime:
    """A suggestion for a day ends with that day, where the owner works."""
    return dt.datetime.combine(due + dt.timedelta(days=1), dt.time(), ZoneInfo(deal.zone))


def kind_of_task(deal: Snapshot) -> str:
    """A call where the customer may be called, else an e-mail where that is allowed, else a task among ourselves."""
    if not deal.stage.contact_allowed or not (deal.contact or deal.company):
        return "todo"
    if deal.contact is None or not deal.contact.refuses("phone"):
        return "call"
    return "todo" if deal.contact.refuses("email") else "mail"


def follow_up(deal: Snapshot, wish: FollowUp) -> Suggestion:
    kind = kind_of_task(deal)
    who = (deal.contact.name if deal.contact else "") or deal.company or deal.name
    # Whole sentences, one for each family and kind: each language has its own order of words.
    facts = {"who": who, "deal": deal.name, "day": date(wish.due_on)}
    with override(deal.language):
        task = str(Sentence(f"task.{wish.words}.{kind}", facts))
    basis = [deal.reads("status", "next_step_on", "owner", *wish.fields)]
    rests_on = ["status", "next_step", *wish.rests_on, "owner"]
    if kind in CHANNEL and deal.contact:
        basis = [deal.reads("status", "next_step_on", "owner", "contact", *wish.fields), deal.reads_contact()]
        rests_on.append("calls" if kind == "call" else "mails")
    return Suggestion(
        rule=wish.rule,
        action="opportunity.follow_up",
        params={"title": Truncator(task).chars(200), "kind": kind, "due_on": wish.due_on.isoformat()},
        title=Sentence(f"title.{wish.words}.{kind}", facts),
        why=wish.why,
        basis=tuple(basis),
        rests_on=tuple(rests_on),
        due_on=wish.due_on,
        score=wish.score,
        expires_at=expiry(deal, wish.due_on),
    )
