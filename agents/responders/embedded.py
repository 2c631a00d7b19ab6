"""The embedded responder: rules and templates, without any network. What the facts do not allow goes to a person.

Guarantees the same answer for the same prompt, that nothing is said which the database does not hold, and that whatever
no rule knows is handed over instead of guessed. The words are message templates (crm/models/message_template.py); where
none fits, a sentence of ours in the customer's language.
"""

from agents.responders import rules
from agents.responders.port import Answer, Prompt


class Embedded:
    name = "embedded"

    def answer(self, prompt: Prompt) -> Answer:
        parts: list[str] = []
        facts: dict[str, str] = {}
        for rule in rules.RULES:
            said = rule.say(prompt)
            if said is None:
                continue
            if said.hand_over:
                return Answer(hand_over=said.hand_over, facts={"rule": rule.name})
            parts.append(said.text)
            facts[rule.name] = said.text
        if not parts:
            return Answer(hand_over="cannot_answer", facts={"rule": "none"})
        return Answer(text="\n\n".join(dict.fromkeys(parts)), facts=facts)
