"""What waits for a person though no proposal was at the gate: work that keeps failing, a sending nobody can tell of.

Guarantees one open record per matter (key and rule), in the same review queue as every other conflict, written in the
caller's transaction. Next in the flow: the review queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from conflicts import review, sentences
from conflicts.actors import SYSTEM, Actor
from conflicts.clock import ClockTimestamp
from conflicts.models.conflict import Conflict, State
from conflicts.models.versioned import VersionedModel
from conflicts.outcomes import Result
from conflicts.records import DECIDE_WITHIN
from conflicts.refs import Ref
from conflicts.sentences import Sentence
from conflicts.values import plain

sentences.register(
    {
        "job.poison": _(
            "This was tried {attempts} times and failed each time ({error}). It is not tried again by itself."
        ),
        "job.poison.avoided": _("The work was not done; later work on the same record goes on without it."),
        "delivery.unknown": _(
            "Nobody can tell whether the message to {destination} arrived. It is not sent again blindly."
        ),
        "delivery.unknown.avoided": _("Nothing was sent twice."),
        "delivery.refused": _("{destination} did not take the message ({error})."),
        "delivery.lost_sight": _("The worker that was sending it went silent."),
        "delivery.dropped": _("{who} decided that it is not to be sent."),
        "delivery.taken_back": _("{who} took it back before it was sent: {why}"),
        "delivery.full": _("{destination} has been sent as much as it may get for now. This waits for its turn."),
        "delivery.uncounted": _(
            "How much {destination} has been sent cannot be counted just now. This waits until it can."
        ),
        "next.retry_or_drop": _("Let it be tried again, or drop it."),
        "next.look_there": _("Look at the destination and say whether it arrived."),
    }
)


def subject_of(text: str) -> tuple[Ref | None, Any]:
    """The ref that the text means and its row, as far as there are any."""
    try:
        ref = Ref.parse(text)
        return ref, ref.model._base_manager.filter(pk=ref.pk).first()
    except (ValueError, LookupError):
        return None, None


def is_there(text: str) -> bool:
    try:
        ref = Ref.parse(text)
        return ref.model._base_manager.filter(pk=ref.pk).exists()
    except (ValueError, LookupError):
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What the record is about."""

    key: str
    subject: str
    action: str
    params: Mapping[str, Any]
    by: str
    source: str


def open_for_a_person(matter: Matter, sentence: Sentence, *, avoided: Sentence, next_step: Sentence) -> Conflict:
    """A conflict record that waits; the one that waits already, where there is one."""
    found = Conflict.objects.waiting().filter(key=matter.key, rule=sentence.code).first()
    return found or _record(
        matter,
        sentence,
        state=State.NEEDS_HUMAN_DECISION,
        result=Result.CONFLICT.value,
        avoided=avoided.as_json(),
        deadline=ClockTimestamp() + DECIDE_WITHIN,
        next_step=next_step.as_json(),
    )


def close(key: str, *, rule: str, by: Actor, resolution: str) -> None:
    """Compare-and-swap on "still open"."""
    Conflict.objects.waiting().filter(key=key, rule=rule).update(
        closed_at=ClockTimestamp(), closed_by=str(by), resolution=resolution
    )


def note(matter: Matter, sentence: Sentence, *, by: Actor = SYSTEM, resolution: str = Result.REFUSED.value) -> Conflict:
    """Evidence of a refusal that needs nobody (any more): closed as it is written, by whoever decided it."""
    return _record(
        matter,
        sentence,
        state=State.NEEDS_REEVALUATION,
        result=Result.REFUSED.value,
        closed_at=ClockTimestamp(),
        closed_by=str(by),
        resolution=resolution,
    )


def _record(matter: Matter, sentence: Sentence, **more: Any) -> Conflict:
    ref, row = subject_of(matter.subject)
    about = review.desk().about(row)
    return Conflict.objects.create(
        amount=about.amount,
        currency=about.currency,
        team_key=about.team,
        subject_model=ref.label if ref else "",
        subject_id=ref.pk if ref else None,
        subject_label=(row.name_kept() if isinstance(row, VersionedModel) else str(row or ""))[:300],
        version_found=getattr(row, "version", None),
        action=matter.action,
        params=plain(dict(matter.params)),
        actor=matter.by,
        sentence=sentence.as_json(),
        rule=sentence.code,
        source=matter.source,
        key=matter.key,
        responsible_id=getattr(row, "responsible_id", None),
        **more,
    )
