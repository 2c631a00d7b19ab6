"""Every way in which calling the kernel wrongly can fail, on one screen.

The expected results of a race are *returned* as an `Outcome` (conflicts/outcomes.py), never raised: raising would roll
back the record of the conflict. What stands here is either a mistake of the caller or a check speaking to the gate.
A class without a message of its own uses its docstring.
"""

from typing import Any


class KernelError(Exception):
    """The concurrency kernel was called in a way it does not allow."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class UnknownAction(KernelError):
    """No action of that name is registered."""


class MissingVersion(KernelError):
    """A write that follows from a read must say which version was read."""


class UnversionedWrite(KernelError):
    """This object was loaded without its version, so nobody can tell whether it is still in force."""


class DerivedWrite(KernelError):
    """This field is recalculated from others; no action writes it."""


class BadParams(KernelError):
    """The parameters do not fit the action. `errors` maps each field to its sentences."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.errors = errors
        super().__init__("; ".join(f"{field}: {' '.join(lines)}" for field, lines in errors.items()))


class Verdict(Exception):
    """What a check says to the gate: a sentence code with its facts. Never leaves the gate.

    `state` is one of the eight of `conflicts.models.State`; without it the gate tells it from who moved what.
    """

    def __init__(self, code: str, *, state: str = "", **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.state = state
        self.facts = facts


class GoalMet(Verdict):
    """The world already holds what the proposal wanted: SUPERSEDED."""


class RuleBroken(Verdict):
    """A rule forbids the proposal in the state that is in force: REFUSED."""


class Clash(Verdict):
    """A person, or a fresh look, must decide: CONFLICT."""


class BadLease(KernelError):
    """A lease was asked for under a name, or for a time, that it cannot have."""


class LeaseLost(KernelError):
    """This holder's lease has ended. Whatever it was about to do is somebody else's now."""


class BadJob(KernelError):
    """Work was asked for under a key, of a kind or with a content that it cannot have."""
