"""The rules, in their order; the first that matches speaks. R11 always does: never silence.

R3 the next step is late · R5 a new deal nobody has spoken about · R6 an e-mail without an answer · R7 the closing day
has passed · R8 silence for longer than the stage allows, at most a week · R11 nothing to do, looked at again on a day.
Days are working days, Monday to Friday, in the zone of the deal's owner. Ties are broken by nothing: there are none,
the first match ends it. A priority is a sum whose every term says what earned it.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from zoneinfo import ZoneInfo

from agents.context import Snapshot
from agents.days import is_working, working_days_after
from agents.recommenders.answers import Answer, LeftAlone, Points, Suggestion
from agents.recommenders.wording import FollowUp, expiry, follow_up
from conflicts.sentences import Sentence, date

NEW_FOR = dt.timedelta(days=7)
"""Older than that, a deal that nobody has touched is not new any more but idle (R8)."""
LATEST_HOUR = 17
"""After that hour of the owner's day a call for today is one for tomorrow."""
CADENCE = (2, 4, 7)
"""Working days after the first, second, third e-mail without an answer. After the third the deal is idle (R8)."""
CADENCE_OVER = 28
"""Days after which an e-mail is not waited for any more."""
IDLE_LIMIT = 7
"""Days of silence that a deal without a next step may rest, where its stage does not allow less."""
REVIEW_WITHIN = dt.timedelta(days=30)


def idle_since(deal: Snapshot) -> dt.date:
    """The clock of idleness: the last contact, else the day it came into its stage."""
    return deal.day_of(deal.last_contact_at) if deal.last_contact_at else deal.stage_since


def idle_limit(deal: Snapshot) -> int:
    """All that comes this far has no plan (gate G5), so the stage's limit counts only where it is the shorter one."""
    return min(deal.stage.limit or IDLE_LIMIT, IDLE_LIMIT)


def late_step(deal: Snapshot, now: dt.datetime) -> Suggestion | LeftAlone | None:
    """R3: do it or give it another day. A task that a person has taken is that person's to move."""
    today, day = deal.today(now), deal.next_step_on
    if day is None or day >= today or deal.step is None:
        return None
    if deal.step.claimed_by:
        why = Sentence("r11.claimed", {"who": deal.step.claimed_by, "what": deal.step.title, "day": date(day)})
        return LeftAlone(code="R11", why=why, review_on=today + dt.timedelta(days=1))
    due = working_days_after(today, 1)
    return Suggestion(
        rule="R3",
        action="opportunity.reschedule_task",
        params={"task": deal.step.pk, "due_on": due.isoformat()},
        title=Sentence("r3.title", {"what": deal.step.title, "day": date(due)}),
        why=Sentence("r3.why", {"day": date(day)}),
        basis=(deal.reads("status", "next_step", "next_step_on"),),
        rests_on=("status", "next_step"),
        due_on=due,
        score=tuple(_score(deal, 50, Sentence("points.late"), late=(today - day).days)),
        expires_at=expiry(deal, due),
    )


def new_and_untouched(deal: Snapshot, now: dt.datetime) -> Suggestion | None:
    """R5. Only days are known of a deal's birth, so the call is for the same day, and first in every list."""
    today = deal.today(now)
    if deal.last_contact_at or not deal.stage.is_first or not dt.timedelta(0) <= today - deal.stage_since <= NEW_FOR:
        return None
    still_time = is_working(today) and now.astimezone(ZoneInfo(deal.zone)).hour < LATEST_HOUR
    return follow_up(
        deal,
        FollowUp(
            rule="R5",
            words="follow",
            why=Sentence("r5.why", {"day": date(deal.stage_since)}),
            due_on=today if still_time else working_days_after(today, 1),
            fields=("last_contact_at", "stage", "stage_since"),
            rests_on=("last_contact", "stage"),
            score=tuple(_score(deal, 60, Sentence("points.new"))),
        ),
    )


def unanswered_mail(deal: Snapshot, now: dt.datetime) -> Suggestion | None:
    """R6: step k of the cadence."""
    if not 1 <= deal.unanswered_mails <= len(CADENCE) or deal.last_contact_at is None:
        return None
    today, sent = deal.today(now), deal.day_of(deal.last_contact_at)
    due = max(working_days_after(sent, CADENCE[deal.unanswered_mails - 1]), working_days_after(today, 1))
    if (today - sent).days > CADENCE_OVER:
        return None  # that is idleness (R8)
    return follow_up(
        deal,
        FollowUp(
            rule="R6",
            words="reply",
            why=Sentence("r6.why", {"day": date(sent)}),
            due_on=due,
            fields=("last_contact_at",),
            rests_on=("last_contact",),
            score=tuple(_score(deal, 30, Sentence("points.mail"), late=(today - sent).days)),
        ),
    )


def close_passed(deal: Snapshot, now: dt.datetime) -> Suggestion | None:
    """R7: the day is the customer's to give, so the wish is to ask, not to write another day."""
    today = deal.today(now)
    if deal.expected_close is None or deal.expected_close >= today:
        return None
    return follow_up(
        deal,
        FollowUp(
            rule="R7",
            words="close",
            why=Sentence("r7.why", {"day": date(deal.expected_close)}),
            due_on=working_days_after(today, 1),
            fields=("expected_close",),
            rests_on=("expected_close",),
            score=tuple(_score(deal, 40, Sentence("points.close"), late=(today - deal.expected_close).days)),
        ),
    )


def idle(deal: Snapshot, now: dt.datetime) -> Suggestion | None:
    """R8."""
    today, since = deal.today(now), idle_since(deal)
    if (today - since).days <= idle_limit(deal):
        return None
    spoken = deal.last_contact_at is not None
    return follow_up(
        deal,
        FollowUp(
            rule="R8",
            words="follow",
            why=Sentence("r8.why" if spoken else "r8.why.never", {"day": date(since), "stage": deal.stage.name}),
            due_on=working_days_after(today, 2),
            fields=("last_contact_at", "stage") if spoken else ("last_contact_at", "stage", "stage_since"),
            rests_on=("last_contact", "stage"),
            score=tuple(_score(deal, 20, Sentence("points.idle"), late=(today - since).days - idle_limit(deal))),
        ),
    )


def nothing(deal: Snapshot, now: dt.datetime) -> LeftAlone:
    """R11: the day on which one of the other rules could speak, at the latest in a month."""
    today = deal.today(now)
    days = [today + REVIEW_WITHIN, idle_since(deal) + dt.timedelta(days=idle_limit(deal) + 1)]
    if deal.expected_close:
        days.append(deal.expected_close + dt.timedelta(days=1))
    review = min(day for day in days if day > today)
    if deal.last_contact_at:
        why = Sentence("r11", {"day": date(deal.day_of(deal.last_contact_at)), "review": date(review)})
    else:
        why = Sentence("r11.never", {"day": date(deal.stage_since), "review": date(review)})
    return LeftAlone(code="R11", why=why, review_on=review)


RULES: tuple[Callable[[Snapshot, dt.datetime], Answer | None], ...] = (
    late_step,
    new_and_untouched,
    unanswered_mail,
    close_passed,
    idle,
    nothing,
)


def first_match(deal: Snapshot, *, now: dt.datetime) -> Answer:
    return next(answer for rule in RULES if (answer := rule(deal, now)))


def _score(deal: Snapshot, base: int, why: Sentence, *, late: int = 0) -> Iterator[Points]:
    yield Points(count=base, why=why)
    if late > 0:
        yield Points(count=min(late, 30), why=Sentence("points.days"))
    if deal.amount is not None and deal.amount >= 1000:
        # One step for each further digit: 1,000 earns 5, 10,000 earns 10.
        yield Points(count=min(5 * (len(str(int(deal.amount))) - 3), 25), why=Sentence("points.amount"))
