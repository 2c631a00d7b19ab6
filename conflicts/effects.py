"""Effects: what an action wants done after its commit, written as rows in its transaction.

Guarantees that an effect outside, or later work, is there if and only if the change that decided on it is. Called by
the gate with the works it has written. Next in the flow: `conflicts/outbox.py` and `conflicts/jobs.py`.
"""

from collections.abc import Iterator, Sequence

from conflicts import actions, jobs, outbox
from conflicts.actors import Actor
from conflicts.refs import Ref
from conflicts.work import Later, Send, Work


def write(works: Sequence[Work]) -> None:
    """In ascending order of subject, in which everything is locked."""
    for subject, effect, by in sorted(_of(works), key=lambda one: one[0]):
        if isinstance(effect, Later):
            jobs.enqueue(
                effect.kind, effect.key, subject, effect.payload, due_at=effect.due_at, after=effect.after, by=by
            )
        else:
            outbox.post(effect.destination, effect.key, effect.payload, subject=subject, by=by)


def _of(works: Sequence[Work]) -> Iterator[tuple[Ref, Send | Later, Actor]]:
    for work in works:
        for effect in work.effects:
            elsewhere = effect.subject if isinstance(effect, Later) else None
            yield elsewhere or Ref.of(work.subject), effect, work.by


def also(works: Sequence[Work]) -> None:
    """What each action has to write besides its subject (Action.also), in the same transaction."""
    by_action: dict[str, list[Work]] = {}
    for work in works:
        by_action.setdefault(work.proposal.action, []).append(work)
    for name, found in sorted(by_action.items()):
        if call := actions.get(name).also:
            call(found)
