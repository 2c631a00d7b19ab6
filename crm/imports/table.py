"""A CSV file as rows with their line numbers, streamed.

Guarantees that a line that cannot be read costs that line alone: a byte that is not of the encoding, a quote that is
never closed, a cell of megabytes. Finds out the delimiter and a byte order mark by itself, never guesses an encoding.
Next in the flow: `crm/imports/columns.py`.
"""

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext as _

from crm.imports.problems import FileProblem

DELIMITERS = ",;\t|"
MOST_IN_A_CELL = 32 * 1024 * 1024
"""Characters. What is longer is a quote left open, not a cell."""
MOST_IN_A_LINE = 64 * 1024 * 1024

_ESCAPED = re.compile("[\udc80-\udcff]")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class Record:
    line: int
    """Where it begins; the first line of the file is 1."""
    cells: list[str]
    broken: str = ""
    """Why it could not be read as cells."""


class Table:
    """`with Table(path) as table`: first `header`, then `records()`."""

    def __init__(self, path: Path, *, encoding: str = "") -> None:
        self.path = path
        self.encoding = encoding
        self.size = 0
        self._raw: BinaryIO | None = None
        self._lines: _Lines | None = None
        self._delimiter = ","

    def __enter__(self) -> "Table":
        try:
            self._raw = self.path.open("rb")
            self.size = self.path.stat().st_size
            start = self._raw.read(2)
            self._raw.seek(0)
        except FileNotFoundError:
            raise FileProblem(_("There is no file %(path)s.") % {"path": self.path}) from None
        except IsADirectoryError:
            raise FileProblem(_("%(path)s is a folder, not a file.") % {"path": self.path}) from None
        except PermissionError:
            raise FileProblem(_("%(path)s may not be read by this user.") % {"path": self.path}) from None
        except OSError as error:
            raise FileProblem(
                _("%(path)s cannot be read: %(why)s.") % {"path": self.path, "why": error.strerror or error}
            ) from None
        self.encoding = self.encoding or _MARKS.get(start, "utf-8-sig")
        try:
            codecs.lookup(self.encoding)
            text = io.TextIOWrapper(self._raw, encoding=self.encoding, errors="surrogateescape", newline="")
        except LookupError:
            self._raw.close()
            raise FileProblem(_("There is no encoding %(name)s.") % {"name": self.encoding}) from None
        self._lines = _Lines(text, self.encoding)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._raw:
            self._raw.close()

    def position(self) -> int:
        """How many bytes have been read, for a progress bar."""
        return self._raw.tell() if self._raw and not self._raw.closed else self.size

    def header(self, score: Callable[[list[str]], int]) -> list[str]:
        """The names of the columns. `score` tells how many of them mean something, which finds the delimiter."""
        first = ""
        while not first.strip():
            line = self._source.readline()
            if line is None:
                raise FileProblem(_("%(path)s is empty.") % {"path": self.path})
            first = line
        if fault := fault_of(first, self.encoding):
            raise FileProblem(
                _("The first line of %(path)s cannot be read: %(fault)s") % {"path": self.path, "fault": fault}
            )
        readings = [(delimiter, self._cells(first, delimiter)) for delimiter in DELIMITERS]
        self._delimiter, cells = max(readings, key=lambda reading: score(reading[1]))
        return cells

    @property
    def _source(self) -> "_Lines":
        assert self._lines is not None, "Open the table first."
        return self._lines

    @staticmethod
    def _cells(line: str, delimiter: str) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=delimiter, strict=True), [])
        except csv.Error:
            return []

    def records(self) -> Iterator[Record]:
        """Every row but the empty ones, in order."""
        with _long_cells():
            reader = self._reader()
            while True:
                start = self._source.begin()
                try:
                    cells = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    yield Record(start, [], broken=self._put_back(str(error)))
                    reader = self._reader()
                    continue
                if any(cell.strip() for cell in cells):
                    yield Record(start, cells)

    def _reader(self) -> Iterator[list[str]]:
        return csv.reader(self._source, delimiter=self._delimiter, strict=True)

    def _put_back(self, error: str) -> str:
        """A quote swallowed the lines after the one at fault: read those again as rows of their own."""
        swallowed = self._source.put_back()
        if swallowed or "end of data" in error:
            return _("A quote is opened in this line and not closed properly.")
        if "field limit" in error:
            return _("A cell of more than %(most)s characters.") % {"most": f"{MOST_IN_A_CELL:,}"}
        return _("The quotes in this line do not match.")


def fault_of(text: str, encoding: str) -> str:
    """What makes this text unfit to be stored, in words; empty for nothing."""
    if not text.isascii() and (found := _ESCAPED.search(text)):
        name = encoding.removesuffix("-sig").upper()
        return _(
            "The byte %(byte)s (character %(place)s) is not %(encoding)s; --encoding names another, such as cp1252."
        ) % {
            "byte": f"0x{ord(found[0]) - 0xDC00:02X}",
            "place": found.start() + 1,
            "encoding": name,
        }
    if "\x00" in text:
        return _("It holds a NUL byte.")
    return ""


class _Lines:
    """The lines of the file, counted; the lines of the record at hand can be put back."""

    def __init__(self, text: io.TextIOWrapper, encoding: str) -> None:
        self._text = text
        self._encoding = encoding
        self._number = 0
        self._record: list[str] = []
        self._waiting: deque[str] = deque()

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self.readline()
        if line is None:
            raise StopIteration
        self._record.append(line)
        return line

    def readline(self) -> str | None:
        if self._waiting:
            self._number += 1
            return self._waiting.popleft()
        try:
            line = self._text.readline(MOST_IN_A_LINE)
        except UnicodeDecodeError as error:
            raise FileProblem(
                _("From line %(line)s on the file is not %(encoding)s (%(why)s). What stands before it was read.")
                % {"line": self._number + 1, "encoding": self._encoding.upper(), "why": error.reason}
            ) from None
        if len(line) == MOST_IN_A_LINE:
            raise FileProblem(
                _("Line %(line)s is longer than %(most)s characters. What stands before it was read.")
                % {"line": self._number + 1, "most": f"{MOST_IN_A_LINE:,}"}
            )
        if not line:
            return None
        self._number += 1
        return line

    def begin(self) -> int:
        """The number of the line where the next record starts."""
        self._record.clear()
        return self._number + 1

    def put_back(self) -> int:
        """All lines of the record but its first; how many."""
        again = self._record[1:]
        self._waiting.extendleft(reversed(again))
        self._number -= len(again)
        return len(again)


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(MOST_IN_A_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
