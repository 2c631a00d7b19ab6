"""The hard stops, in their order; the first that fires ends it and is shown with its code.

G1 closed · G2 must not be contacted · G3 a person has the conversation · G4 the customer waits for an answer ·
G5 a next step is planned · G6 planned absurdly far away · G7 something is open already · G8 declined lately.
What the gates look at is revalidated by the gate of the kernel when the wish is carried out (crm/actions/tasks.py).
"""

import datetime as dt
from collections.abc import Callable

from agents.context import SUPPRESSED, Snapshot
from agents.recommenders.answers import Answer, LeftAlone
from conflicts.sentences import Sentence, date

HUMAN_COOLDOWN = dt.timedelta(hours=48)
"""So long after a person's last sign in a conversation the agents keep silent."""
DEFAULT_HORIZON = 180
"""Days: a next step further away counts as parked, in a stage without a limit of its own."""
LOOK_AGAIN = dt.timedelta(days=7)


def horizon_days(limit: int | None) -> int:
    """How far ahead a next step still counts as planned: twice the stage's limit."""
    return 2 * limit if limit else DEFAULT_HORIZON


def closed(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    if deal.status == "open":
        return None
    return LeftAlone(code="G1", why=Sentence("g1.won" if deal.status == "won" else "g1.lost"))


def not_to_be_contacted(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    contact = deal.contact
    if contact is None or not (contact.blocked or (contact.refuses("phone") and contact.refuses("email"))):
        return None
    # The consent lives on the contact and does not raise the deal's version: so this is looked at again by date.
    review = deal.today(now) + LOOK_AGAIN
    return LeftAlone(code="G2", why=Sentence("g2", {"who": contact.name}), review_on=review)


def person_has_it(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    talk = deal.conversation
    if talk is None or talk.human_since is None or now - talk.human_since > HUMAN_COOLDOWN:
        return None
    until = deal.day_of(talk.human_since + HUMAN_COOLDOWN)
    return LeftAlone(code="G3", why=Sentence("g3", {"who": talk.human}), review_on=until + dt.timedelta(days=1))


def customer_waits(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    talk = deal.conversation
    if talk is None or talk.waiting_since is None:
        return None
    since = date(deal.day_of(talk.waiting_since))
    return LeftAlone(code="G4", why=Sentence("g4", {"day": since}), review_on=deal.today(now) + dt.timedelta(days=1))


def has_next_step(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    today, day = deal.today(now), deal.next_step_on
    if day is None or day < today or (day - today).days > horizon_days(deal.stage.limit):
        return None
    why = Sentence("g5", {"what": deal.next_step, "day": date(day)})
    return LeftAlone(code="G5", why=why, review_on=day + dt.timedelta(days=1))


def parked(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    today, day = deal.today(now), deal.next_step_on
    if day is None or day < today:
        return None
    return LeftAlone(
        code="G6", why=Sentence("g6", {"what": deal.next_step, "day": date(day)}), review_on=today + LOOK_AGAIN
    )


def already_open(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    if deal.unsettled:
        return LeftAlone(code="G7", why=Sentence("g7.unsettled"), review_on=deal.today(now) + dt.timedelta(days=1))
    return LeftAlone(code="G7", why=Sentence("g7")) if deal.suggestion else None


def declined(deal: Snapshot, wish: Answer, now: dt.datetime) -> LeftAlone | None:
    rule = getattr(wish, "rule", "")
    for no in deal.declined:
        # A deal that changed after the "no" is another question.
        if no.rule in (rule, "") and deal.changed_at <= no.at and now < no.at + SUPPRESSED:
            until = deal.day_of(no.at + SUPPRESSED)
            facts = {"day": date(deal.day_of(no.at)), "until": date(until)}
            return LeftAlone(code="G8", why=Sentence("g8" if no.rule else "g8.overridden", facts), review_on=until)
    return None


GATES: tuple[Callable[[Snapshot, Answer, dt.datetime], LeftAlone | None], ...] = (
    closed,
    not_to_be_contacted,
    person_has_it,
    customer_waits,
    has_next_step,
    parked,
    already_open,
    declined,
)


def first_that_fires(deal: Snapshot, wish: Answer, *, now: dt.datetime) -> LeftAlone | None:
    """`wish` is what the rules would say; only the last two gates look at it."""
    return next((stop for gate in GATES if (stop := gate(deal, wish, now))), None)
