"""The sweep: every open deal without a valid next step gets a suggestion or a reason. Rows are the truth, it finds all.

Guarantees that two sweeps at once do no harm (one open suggestion per deal, by the unique key), that a sweep which dies
has lost nothing (each page is kept before the next is read; the next sweep goes on), and that nothing is passed over in
silence. In this order: wake what was put off, expire what is past, carry out what was approved, close what a person has
overtaken, then look at the deals, queue by queue and page by page, and propose what people have room for
(`agents/backpressure.py`). Next in the flow: `agents/loading.py`.
"""

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import batched

from django.db.models import BigIntegerField, DateField, Exists, ExpressionWrapper, F, OuterRef, Q, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Coalesce

from agents import backpressure, freshness, loading
from agents.execution import ATTEMPTS, carry_out, carry_out_all, supersede
from agents.models import Mode, Recommendation, SweepRun, Verdict
from agents.policies import Autonomy
from agents.proposing import record
from agents.recommendations import expire_due, wake_snoozed
from agents.recommenders import decide
from agents.recommenders.answers import LeftAlone
from agents.recommenders.gates import DEFAULT_HORIZON
from agents.states import State
from conflicts.clock import database_now
from crm.clock import today_for
from crm.models import Opportunity
from crm.models.opportunity import OpportunityQuerySet

PAGE = 500
GRACE = dt.timedelta(minutes=1)
"""So long a yes that is not carried out yet is taken to be in somebody's hands."""
FORGET_AFTER = dt.timedelta(days=7)

type Progress = Callable[[int], None]


def sweep(
    *,
    now: dt.datetime | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    per_person: int | None = None,
) -> SweepRun:
    """One pass. `seconds`: stop between two pages after so long; what is left waits for the next sweep.

    `per_person`: how many suggestions may wait for one person, 0 for any number; by default what the settings say.
    """
    most = backpressure.limit() if per_person is None else per_person
    now = now or database_now()
    started = time.monotonic()
    # By the clock that `_forget` goes by: a sweep must never take another, still running, for one of last week.
    run = SweepRun.objects.create(started_at=now)
    wake_snoozed(now=now)
    expire_due(now=now)
    resume(now=now)
    close_overtaken(now=now)
    autonomy = Autonomy.load()
    passed: Counter[str] = Counter()
    for page in _pages(candidates(now=now, per_person=most)):
        deals = loading.load(page, now=now)
        answers = backpressure.hold_back(
            [(deal, decide(deal, now=now)) for deal in deals], autonomy=autonomy, now=now, most=most
        )
        passed.update(answer.code for _, answer in answers if isinstance(answer, LeftAlone))
        made = record(answers, autonomy=autonomy, run=run)
        run.looked_at += len(deals)
        run.proposed += len(made)
        run.acted += act([one for one in made if one.mode == Mode.ACT], now=now, autonomy=autonomy, run=run)
        run.passed = dict(sorted(passed.items()))
        run.save(update_fields=["looked_at", "proposed", "acted", "passed"])
        if progress:
            progress(len(deals))
        if seconds is not None and time.monotonic() - started > seconds:
            break
    run.finished_at = database_now()
    run.save(update_fields=["finished_at"])
    _forget(now=now)
    return run


def begun_within(seconds: float) -> bool:
    """Whether a sweep has begun in the last `seconds`. Two that ask at once may both hear no: that does no harm."""
    now = database_now()
    return SweepRun.objects.filter(started_at__gt=now - dt.timedelta(seconds=seconds), started_at__lte=now).exists()


def candidates(*, now: dt.datetime, per_person: int | None = None) -> OpportunityQuerySet:
    """Open deals whose next step is absent, late, or further away than twice the stage's limit (else 180 days).

    Left out: those with an open suggestion, and those that got a reason at this very version which still holds today.
    That somebody's queue is full holds as long as it is.
    """
    # It is not one day everywhere: what could be late or too far away for some owner is looked at, and the gates ask
    # again with the owner's own day.
    utc = now.astimezone(dt.UTC)
    latest, earliest = (utc + dt.timedelta(hours=14)).date(), (utc - dt.timedelta(hours=12)).date()
    horizon = ExpressionWrapper(
        Value(earliest, output_field=DateField()) + Coalesce(F("stage__stuck_after_days") * 2, DEFAULT_HORIZON),
        output_field=DateField(),
    )
    open_suggestion = Recommendation.objects.open().filter(opportunity=OuterRef("pk"))
    reasons = Verdict.objects.filter(
        opportunity=OuterRef("pk"), version_read=OuterRef("version"), review_on__gt=today_for(None, now=now)
    )
    held_back = Exists(reasons.filter(code=backpressure.CODE))
    found = Opportunity.objects.without_next_action(today=latest, horizon=horizon).filter(  # type: ignore[arg-type]
        ~Exists(open_suggestion), ~Exists(reasons.exclude(code=backpressure.CODE))
    )
    full = backpressure.full(most=backpressure.limit() if per_person is None else per_person)
    # In two steps: the deals of a full queue may have no owner, and NOT (owner IN ...) would leave those out.
    return found.exclude(held_back, pk__in=Opportunity.objects.filter(backpressure.deals_of(full))) if full else found


def _pages(deals: OpportunityQuerySet) -> Iterator[list[int]]:
    """Keyset pages: by owner and key, so that what is written meanwhile moves nothing under the reader.

    An owner's deals lie together, because what is proposed to a person are the most urgent of a page. A deal that
    changes hands behind the reader's back is found by the next sweep.
    """
    by_owner = deals.annotate(of=Coalesce(F("owner_id"), 0)).order_by("of", "pk").values_list("of", "pk")
    of, last = 0, 0
    while page := list(by_owner.filter(Q(of__gt=of) | Q(of=of, pk__gt=last))[:PAGE]):
        yield [pk for _of, pk in page]
        of, last = page[-1]


def act(made: list[Recommendation], *, now: dt.datetime, autonomy: Autonomy, run: SweepRun) -> int:
    """Carry out what needs no yes. What was overtaken in between is decided anew, at most three times in all."""
    done = 0
    for attempt in range(1, ATTEMPTS + 1):
        if not made:
            break
        after = carry_out_all(made, now=now, final=attempt == ATTEMPTS)
        done += sum(1 for one in after if one.state == State.APPLIED)
        again = [one.opportunity_id for one in after if one.state == State.SUPERSEDED]
        deals = loading.load(again, now=now) if again else []
        fresh = record([(deal, decide(deal, now=now)) for deal in deals], autonomy=autonomy, run=run)
        made = [one for one in fresh if one.mode == Mode.ACT]
    return done


def resume(*, now: dt.datetime) -> int:
    """Carry out every yes that a crash left behind. One that is past its day and still contended goes to a person."""
    left = Recommendation.objects.filter(
        Q(state=State.APPROVED, decided_at__lt=now - GRACE)
        | Q(state=State.PROPOSED, mode=Mode.ACT, created_at__lt=now - GRACE)
    )
    count = 0
    for recommendation in left.order_by("pk"):
        count += carry_out(recommendation, now=now, last_chance=recommendation.expires_at <= now).done
    return count


def close_overtaken(*, now: dt.datetime) -> int:
    """Suggestions whose deal or contact has moved in what they rest on: closed with the gate's evidence."""
    contact_read = Cast(KeyTextTransform("version", KeyTransform("1", "basis")), BigIntegerField())
    moved = (
        Recommendation.objects.filter(state__in=[State.PROPOSED, State.SNOOZED])
        .annotate(contact_read=contact_read)
        .filter(
            Q(opportunity__version__gt=F("version_read"))
            | Q(opportunity__contact__version__gt=F("contact_read"))
            | Q(opportunity__stage__contact_allowed=False, params__kind__in=["call", "mail"])
        )
    )
    closed = 0
    for page in batched(moved.order_by("pk").iterator(PAGE), PAGE):
        deals = {deal.pk: deal for deal in loading.load([one.opportunity_id for one in page], now=now)}
        looks = freshness.look([(one, deals[one.opportunity_id]) for one in page], now=now)
        closed += len(supersede([one for one in page if not looks[one.pk].good], now=now))
    return closed


def _forget(*, now: dt.datetime) -> None:
    """A sweep that made nothing needs no row for ever: there is one each minute."""
    SweepRun.objects.filter(started_at__lt=now - FORGET_AFTER, recommendations=None).delete()
