"""Every code the agents use has words, and every word is used: nobody ever reads a code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from agents import sentences as ours
from agents.recommenders.wording import CHANNEL, FAMILIES, KINDS
from conflicts import sentences
from conflicts.sentences import Sentence, date

AGENTS = Path(settings.BASE_DIR) / "agents"
WORDS = ours.GATES | ours.RULES | ours.CARD | ours.TOLD
BUILT = {f"{part}.{family}.{kind}" for part in ("title", "task") for family in FAMILIES for kind in KINDS} | {
    *(f"value.{status}" for status in ("open", "won", "lost")),
    *(f"stale.refused.{kind}" for kind in CHANNEL),
}
"""Put together from parts in recommenders/wording.py, facts.py and freshness.py."""
FACTS = dict.fromkeys(
    ("who", "what", "deal", "stage", "contact", "text", "why", "next_step", "read", "owner", "did", "amount"),
    "something of the record",
) | dict.fromkeys(("day", "until", "review"), date("2031-06-09"))


def literals() -> Iterator[str]:
    """Every text literal in the agents' code that looks like a code of ours."""
    for path in AGENTS.rglob("*.py"):
        if "migrations" in path.parts or path.name == "sentences.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def calls() -> Iterator[str]:
    """The first argument of every Sentence(...) that is a literal, both arms of a choice included."""
    for path in AGENTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence" and node.args:
                for part in ast.walk(node.args[0]):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and "." in part.value:
                        yield part.value


def test_every_code_that_is_used_has_words() -> None:
    codes = {code for code in calls() if not code.endswith(".")} | BUILT
    assert codes
    assert {code for code in codes if not sentences.known(code)} == set()


def test_every_sentence_is_used() -> None:
    assert WORDS.keys() - set(literals()) - BUILT == set()


@pytest.mark.parametrize("code", sorted(WORDS))
def test_no_sentence_lacks_a_fact_or_says_a_word_that_the_product_does_not_say(code: str) -> None:
    text = str(Sentence(code, FACTS))

    assert "{" not in text
    assert "-" not in text.split(), "a fact that nobody gives"
    for word in ("conflict", "stale", "oops", "please", "successfully", "!"):
        assert word not in text.lower()
