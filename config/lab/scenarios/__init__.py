"""The races, a file per kind of meeting; each registers itself. What they share is in `parts.py`."""

from config.lab.scenarios import (  # noqa: F401
    agents_meet,
    change_under_an_agent,
    doors,
    lease_holders,
    messages,
    people_meet,
    suggestions,
)
