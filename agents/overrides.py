"""Keeping what a person put in an agent's place, and why; the silence that follows is gate G8's.

Connected when the app starts (agents/apps.py). Next in the flow: `agents/recommenders/gates.py`.
"""

from typing import Any

from django.dispatch import receiver

from agents.models import Override
from conflicts.actors import Actor
from conflicts.refs import Ref
from crm.overriding import overridden


@receiver(overridden, dispatch_uid="agents.overrides")
def keep(
    sender: Any,
    *,
    subject: Ref,
    version: int,
    names: list[str],
    agent: Actor,
    by: Actor,
    reason: str,
    record: int | None,
    **more: Any,
) -> None:
    Override.objects.create(
        subject_model=subject.label,
        subject_id=subject.pk,
        version=version,
        names=names,
        agent=str(agent)[:200],
        by=str(by)[:200],
        reason=reason,
        record_id=record,
    )
