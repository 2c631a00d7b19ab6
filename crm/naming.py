"""One key per name: how the same company or product is recognised in form, import and database alike."""

import hashlib
import unicodedata


def key(name: str) -> str:
    """Without case, spaces, accents and punctuation: "GTX Pro" and "GTXPro" share one key. Empty for no letters."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in folded if letter.isalnum())[:200]


def once(*parts: str) -> str:
    """One key for what several typed words name together, however they were typed: without case, white space and
    compatibility forms (full width). Punctuation counts: "1-23" and "12-3" are two numbers. A hash: of one length."""
    folded = ["".join(_folded(part).split()) for part in parts]
    return hashlib.sha256("\n".join(folded).encode()).hexdigest()


def _folded(text: str) -> str:
    # Twice: folding the case of a compatibility form may leave another one.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
