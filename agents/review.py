"""Asked again from the review queue: the agent reads the deal as it is now and decides anew.

Registered with the kernel's desk (conflicts/review.py). Next in the flow: `agents/proposing.py`.
"""

from django.utils.translation import gettext_lazy as _

from agents.models import Recommendation
from agents.proposing import look_again
from conflicts import review, sentences
from conflicts.actors import Kind
from conflicts.clock import database_now
from conflicts.models import Conflict
from conflicts.sentences import Sentence
from crm.models import Opportunity

DEAL = Opportunity._meta.label_lower

sentences.register(
    {
        "again.suggests": _("The agent has looked again and suggests: {what}."),
        "again.nothing": _("The agent has looked again and suggests nothing: {why}"),
    }
)


def handles(record: Conflict) -> bool:
    """What an agent meant for a deal."""
    return record.subject_model == DEAL and record.subject_id is not None and record.intended_by.kind is Kind.AGENT


def again(record: Conflict) -> Sentence:
    answer = look_again(record.subject_id or 0, now=database_now())
    if isinstance(answer, Recommendation):
        return Sentence("again.suggests", {"what": {"sentence": answer.headline.as_json()}})
    return Sentence("again.nothing", {"why": {"sentence": answer.why.as_json()}})


review.answers_again(handles, again)
