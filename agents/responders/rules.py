"""The embedded responder's rules, in the order in which they are asked: each looks at all that is pending together.

Guarantees that a rule speaks only where the facts allow it, and that what no rule knows is seen: a text that is half
understood is not half answered (agents/responders/embedded.py).
"""

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
    about: re.Pattern[str]
    """What a text is about, in plain words (crm.keywords.plain)."""
    say: Callable[[Facts], Said | None]
    """None where the facts do not allow an answer."""


def asked(prompt: Prompt) -> str:
    """Everything pending as one text: what somebody types in five lines is one question."""
    return plain(" ".join(line.text for line in prompt.pending))


SMALL_TALK = 2
"""Words: a sentence of no more says nothing that must be understood."""


def not_understood(prompt: Prompt, rules: "tuple[Rule, ...]") -> list[str]:
    """Sentences that none of these rules is about. Lines without a full stop between them are one sentence."""
    text = " ".join(line.text for line in prompt.pending)
    parts = [plain(part) for part in re.split(r"[.!?\n]+", text)]
    known = (*rules, HELLO, THANKS)
    return [part for part in parts if len(part.split()) > SMALL_TALK and not any(r.about.search(part) for r in known)]


def _by_template(facts: Facts, slug: str, otherwise: Callable[[], str]) -> Said:
    if text := facts.templates.get(slug):
        return Said(text)
    with translation.override("pt-br" if facts.language.lower().startswith("pt") else "en"):
        return Said(otherwise())


def _money(facts: Facts) -> Said:
    """A price, a discount or a date of delivery is a promise: people make those."""
    return Said(hand_over="cannot_answer")


def _hours(facts: Facts) -> Said | None:
    opens, closes = facts.opens_at, facts.closes_at
    if opens is None or closes is None:
        return None
    local = facts.now.astimezone(ZoneInfo(facts.zone))
    is_open = str(local.isoweekday()) in facts.open_days and opens <= local.time() < closes

    def words() -> str:
        hours = {"opens": time_format(opens), "closes": time_format(closes)}
        if is_open:
            return _("We are open now, until %(closes)s.") % hours
        return _("We are closed at the moment. We are open from %(opens)s to %(closes)s.") % hours

    return _by_template(facts, "opening-hours", words)


def _status(facts: Facts) -> Said | None:
    if not facts.deal or not facts.deal_open:
        return None
    said = {"deal": facts.deal, "owner": facts.owner or facts.workspace}
    return _by_template(
        facts,
        "status",
        lambda: _("Your request “%(deal)s” is with %(owner)s, who will come back to you about it.") % said,
    )


def _call(facts: Facts) -> Said:
    """An offer, and no promise: a person sets the time, until the calendar can keep one."""
    said = {"owner": facts.owner or facts.workspace}
    return _by_template(
        facts, "call", lambda: _("%(owner)s can call you. Which day and time would suit you best?") % said
    )


def _hello(facts: Facts) -> Said:
    said = {"contact": facts.contact.split(" ")[0]}
    return _by_template(facts, "greeting", lambda: _("Hello %(contact)s, how can we help you?") % said)


def _thanks(facts: Facts) -> Said:
    return _by_template(facts, "thanks", lambda: _("You are welcome. Write to us whenever you like."))


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(patterns) + r")\b")


RULES = (
    Rule(
        "money",
        _words(
            *(
                "price",
                "prices",
                "cost",
                "costs",
                "discount",
                "cheaper",
                "invoice",
                "refund",
                "deliver\\w*",
                "guarantee",
            ),
            *("preco", "precos", "custa", "custam", "desconto", "valor", "valores", "fatura", "reembolso", "prazo"),
            *("entrega\\w*", "garantia", "boleto", "nota fiscal"),
        ),
        _money,
    ),
    Rule(
        "call", _words("call me", "phone me", "ring me", "give me a call", "me lig(a|ue|uem)", "me telefon\\w+"), _call
    ),
    Rule(
        "hours",
        _words(
            *("open", "opening hours", "opening times", "business hours", "closed", "what time do you close"),
            *("aberto", "abertos", "abrem", "abre", "fecha", "fecham", "horario", "horarios", "expediente"),
        ),
        _hours,
    ),
    Rule(
        "status",
        _words(
            *("status", "any news", "update", "my proposal", "my quote", "the proposal", "the quote"),
            *("andamento", "novidade", "novidades", "situacao", "proposta", "orcamento"),
        ),
        _status,
    ),
)
"""About something. A text that is none of these may still be a greeting or a thank-you."""

HELLO = Rule(
    "hello",
    re.compile(r"^(hi|hello|hey|good (morning|afternoon|evening)|oi|ola|bom dia|boa tarde|boa noite)( [\w ]{0,20})?$"),
    _hello,
)
THANKS = Rule(
    "thanks",
    re.compile(
        r"^(ok |okay |perfect |otimo |beleza )?(thanks|thank you|thx|obrigad[oa]|valeu|ok|okay|perfect)( [\w ]{0,20})?$"
    ),
    _thanks,
)
