"""The embedded responder: rules and templates, without any network. What the facts do not allow goes to a person.

Guarantees the same answer for the same prompt, that nothing is said which the database does not hold, and that a text
with something in it that no rule knows is handed over whole. The words are message templates
(crm/models/message_template.py); where none fits, a sentence of ours in the customer's language.
"""

from agents.responders.port import Answer, Prompt
from agents.responders.rules import HELLO, RULES, THANKS, Rule, asked, not_understood


class Embedded:
    name = "embedded"

    def answer(self, prompt: Prompt) -> Answer:
        text = asked(prompt)
        if not text or any(line.media for line in prompt.pending):
            return _hand_over("media" if text else "nothing")
        about = tuple(rule for rule in RULES if rule.about.search(text))
        if not about:
            about = tuple(rule for rule in (HELLO, THANKS) if rule.about.match(text))
        if not about or not_understood(prompt, about):
            return _hand_over("unknown")
        return _said(about, prompt)


def _said(about: tuple[Rule, ...], prompt: Prompt) -> Answer:
    parts: dict[str, str] = {}
    for rule in about:
        said = rule.say(prompt.facts)
        if said is None or said.hand_over:
            return _hand_over(rule.name)
        parts[rule.name] = said.text
    return Answer(text="\n\n".join(parts.values()), facts={"rules": list(parts)})


def _hand_over(rule: str) -> Answer:
    return Answer(hand_over="cannot_answer", facts={"rules": [rule]})
