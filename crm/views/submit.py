"""From a request to the gate: the one way in which a screen changes a subject.

Guarantees that no form reaches the gate without the version it was first shown with, and that a double click or a sent
again form is one act: each rendered form carries a fresh `key`. Next in the flow: `conflicts/gate.py`.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from conflicts import actors, gate
from conflicts.exceptions import BadParams
from conflicts.models import VersionedModel
from conflicts.outcomes import Outcome
from conflicts.proposals import Proposal, Read
from conflicts.refs import Ref


class VersionRequired(Exception):
    """The request does not say which version it was made for. HTTP 428."""


class BadVersion(Exception):
    """The request says a version that is not a whole number above zero. HTTP 400."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What came of a form: an outcome of the gate, or errors by field (then nothing was written)."""

    outcome: Outcome | None = None
    errors: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return self.outcome is not None and self.outcome.done


def fresh_key() -> str:
    """For the hidden `key` of a form that is being rendered."""
    return uuid.uuid4().hex


def version_of(request: HttpRequest) -> int:
    """The version that the form was first shown with: hidden field `version`, else a strong or weak If-Match.

    Raises VersionRequired, BadVersion.
    """
    text = request.POST.get("version") or request.headers.get("If-Match", "").removeprefix("W/").strip('"')
    if not text:
        raise VersionRequired
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
        raise BadVersion
    return int(text)


def submit(
    request: HttpRequest,
    *,
    action: str,
    params: Mapping[str, Any],
    subject: VersionedModel | None = None,
    rests_on: Mapping[str, Any] | None = None,
    settles: int | None = None,
    source: str = "",
    part: str = "",
    settle: gate.Settle | None = None,
) -> Submission:
    """Propose `action` for the signed-in person, on the version the form carries.

    `subject` only says which record; what is in force is read again, locked, by the gate. `rests_on` are field values
    (plain) that the person's decision rested on beyond those written, if any. `part` names the act where one form does
    two (a deal, and the company it is for). `settle`: see `gate.commit`. Raises VersionRequired, BadVersion.
    """
    basis: tuple[Read, ...] = ()
    if subject is not None:
        basis = (
            Read(
                subject=Ref.of(subject),
                version=version_of(request),
                values=rests_on or {},
            ),
        )
    key = (request.POST.get("key") or request.headers.get("Idempotency-Key", ""))[:200]
    key = f"{key}:{part}" if key and part else key
    try:
        outcome = gate.commit(
            Proposal(
                action=action,
                by=actors.person(request.user),
                params=params,
                basis=basis,
                key=f"person:{request.user.pk}:{key}" if key else "",
                source=source or request.path[:200],
                settles=settles,
            ),
            settle=settle,
        )
    except BadParams as error:
        return Submission(errors=error.errors)
    return Submission(outcome=outcome)
