"""What the person who imports has decided for the whole file."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Options:
    currency: str
    """Of amounts without one of their own."""
    date_format: str = "%Y-%m-%d"
    dry_run: bool = False
    by: str = ""
    """User name of the person who answers for the import."""
    pipeline: str = ""
    """Name; empty for the default one."""
    stages: tuple[str, ...] = ()
    """Stages to make in that pipeline where they are missing, in order."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Header in the file -> target field; an empty target leaves the column out."""
