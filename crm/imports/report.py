"""Report: what became of a file. The same for a person's eyes and for a program (`as_json`)."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crm.imports.cells import shown


def settle_address(record: int) -> str:
    """Where a person chooses; a whole address where it is known under which one people come here."""
    return _address(reverse("settle", query={"record": record}))


def _address(path: str) -> str:
    return f"{settings.VIGENTE_PUBLIC_URL}{path}"


@dataclass(frozen=True, slots=True)
class Refusal:
    line: int
    column: str
    """As the file calls it; empty where the whole row is meant."""
    reason: str
    record: int | None = None
    """The conflict that a person can settle, where there is one."""

    def __str__(self) -> str:
        if not self.column:
            return _("line %(line)s: %(reason)s") % {"line": self.line, "reason": self.reason}
        return _("line %(line)s, %(column)s: %(reason)s") % {
            "line": self.line,
            "column": self.column,
            "reason": self.reason,
        }


class Fate(IntEnum):
    """What became of a row; the greater beats the smaller."""

    UNCHANGED = 0
    REFUSED = 1
    CHANGED = 2
    CREATED = 3


@dataclass
class Report:
    file: str
    kind: str
    dry_run: bool = False
    read: int = 0
    rows: dict[int, Fate] = field(default_factory=dict)
    """Line -> what became of it."""
    refusals: list[Refusal] = field(default_factory=list)
    """Each with its reason; a changed row stands here too, if one of its cells was left out."""
    together: list[Refusal] = field(default_factory=list)
    """Fields that both the file and people had changed, put together by the rule of the record."""
    kept: Counter[str] = field(default_factory=Counter)
    """Fields by column that were left as people have changed them since the last import, or chosen when asked."""
    left_open: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Column -> name that is not known here -> rows."""
    unused: tuple[str, ...] = ()
    made: list[str] = field(default_factory=list)
    """Other things made on the way: teams, stages."""
    stopped: str = ""
    """Why the rest of the file was not read."""
    interrupted: bool = False
    seconds: float = 0.0

    def mark(self, line: int, fate: Fate) -> None:
        """The strongest counts: a row that was refused in part and changed in part is changed."""
        if fate > self.rows.get(line, Fate.UNCHANGED):
            self.rows[line] = fate
        else:
            self.rows.setdefault(line, fate)

    def count(self, fate: Fate) -> int:
        return sum(known is fate for known in self.rows.values())

    @property
    def created(self) -> int:
        return self.count(Fate.CREATED)

    @property
    def changed(self) -> int:
        return self.count(Fate.CHANGED)

    @property
    def unchanged(self) -> int:
        return self.count(Fate.UNCHANGED)

    @property
    def refused(self) -> int:
        """Rows of which nothing was written."""
        return self.count(Fate.REFUSED)

    def refuse(self, line: int, reason: str, *, column: str = "", record: int | None = None) -> None:
        self.mark(line, Fate.REFUSED)
        self.point_out(line, reason, column=column, record=record)

    def point_out(self, line: int, reason: str, *, column: str = "", record: int | None = None) -> None:
        self.refusals.append(Refusal(line, column, reason, record))

    @property
    def to_settle(self) -> list[Refusal]:
        return [refusal for refusal in self.refusals if refusal.record]

    def leave_open(self, column: str, name: str) -> None:
        self.left_open[column][shown(name)] += 1

    @property
    def per_second(self) -> float:
        return self.read / self.seconds if self.seconds else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "kind": self.kind,
            "dry_run": self.dry_run,
            "read": self.read,
            "created": self.created,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "refused": self.refused,
            "refusals": [
                {"line": r.line, "column": r.column, "reason": r.reason}
                | ({"record": r.record, "settle": settle_address(r.record)} if r.record else {})
                for r in self.refusals
            ],
            "together": [{"line": r.line, "column": r.column, "reason": r.reason} for r in self.together],
            "kept": dict(self.kept),
            "left_open": {column: dict(names) for column, names in self.left_open.items()},
            "unused_columns": list(self.unused),
            "made": self.made,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(self.per_second),
        }

    def lines(self) -> Iterator[str]:
        """For a person, the summary last."""
        for refusal in self.refusals:
            yield str(refusal)
            if refusal.record:
                yield "  " + _("choose which value counts: %(address)s") % {"address": settle_address(refusal.record)}
        yield from (str(line) for line in self.together)
        if self.unused:
            yield _("Columns that were not used: %(names)s.") % {"names": ", ".join(self.unused)}
        yield from self.made
        for column, names in self.left_open.items():
            listed = ", ".join(f"{name} ({count})" for name, count in names.most_common())
            rows = ngettext("%(count)s row", "%(count)s rows", names.total()) % {"count": names.total()}
            yield _("Left open in %(column)s, not known here (%(rows)s): %(names)s.") % {
                "column": column,
                "rows": rows,
                "names": listed,
            }
        for column, count in self.kept.items():
            yield ngettext(
                "%(column)s: %(count)s value left as it was changed here meanwhile.",
                "%(column)s: %(count)s values left as they were changed here meanwhile.",
                count,
            ) % {"column": column, "count": count}
        if count := len(self.to_settle):
            yield ngettext(
                "%(count)s value waits for somebody to choose: %(address)s",
                "%(count)s values wait for somebody to choose: %(address)s",
                count,
            ) % {"count": count, "address": _address(reverse("imports"))}
        if self.stopped:
            yield self.stopped
        yield self.summary()

    def summary(self) -> str:
        words = (
            _("Nothing was written (dry run). Of %(read)s rows, %(created)s would be created, %(changed)s changed; "
              "%(unchanged)s are so already, %(refused)s would be refused.")
            if self.dry_run
            else ngettext(
                "Read %(read)s row: %(created)s created, %(changed)s changed, %(unchanged)s unchanged, "
                "%(refused)s refused, in %(seconds)s s (%(rate)s rows/s).",
                "Read %(read)s rows: %(created)s created, %(changed)s changed, %(unchanged)s unchanged, "
                "%(refused)s refused, in %(seconds)s s (%(rate)s rows/s).",
                self.read,
            )
        )  # fmt: skip
        return words % {
            "read": f"{self.read:,}",
            "created": f"{self.created:,}",
            "changed": f"{self.changed:,}",
            "unchanged": f"{self.unchanged:,}",
            "refused": f"{self.refused:,}",
            "seconds": f"{self.seconds:.1f}",
            "rate": f"{self.per_second:,.0f}",
        }
