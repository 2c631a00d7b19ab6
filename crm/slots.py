"""Slots: places on the CRM's pages that other apps fill, so that the CRM need not know them.

The agents put their suggestion on the deal page, on My day and on the board this way (agents/slots.py). A filler gets
the request and what the page offers, and returns what the template shows there; a page renders well with no filler.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest

type Filler = Callable[..., Any]

_FILLERS: dict[str, list[Filler]] = defaultdict(list)


def fill(slot: str) -> Callable[[Filler], Filler]:
    """Decorator: `filler(request, **what_the_page_offers)` fills `slot`."""

    def add(filler: Filler) -> Filler:
        if filler not in _FILLERS[slot]:
            _FILLERS[slot].append(filler)
        return filler

    return add


def filled(slot: str, request: HttpRequest, **offered: Any) -> list[Any]:
    """What the fillers of `slot` return, in order of registration, without the empty ones."""
    return [part for filler in _FILLERS[slot] if (part := filler(request, **offered))]
