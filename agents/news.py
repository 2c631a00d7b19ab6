"""News of a suggestion for screens that show it: somebody decided about it, or changed it.

A hint on the live bus, like every other (crm/live.py): whoever misses it is told by the press itself.
"""

from django.db import transaction

from agents.models import Recommendation
from conflicts.actors import Actor
from conflicts.refs import Ref
from conflicts.signals import Committed
from crm import live


def tell(one: Recommendation, *, by: Actor) -> None:
    """After the commit, to everybody who may see the deal."""
    deal = Ref(one.opportunity._meta.label_lower, one.opportunity_id)
    version = one.opportunity.version
    news = Committed(subject=deal, version=version, by=str(by), aspects=["suggestions"], action="suggestion")
    transaction.on_commit(lambda: live.publish(None, [news]), robust=True)
