"""The content of a card: the words that somebody reads before they say yes, and one hash of all that the yes binds.

Guarantees that a yes names exactly what was on the screen: the rendered lines in the reader's language, the action with
its params, the versions and the read set as the agent read them, and the rules in force. What only tells how things
stand at the moment ("still so") is no part of it: that is asked of the gate. Next in the flow: `agents/approving.py`.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agents.identity import short_name
from agents.models import Recommendation
from conflicts import actors
from conflicts.actors import Actor
from conflicts.sentences import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    language: str
    lines: tuple[str, ...]
    hash: str

    def as_json(self) -> dict[str, Any]:
        return {"language": self.language, "lines": list(self.lines)}


def of(one: Recommendation, *, reader: Actor) -> Content:
    """What `reader` is shown of the suggestion now, in the language that is active. The deal's owner must be loaded."""
    language = get_language() or settings.LANGUAGE_CODE
    facts = [f"{Sentence.from_json(fact['label'])}: {Sentence.from_json(fact['value'])}" for fact in one.facts]
    lines = (str(one.headline), str(one.reason), *facts, str(effect(one, reader=reader)))
    bound = [one.proposal().fingerprint, one.pk, one.revision, one.basis, policies(one), language, lines]
    return Content(language=language, lines=lines, hash=hashlib.sha256(json.dumps(bound).encode()).hexdigest())


def policies(one: Recommendation) -> dict[str, str]:
    """The rules under which it would be carried out: model -> mark of its policy."""
    return {read.subject.label: read.subject.model.policy.mark for read in one.reads}


def effect(one: Recommendation, *, reader: Actor) -> Sentence:
    """What a yes does."""
    if one.action != "opportunity.follow_up":
        return Sentence("effect.move")
    owner = one.opportunity.owner
    if owner is None:
        return Sentence("effect.task.nobody")
    own = actors.person(owner)
    return Sentence("effect.task", {"who": _("you") if own.same_as(reader) else short_name(own)})
