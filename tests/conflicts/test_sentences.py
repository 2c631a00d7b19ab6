"""Which sentences say themselves what did not happen: no page may say it a second time."""

from django.utils import translation

from conflicts import sentences
from conflicts.models import Conflict
from conflicts.sentences import Sentence

DENIALS = ("Nothing was written", "Nothing was added", "was not added", "was not made", "nobody was contacted")


def test_exactly_the_sentences_that_deny_are_marked_as_whole() -> None:
    with translation.override("en"):
        denying = {code for code, text in sentences._WORDS.items() if any(words in str(text) for words in DENIALS)}
    assert {code for code in sentences._WORDS if sentences.is_whole(code)} == denying - {"task_not_added"}


def test_what_did_not_happen_is_told_only_where_the_verdict_does_not_say_it() -> None:
    avoided = Sentence("task_not_added").as_json()
    whole = Conflict(sentence=Sentence("contact_blocked", {"contact": "Rui"}).as_json(), avoided=avoided)
    part = Conflict(sentence=Sentence("task_claimed", {"who": "Alice"}).as_json(), avoided=avoided)

    assert (whole.also_not_done, str(whole.not_done)) == (None, "The task was not added; nobody was contacted.")
    assert part.also_not_done == part.not_done
