"""One import from the first line to the last, in batches of one transaction each.

Guarantees that whatever stops it (a broken end of the file, Ctrl-C) leaves whole rows behind and a true report.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from crm.imports.columns import Layout, lay_out, recognised
from crm.imports.companies import Companies
from crm.imports.contacts import Contacts
from crm.imports.kind import Kind, Row
from crm.imports.opportunities import Opportunities
from crm.imports.options import Options
from crm.imports.problems import BadCell, FileProblem
from crm.imports.products import Products
from crm.imports.report import Fate, Report
from crm.imports.table import Record, Table, fault_of
from crm.imports.team import TeamKind

KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in (Companies, Contacts, Products, TeamKind, Opportunities)}
BATCH = 500

type Progress = Callable[[int, int], None]
"""Called with bytes read and bytes in all."""


def run(path: Path, *, kind: str, options: Options, encoding: str = "", progress: Progress | None = None) -> Report:
    """Raises FileProblem if the file as a whole cannot be imported; nothing was written then."""
    report = Report(file=path.name, kind=kind, dry_run=options.dry_run)
    started = time.monotonic()
    with Table(path, encoding=encoding) as table, _taken_back() if options.dry_run else nullcontext():
        columns = KINDS[kind].columns
        header = table.header(lambda names: recognised(names, columns, options.mapping))
        layout = lay_out(header, columns, options.mapping)
        report.unused = tuple(name for name in layout.unused if name)
        importer = KINDS[kind](options=options, report=report, layout=layout)
        try:
            batch: list[Row] = []
            for row in _rows(table, importer):
                batch.append(row)
                if len(batch) == BATCH:
                    importer.handle(batch)
                    batch = []
                    if progress:
                        progress(table.position(), table.size)
            importer.handle(batch)
            importer.finish()
        except FileProblem as problem:
            if not report.rows:
                raise
            importer.handle(batch)
            importer.finish()
            report.stopped = str(problem)
        except KeyboardInterrupt:
            report.interrupted = True
            report.stopped = _("Stopped. What was imported stays; the same file once more goes on from there.")
        if progress:
            progress(table.size, table.size)
    report.seconds = time.monotonic() - started
    report.refusals.sort(key=lambda refusal: refusal.line)
    return report


@contextmanager
def _taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _rows(table: Table, importer: Kind) -> Iterator[Row]:
    """The rows that can be taken; the others are refused here, each with its reason."""
    for record in table.records():
        importer.report.read += 1
        try:
            row = Row(record.line, _values(record, importer.layout, importer.options, table.encoding))
            if importer.is_new(row):
                yield row
            else:
                importer.report.mark(row.line, Fate.UNCHANGED)
        except BadCell as error:
            column = importer.layout.header_of(error.column) if error.column else ""
            importer.report.refuse(record.line, error.reason, column=column)


def _values(record: Record, layout: Layout, options: Options, encoding: str) -> dict[str, object]:
    if record.broken:
        raise BadCell(record.broken)
    width = len(layout.header)
    if len(record.cells) < width or any(cell.strip() for cell in record.cells[width:]):
        raise BadCell(
            _("%(count)s cells, but the first line names %(width)s columns.")
            % {"count": len(record.cells), "width": width}
        )
    values: dict[str, object] = {}
    for place, column in layout.columns:
        text = record.cells[place]
        if fault := fault_of(text, encoding):
            raise BadCell(fault, column=column.target)
        if text := text.strip():
            try:
                values[column.target] = column.read(text, options)
            except BadCell as error:
                raise BadCell(error.reason, column=column.target) from None
        elif column.required:
            raise BadCell(_("This cell may not be empty."), column=column.target)
    return values
