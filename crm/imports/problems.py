"""What can be wrong with a file, a row or a cell. Each says it in one sentence a person can act on."""


class FileProblem(Exception):
    """The file as a whole cannot be imported; nothing was written."""


class BadCell(Exception):
    """One cell cannot be taken as it stands; its row is left out. `column` is the target's name, if it is known."""

    def __init__(self, reason: str, *, column: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.column = column
