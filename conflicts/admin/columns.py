"""`display`, Unfold's decorator for a column of a list, with a type that says that a method stays what it was."""

from collections.abc import Callable
from typing import Any, cast

from unfold.decorators import display as _display


def display[Method: Callable[..., Any]](**how: Any) -> Callable[[Method], Method]:
    """`description`, `ordering`, `label` (True, or value -> tone) and the rest, as Unfold takes them."""
    return cast("Callable[[Method], Method]", _display(**how))
