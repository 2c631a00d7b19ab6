"""`committed`: sent after the transaction that changed subjects has committed, once per commit.

A hint for screens (live bars, caches), never a step of the work: a receiver that fails is logged and changes nothing.
Receivers get `commits`, a list of `Committed`.
"""

from typing import NamedTuple

from django.dispatch import Signal

from conflicts.refs import Ref


class Committed(NamedTuple):
    subject: Ref
    version: int
    by: str
    """The text form of an Actor."""
    aspects: list[str]
    """Fields and child aspects that were written."""
    action: str


committed = Signal()
