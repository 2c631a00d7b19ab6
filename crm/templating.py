"""Templating: message templates of a conversation's stage and language, with the facts filled in.

Guarantees that a text names only what its template names, taken from the database, and that an unknown placeholder is
left as it stands instead of failing: a person sees it before it is sent.
"""

import re
from typing import Any

from django.conf import settings
from django.db.models import Q

from crm.models import Conversation, MessageTemplate


class _Known(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def find(conversation: Conversation) -> list[MessageTemplate]:
    """Those that fit the stage, channel and language; for each short name the most particular one."""
    deal = conversation.opportunity
    fitting = MessageTemplate.objects.filter(
        Q(stage=None) | Q(stage=deal.stage_id if deal else None),
        Q(medium="") | Q(medium=conversation.medium),
        active=True,
        language=language_of(conversation),
    )
    best: dict[str, MessageTemplate] = {}
    for template in sorted(fitting, key=lambda t: (t.stage_id is not None, t.medium != "", t.pk)):
        best[template.slug] = template
    return sorted(best.values(), key=lambda t: (t.name, t.pk))


def fill(template: MessageTemplate, conversation: Conversation) -> str:
    return template.text.format_map(_Known(_facts(conversation)))


def approved(conversation: Conversation, *, name: str, text: str) -> MessageTemplate | None:
    """The template that the provider approved under `name`, if these are its words; None where a form claims more."""
    return next(
        (one for one in find(conversation) if one.approved_as == name and fill(one, conversation) == text.strip()), None
    )


def values(template: MessageTemplate, conversation: Conversation) -> list[str]:
    """What stands in its places, in the order of the text: a provider that holds the text wants only these."""
    facts = _facts(conversation)
    return [facts[name] for name in _PLACES.findall(template.text) if name in facts]


_PLACES = re.compile(r"\{(\w+)\}")


def _facts(conversation: Conversation) -> dict[str, str]:
    deal = conversation.opportunity
    return {
        "contact": conversation.contact.name.split(" ")[0],
        "deal": str(deal) if deal else "",
        "owner": str(deal.owner) if deal and deal.owner else settings.VIGENTE_WORKSPACE,
        "company": str(deal.company) if deal and deal.company else "",
        "workspace": settings.VIGENTE_WORKSPACE,
    }


def templates_for(conversation: Conversation) -> dict[str, str]:
    """Short name -> text, filled in."""
    return {template.slug: fill(template, conversation) for template in find(conversation)}


def language_of(conversation: Conversation) -> str:
    """`pt-br` or `en`: the languages that the templates come in."""
    spoken = (conversation.language or settings.LANGUAGE_CODE).lower().replace("_", "-")
    return "pt-br" if spoken.startswith("pt") else "en"
