"""Every way in which a step of a suggestion can fail. The ends of a race are told, not raised."""

from conflicts.sentences import Sentence


class NotPossible(Exception):
    """This cannot be done to the suggestion now. `sentence` says why, and who was first."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence.code)
        self.sentence = sentence


class Overtaken(Exception):
    """Somebody else moved the suggestion while the gate was open for it: the transaction is taken back."""


class StillGood(Exception):
    """The gate would have carried it out: nothing has overtaken it, and nothing was written."""
