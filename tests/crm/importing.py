"""What the import tests share: a file from lines, an import of it, and the data set beside the checkout."""

from pathlib import Path

import pytest

from crm.imports import running
from crm.imports.options import Options
from crm.imports.report import Report

CRM_SALES = Path(__file__).resolve().parents[3] / "shared" / "data" / "crm-sales"
needs_crm_sales = pytest.mark.skipif(
    not CRM_SALES.is_dir(), reason=f"the crm-sales data set is not beside the checkout ({CRM_SALES})"
)


def csv_file(folder: Path, *lines: str, name: str = "file.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding))
    return path


def bring(path: Path, kind: str, *, encoding: str = "", currency: str = "USD", **options: object) -> Report:
    return running.run(path, kind=kind, options=Options(currency=currency, **options), encoding=encoding)  # type: ignore[arg-type]


def reasons(report: Report) -> dict[int, tuple[str, str]]:
    """Line -> column and reason."""
    return {refusal.line: (refusal.column, refusal.reason) for refusal in report.refusals}


def fates(report: Report) -> tuple[int, int, int, int]:
    """Created, changed, unchanged, refused; together they are all that was read."""
    counts = (report.created, report.changed, report.unchanged, report.refused)
    assert sum(counts) == report.read
    return counts
