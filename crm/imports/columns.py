"""Which column of the file means which field.

A header is recognised by its name in English or Portuguese, whatever its case, spaces, accents and underscores; the
mapping file beats that. Guarantees that no field is filled from two columns, and that a mapping that names what is not
there is an error, never ignored.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext as _

from crm import naming
from crm.imports.cells import Reader, whole
from crm.imports.problems import FileProblem


@dataclass(frozen=True, kw_only=True)
class Column:
    target: str
    """The name a mapping file uses."""
    words: tuple[str, ...]
    """Headers that mean it."""
    read: Reader
    required: bool = False

    @property
    def keys(self) -> set[str]:
        return {naming.key(word) for word in (self.target, *self.words)}


VERSION = Column(target="version", read=whole(1, 2**63 - 1), words=("record version", "exported at version", "versão"))
"""Of the record that the row was made from: with it the file is held against that version."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where in a row the known columns stand."""

    header: tuple[str, ...]
    columns: tuple[tuple[int, Column], ...]
    unused: tuple[str, ...]

    def header_of(self, target: str) -> str:
        """What the file calls it (the target itself, where it has no such column)."""
        return next((self.header[place] for place, column in self.columns if column.target == target), target)

    def has(self, target: str) -> bool:
        return any(column.target == target for _place, column in self.columns)


def lay_out(header: Sequence[str], columns: Sequence[Column], mapping: Mapping[str, str]) -> Layout:
    """Raises FileProblem for a header that cannot be followed."""
    header = tuple(name.strip() for name in header)
    _check_mapping(header, columns, mapping)
    by_key = {key: column for column in columns for key in column.keys}
    by_target = {column.target: column for column in columns}
    mapped = {naming.key(name): target for name, target in mapping.items()}
    taken = set(mapped.values())
    found: dict[str, tuple[int, Column]] = {}
    unused: list[str] = []
    for place, name in enumerate(header):
        key = naming.key(name)
        if key in mapped:
            column = by_target.get(mapped[key])
        else:
            column = by_key.get(key)
            column = None if column and column.target in taken else column
        if column is None:
            unused.append(name)
        elif column.target in found:
            raise FileProblem(
                _("Two columns mean %(target)s: “%(first)s” and “%(second)s”. A mapping file can leave one out.")
                % {"target": column.target, "first": header[found[column.target][0]], "second": name}
            )
        else:
            found[column.target] = (place, column)
    return Layout(header=header, columns=tuple(sorted(found.values(), key=lambda f: f[0])), unused=tuple(unused))


def recognised(header: Sequence[str], columns: Sequence[Column], mapping: Mapping[str, str]) -> int:
    """How many of these headers mean something: tells the right delimiter from the wrong ones."""
    known = {key for column in columns for key in column.keys} | {naming.key(name) for name in mapping}
    return sum(naming.key(name) in known for name in header)


def check_required(layout: Layout, columns: Sequence[Column]) -> None:
    for column in columns:
        if column.required and not layout.has(column.target):
            raise missing(layout, column.target, column.words)


def missing(layout: Layout, target: str, words: Sequence[str]) -> FileProblem:
    return FileProblem(
        _(
            "No column for %(target)s. The first line must name the columns, for example “%(words)s”; "
            "it reads: %(header)s."
        )
        % {"target": target, "words": "”, “".join(words[:4]), "header": ", ".join(layout.header)[:200]}
    )


def _check_mapping(header: Sequence[str], columns: Sequence[Column], mapping: Mapping[str, str]) -> None:
    targets = {column.target for column in columns}
    here = {naming.key(name) for name in header}
    for name, target in mapping.items():
        if target and target not in targets:
            raise FileProblem(
                _("The mapping gives “%(name)s” to “%(target)s”, which is no field here. There are: %(known)s.")
                % {"name": name, "target": target, "known": ", ".join(column.target for column in columns)}
            )
        if naming.key(name) not in here:
            raise FileProblem(
                _("The mapping names a column “%(name)s” that the file does not have. It has: %(header)s.")
                % {"name": name, "header": ", ".join(header)[:200]}
            )
    given = [target for target in mapping.values() if target]
    for target in given:
        if given.count(target) > 1:
            raise FileProblem(_("The mapping gives two columns to %(target)s.") % {"target": target})


def read_mapping(path: Path) -> dict[str, str]:
    """A JSON or TOML file: header in the file -> field, or null (JSON) or "" to leave the column out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except OSError as error:
        raise FileProblem(
            _("The mapping file %(path)s cannot be read: %(why)s.") % {"path": path, "why": error.strerror}
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileProblem(
            _("The mapping file %(path)s is not valid: %(why)s.") % {"path": path, "why": error}
        ) from None
    if not isinstance(found, dict) or not all(isinstance(value, str | None) for value in found.values()):
        raise FileProblem(
            _("The mapping file %(path)s must name one field for each column, like %(example)s.")
            % {"path": path, "example": '{"deal_stage": "stage"}'}
        )
    return {name: target or "" for name, target in found.items()}
