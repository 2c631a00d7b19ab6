"""Two at one deal, in the sample: what waits in the review queue, told through the gate like all the rest."""

import datetime as dt
from typing import Any

from conflicts import actors, gate
from conflicts.proposals import Proposal, Read
from crm.models import Opportunity
from crm.sample.desk import Desk

AGENT = actors.agent("follow-up", "Follow-up agent")

CLASHES: tuple[tuple[str, str, dict[str, Any], str, dict[str, Any]], ...] = (
    ("22 reefer trucks", "tomas", {"amount": "84500"}, "lia", {"amount": "94500", "decision": "Paulo alone"}),
    ("Freezer hall", "ana", {"expected_close": "+35"}, "tomas", {"expected_close": "+50", "tags": ["insurer"]}),
    ("8 kitchens", "lia", {"decision": "Otto, and his brother pays"}, "agent", {"decision": "Otto signs in May"}),
    ("Landing hall and two boats", "bruno", {"amount": "121000"}, "helena", {"amount": "1190000"}),
    ("Plasma freezers", "helena", {"amount": "79500"}, "bruno", {"amount": "71000"}),
)
"""Deal, who was first with what, who meant what on the version before."""


def tell(desk: Desk) -> None:
    for name, first, theirs, second, mine in CLASHES:
        deal = Opportunity.objects.get(name=name)
        read = Read.of(deal)
        desk.do("opportunity.edit", read.subject, who=first, **_days(deal, theirs))
        by = AGENT if second == "agent" else actors.person(desk.people[second])
        gate.commit(
            Proposal(action="opportunity.edit", by=by, params=_days(deal, mine), basis=(read,), source="sample")
        )


def _days(deal: Opportunity, values: dict[str, Any]) -> dict[str, Any]:
    """`+35` is so many days after the deal was opened."""
    return {
        name: (deal.opened_on + dt.timedelta(days=int(value))).isoformat()
        if isinstance(value, str) and value.startswith("+") and deal.opened_on
        else value
        for name, value in values.items()
    }
