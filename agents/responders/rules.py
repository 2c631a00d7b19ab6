"""The embedded responder's rules, in the order in which they are asked: each looks at all that is pending together."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.formats import time_format
from django.utils.translation import gettext as _

from agents.responders.port import Facts, Prompt
from crm.keywords import plain


@dataclass(frozen=True, slots=True)
class Said:
    text: str = ""
    hand_over: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    say: Callable[[Prompt], Said | None]


def _asked(prompt: Prompt) -> str:
    """Everything pending as one text: what somebody types in five lines is one question."""
    return plain(" ".join(line.text for line in prompt.pending))


def _in_their_language(facts: Facts) -> translation.override:
    return translation.override("pt-br" if facts.language.lower().startswith("pt") else "en")


_HOURS = re.compile(
    r"\b(open|opening|hours|close[sd]?|closing time|aberto|abertos|abrem|abre|fecha|fecham|funciona\w*|horario\w*)\b"
)
_STATUS = re.compile(r"\b(status|news|update|andamento|novidade\w*|situacao|proposal|proposta|quote|orcamento)\b")
_CALL = re.compile(r"\b(call me|phone me|ring me|speak on the phone|me lig(a|ue|uem)|ligacao|telefonar|telefonem)\b")
_HELLO = re.compile(r"^(hi|hello|hey|good (morning|afternoon|evening)|oi|ola|bom dia|boa tarde|boa noite)( .{0,20})?$")


def _media(prompt: Prompt) -> Said | None:
    """What is in a picture or a recording no rule can tell."""
    return Said(hand_over="cannot_answer") if any(line.media for line in prompt.pending) else None


def _hours(prompt: Prompt) -> Said | None:
    facts = prompt.facts
    if not _HOURS.search(_asked(prompt)) or facts.opens_at is None or facts.closes_at is None:
        return None
    if text := facts.templates.get("opening-hours"):
        return Said(text)
    with _in_their_language(facts):
        local = facts.now.astimezone(ZoneInfo(facts.zone))
        hours = {"opens": time_format(facts.opens_at), "closes": time_format(facts.closes_at)}
        is_open = str(local.isoweekday()) in facts.open_days and facts.opens_at <= local.time() < facts.closes_at
        if is_open:
            return Said(_("We are open now, until %(closes)s.") % hours)
        return Said(_("We are closed at the moment. We are open from %(opens)s to %(closes)s.") % hours)


def _status(prompt: Prompt) -> Said | None:
    facts = prompt.facts
    if not _STATUS.search(_asked(prompt)) or not facts.deal:
        return None
    if text := facts.templates.get("status"):
        return Said(text)
    if not facts.deal_open:
        return None
    with _in_their_language(facts):
        said = {"deal": facts.deal, "owner": facts.owner or facts.workspace}
        return Said(_("Your request “%(deal)s” is with %(owner)s, who will come back to you about it.") % said)


def _call(prompt: Prompt) -> Said | None:
    """A time is a promise, and promises are made by people, until the calendar can keep them."""
    return Said(hand_over="asked_for") if _CALL.search(_asked(prompt)) else None


def _hello(prompt: Prompt) -> Said | None:
    facts = prompt.facts
    if not _HELLO.match(_asked(prompt)):
        return None
    if text := facts.templates.get("greeting"):
        return Said(text)
    with _in_their_language(facts):
        return Said(_("Hello %(contact)s, how can we help you?") % {"contact": facts.contact.split(" ")[0]})


RULES = (
    Rule("media", _media),
    Rule("call", _call),
    Rule("hours", _hours),
    Rule("status", _status),
    Rule("hello", _hello),
)
