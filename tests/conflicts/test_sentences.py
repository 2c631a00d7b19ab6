"""Which sentences say themselves what did not happen: no page may say it a second time."""

import re

from django.utils import translation

from conflicts import sentences
from conflicts.models import Conflict
from conflicts.sentences import Sentence

DENIALS = re.compile(
    r"nothing (of this one )?was (written|added|sent|reserved|decided)\b(?! twice)|nobody was contacted"
    r"|was not (added|made|sent|stored again|taken back)|draft was dropped|stays with them|is looked for"
    r"|is unanswered again",
    re.IGNORECASE,
)

ARE_DENIALS = {"task_not_added", "message_not_sent", "collection_not_started"}
"""What an action says was avoided: it stands beside a verdict and is none."""


def test_exactly_the_sentences_that_deny_are_marked_as_whole() -> None:
    with translation.override("en"):
        denying = {code for code, text in sentences._WORDS.items() if DENIALS.search(str(text))}
    assert {code for code in sentences._WORDS if sentences.is_whole(code)} == denying - ARE_DENIALS


def test_what_did_not_happen_is_told_only_where_the_verdict_does_not_say_it() -> None:
    avoided = Sentence("task_not_added").as_json()
    whole = Conflict(sentence=Sentence("contact_blocked", {"contact": "Rui"}).as_json(), avoided=avoided)
    part = Conflict(sentence=Sentence("task_claimed", {"who": "Alice"}).as_json(), avoided=avoided)

    assert (whole.also_not_done, str(whole.not_done)) == (None, "The task was not added; nobody was contacted.")
    assert part.also_not_done == part.not_done
