"""What the agents add to a deal's timeline: suggestions, and what became of them, as plain data for the page.

Each entry: `at`, `actor`, `sentence` (what it did, after its name), `said` (a second line or empty), `badge` (tone and
words, or None) and `version` (of the deal, where one stands behind it).
"""

from typing import Any

from django.utils.translation import gettext as _

from agents.models import Recommendation
from agents.states import State
from conflicts.sentences import Sentence
from crm.models import Opportunity

AT_MOST = 50


def entries(deal: Opportunity) -> list[dict[str, Any]]:
    """Newest first."""
    rows = (
        Recommendation.objects.filter(opportunity=deal)
        .select_related("conflict")
        .order_by("-created_at", "-pk")[:AT_MOST]
    )
    found = [entry for row in rows for entry in _of(row)]
    return sorted(found, key=lambda entry: entry["at"], reverse=True)


def _of(row: Recommendation) -> list[dict[str, Any]]:
    what = {"what": str(row.headline)}
    found = [_entry(row.created_at, row.proposer, Sentence("line.suggested", what))]
    decided_at = row.decided_at or row.created_at
    match row.state:
        case State.SUPERSEDED:
            found = [*found, _overtaken(row, decided_at)]
        case State.DECLINED if row.decider:
            found.append(_entry(decided_at, row.decider, Sentence("line.declined", what)))
        case State.APPLIED | State.APPROVED | State.FAILED if row.decider:
            found.append(_entry(decided_at, row.decider, Sentence("line.approved", what)))
        case State.SNOOZED if row.decider and row.snoozed_until:
            facts = {**what, "day": {"date": row.snoozed_until.isoformat()}}
            found.append(_entry(decided_at, row.decider, Sentence("line.snoozed", facts)))
    return found


def _overtaken(row: Recommendation, at: Any) -> dict[str, Any]:
    wanted = Sentence("line.overtaken", {"what": str(row.headline), "read": row.version_read})
    told = f"{wanted} {row.conflict.told}" if row.conflict else str(wanted)
    entry = _entry(at, row.proposer, None)
    return {
        **entry,
        "said": told,
        "badge": {"tone": "agent", "words": _("overtaken")},
        "version": row.overtaken_version,
    }


def _entry(at: Any, actor: Any, sentence: Sentence | None) -> dict[str, Any]:
    return {
        "at": at,
        "actor": actor,
        "sentence": str(sentence) if sentence else "",
        "said": "",
        "badge": None,
        "version": None,
    }
