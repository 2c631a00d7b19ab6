"""One key per name: how the same company or product is recognised in form, import and database alike."""

import unicodedata


def key(name: str) -> str:
    """Without case, spaces, accents and punctuation: "GTX Pro" and "GTXPro" share one key. Empty for no letters."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in folded if letter.isalnum())[:200]
