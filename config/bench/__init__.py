"""The benches behind `manage.py bench`: each measures one thing on real parts and returns figures, never a verdict.

Machines are noisy: what is compared is measured side by side in one run, and the ratio is what counts.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    name: str
    value: float
    unit: str
    note: str = ""


type Bench = Callable[[], list[Figure]]
